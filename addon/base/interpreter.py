"""Which Python runs the solver, its search paths, and the preferences of the extension."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import bpy

from .process_errors import ERROR_PREFIX
from .solver_api import errors

ROOT = Path(__file__).resolve().parent.parent.parent
"""The folder that contains the solver package."""
CHILD_CODE = (
    "import sys; sys.path.insert(0, {root!r}); sys.path += [path for path in {paths!r} if path not in sys.path]; {call}"
)
"""Program of another Blender; it appends this Blender's search paths to its own."""
PACKAGE = __package__.rpartition(".addon")[0] or "exciting_dance"
"""Package name of the extension, which identifies its preferences and its folder."""
INSTALL_INSTRUCTIONS = (
    "Install the extension from the zip file of this platform, which contains all that the solver needs,",
    "or choose as Solver Python above a Python with the package exciting-dance.",
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The program that runs a child process: a Python with the solver, or another program.

    Attributes:
        executable: path of the program.
        environment: of the child process.
        prefix_arguments: arguments between the executable and the verb.
    """

    executable: str
    environment: dict[str, str]
    prefix_arguments: tuple[str, ...] = ("-m", "solver")

    def command(self, arguments: list[str]) -> list[str]:
        """Command line of the child process."""
        return [self.executable, *self.prefix_arguments, *arguments]

    def describe_origin(self, error_lines: Iterable[str]) -> str:
        """Hint that the Solver Python ran a failed child; empty for Blender's Python and errors of the solver."""
        if self.executable in (sys.executable, bpy.app.binary_path) or any(
            line.startswith(ERROR_PREFIX) for line in error_lines
        ):
            return ""
        return f". It was run by the Solver Python of the extension's preferences: {self.executable}"


def chosen_interpreter(context: bpy.types.Context) -> Interpreter:
    """The user's Solver Python, or Blender's own Python with the extension's packages."""
    addon = context.preferences.addons.get(PACKAGE)
    other = addon.preferences.solver_python if addon else ""
    paths = [str(ROOT)]
    if not other:
        paths += [p for p in sys.path if p and Path(p).resolve() != ROOT]
    return Interpreter(bpy.path.abspath(other) if other else sys.executable, build_environment(paths))


def blender_interpreter(call: str) -> Interpreter:
    """Another Blender without a window, or a Python with the `bpy` module, that runs a program of the add-on."""
    own = Path(
        bpy.utils.resource_path("LOCAL")
    ).resolve()  # contains parts of Blender's module, which other Pythons cannot load
    paths = [path for path in sys.path if path and own not in Path(path).resolve().parents]
    code = CHILD_CODE.format(root=str(ROOT), paths=paths, call=call)
    if bpy.app.binary_path:
        arguments = ("--background", "--factory-startup", "--python-exit-code", "2", "--python-expr", code, "--")
        return Interpreter(bpy.app.binary_path, build_environment([str(ROOT)]), arguments)
    return Interpreter(sys.executable, build_environment([str(ROOT)]), ("-c", code))


def start_error(interpreter: Interpreter, error: OSError) -> errors.MissingDependency:
    """The error for a program that cannot be started."""
    remedy = "choose another Solver Python in the extension's preferences, or clear the field to use Blender's own"
    return errors.MissingDependency(f"{interpreter.executable} cannot be started ({error.strerror}): {remedy}")


def build_environment(paths: list[str]) -> dict[str, str]:
    """Environment variables of a child that finds packages in these folders, not in its working directory."""
    own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONHOME"} | own


def has_engine() -> bool:
    """Whether Blender's own Python has what computes dynamics and distances; does not import it."""
    return any(importlib.util.find_spec(name) is not None for name in ("pinocchio", "cmeel_pth", "fcl"))


class Preferences(bpy.types.AddonPreferences):
    """Settings of the extension."""

    bl_idname = PACKAGE

    solver_python: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Solver Python",
        description="Python that runs the solver. If empty, Blender's own with the extension's packages",
        subtype="FILE_PATH",
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.prop(self, "solver_python")
        if self.solver_python:
            layout.label(text="The solver runs in the Python above", icon="INFO")
        elif has_engine():
            layout.label(text="The solver is ready", icon="CHECKMARK")
        else:
            layout.label(text="The solver's packages are missing in Blender's Python", icon="ERROR")
            for line in INSTALL_INSTRUCTIONS:
                layout.label(text=line)
