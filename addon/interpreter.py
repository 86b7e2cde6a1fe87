"""Which Python runs the solver, and with which paths."""

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

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds the solver package."""
PACKAGE = __package__.rpartition(".")[0] or "exciting_dance"
"""Name of the extension's package, by which Blender knows its preferences and its folder."""
INSTALL_INSTRUCTIONS = (
    "Linux, macOS: install the extension from its zip, which brings Pinocchio along.",
    "Windows: make a conda environment with",
    "    conda create -n dance -c conda-forge python=3.13 pinocchio scipy clarabel piqp osqp joblib defusedxml",
    "then choose that environment's python.exe as Solver Python above.",
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs a child process: a Python with the solver, or another program.

    Attributes:
        executable: its path.
        environment: of the child process.
        prefix_arguments: after the executable, before a verb's arguments.
    """

    executable: str
    environment: dict[str, str]
    prefix_arguments: tuple[str, ...] = ("-m", "solver")

    def command(self, arguments: list[str]) -> list[str]:
        """The child's command line."""
        return [self.executable, *self.prefix_arguments, *arguments]

    def describe_origin(self, error_lines: Iterable[str]) -> str:
        """What is added to a child's last words where another Python runs it and the solver itself said nothing."""
        if self.executable in (sys.executable, bpy.app.binary_path) or any(
            line.startswith(ERROR_PREFIX) for line in error_lines
        ):
            return ""
        return f". The Solver Python of the extension's preferences ran it: {self.executable}"


def chosen_interpreter(context: bpy.types.Context) -> Interpreter:
    """The user's Solver Python, or Blender's own with the extension's wheels."""
    addon = context.preferences.addons.get(PACKAGE)
    other = addon.preferences.solver_python if addon else ""
    paths = [str(ROOT)]
    if not other:
        paths += [p for p in sys.path if p and Path(p).resolve() != ROOT]
    return Interpreter(bpy.path.abspath(other) if other else sys.executable, build_environment(paths))


def start_error(interpreter: Interpreter, error: OSError) -> errors.MissingDependency:
    """What is said when a program does not even start."""
    remedy = "choose another Solver Python in the extension's preferences, or leave it empty for Blender's own"
    return errors.MissingDependency(f"{interpreter.executable} cannot be run ({error.strerror}): {remedy}")


def build_environment(paths: list[str]) -> dict[str, str]:
    """A child's environment that finds packages in these folders, and not in the one it happens to run in."""
    own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONHOME"} | own


def has_pinocchio() -> bool:
    """Whether Blender's own Python has Pinocchio; looks for it without loading it."""
    return any(importlib.util.find_spec(name) is not None for name in ("pinocchio", "cmeel_pth"))
