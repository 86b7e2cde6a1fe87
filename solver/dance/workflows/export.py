"""A dance as joint angles and speeds over time, for a robot or for viewers."""

from __future__ import annotations

from pathlib import Path

from ...formats.joint_coordinates import STORAGE, require_table, write_coordinates
from ...motion import Motion
from ...rig import Rig
from ...scene.motion_record import MotionRecord
from ..authoring.keys import Keyed
from .reading import LoadedDance

RATE = 100.0


def export(
    dance: LoadedDance | Keyed | MotionRecord | str | Path, path: str | Path, rate: float | None = None
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
    require_table(path)
    found = LoadedDance.of(dance)
    motion = found.sampled(rate, RATE)
    export_motion(found.rig, motion, path)
    return motion


def export_motion(rig: Rig, motion: Motion, path: str | Path) -> None:
    """A motion as robots (.csv: joints and their speeds [rad]) and viewers (.mot: root and joints, degrees) take it."""
    viewed = Path(path).suffix.lower() == STORAGE
    write_coordinates(path, rig, motion, degrees=viewed, root=viewed, speeds=not viewed)
