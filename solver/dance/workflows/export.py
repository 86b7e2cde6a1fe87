"""A dance as joint angles and speeds over time, for a robot or for viewers."""

from __future__ import annotations

from pathlib import Path

from ...formats.joint_coordinates import STORAGE_SUFFIX, require_table_suffix, write_coordinates
from ...motion import Motion
from ...rig import Rig
from ...scene.motion_record import MotionRecord
from ..authoring.authored_dance import AuthoredDance
from .loading import LoadedDance

RATE = 100.0


def export(
    dance: LoadedDance | AuthoredDance | MotionRecord | str | Path, path: str | Path, rate: float | None = None
) -> Motion:
    """Write a dance as a table (.csv: angles and speeds of every joint [rad, rad/s]; .mot: OpenSim, degrees).

    Args:
        dance: a file, or what `load_dance` read of it.
        path: of the table; its suffix says which.
        rate: [1/s] of the samples; by default `RATE`, and a motion's own samples.

    Returns:
        The motion that was written.

    Raises:
        InputError: no dance, or a suffix that says nothing.
        InvalidValue: a rate that is not positive, or a rate for a motion in samples of its own.

    Example:
        >>> motion = solver.export("dance/dance.npz", "dance.csv", rate=200.0)
        >>> print(f"{motion.rate:.0f} samples a second in dance.csv")
        200 samples a second in dance.csv
    """
    require_table_suffix(path)
    found = LoadedDance.from_source(dance)
    motion = found.sample(rate, RATE)
    write_motion_table(found.rig, motion, path)
    return motion


def write_motion_table(rig: Rig, motion: Motion, path: str | Path) -> None:
    """A motion as robots (.csv: joints and their speeds [rad]) and viewers (.mot: root and joints, degrees) take it."""
    viewed = Path(path).suffix.lower() == STORAGE_SUFFIX
    write_coordinates(path, rig, motion, degrees=viewed, root=viewed, speeds=not viewed)
