"""The table of rigs that can be built by name: a person, built-in robots, and robots from files.

The library, the command line, Blender's menus and the documentation use this one table. A new robot is one module with
a function that builds its `Rig` and one row here. Builders are imported when a rig is built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

XML = ".xml"
"""Suffix that several kinds share; the file's outermost element decides."""


@dataclass(frozen=True, slots=True)
class RigKind:
    """A kind of rig.

    Attributes:
        name: on the command line and in files.
        builder: ``"module:function"``; a leading dot is relative to ``solver``. Its parameters are the kind's options.
        title: in Blender's menu; empty: not in the menu.
        description: one clause, for menus and help.
        suffixes: of the files that such a rig is read from, in lower case; empty for a built-in rig.
        element: outermost element of such a file, which distinguishes formats that share the suffix .xml.
    """

    name: str
    builder: str
    title: str
    description: str
    suffixes: tuple[str, ...] = ()
    element: str = ""

    def load_builder(self) -> Callable[..., Any]:
        """Import the builder."""
        module, _, function = self.builder.partition(":")
        found: Callable[..., Any] = getattr(import_module(module, __package__), function)
        return found


RIG_KINDS: list[RigKind] = [
    RigKind("human", "..rigs.human_rig:human", "Person", "A person of given stature, mass and sex"),
    RigKind("hoap3", "..rigs.hoap3_rig:hoap3", "HOAP-3", "Small humanoid, 21 joints"),
    RigKind("hrp2", "..rigs.hrp2_rig:hrp2", "HRP-2 (Approximate)", "Humanoid, 30 joints, approximate"),
    RigKind(
        "urdf", "..rigs.urdf:from_urdf", "From File", "Any robot with a free-floating base", (".urdf", XML), "robot"
    ),
    RigKind(
        "mjcf",
        "..rigs.mjcf:from_mjcf",
        "",
        "Any robot with a free-floating base, read by MuJoCo",
        (XML, ".mjcf"),
        "mujoco",
    ),
    RigKind(
        "opensim", "..rigs.opensim.rig:from_opensim", "", "A person's OpenSim model", (".osim",), "OpenSimDocument"
    ),
]
"""One row per kind. Blender stores the position of a row, so new rows go to the end."""


def find_rig_kind(name: str) -> RigKind | None:
    """The kind with a name; None for an unknown name."""
    return next((row for row in RIG_KINDS if row.name == name), None)


def built_in_rigs() -> tuple[str, ...]:
    """Names of the rigs that need no file."""
    return tuple(row.name for row in RIG_KINDS if not row.suffixes)


def robot_suffixes() -> tuple[str, ...]:
    """Suffixes of robots' files."""
    return tuple(dict.fromkeys(suffix for row in RIG_KINDS for suffix in row.suffixes))
