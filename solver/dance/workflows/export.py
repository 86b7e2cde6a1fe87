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
        dance: a file, or the result of `load_dance`.
        path: of the table; its suffix selects the format.
        rate: [1/s] of the samples; by default `RATE`, or the samples of a recorded motion.

    Returns:
        The motion that was written.

    Raises:
        InputError: not a dance, or an unknown suffix.
        InvalidValue: a rate that is not positive, or a rate for a motion that has its own samples.

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
    """Write a motion for robots (.csv: joints, speeds, [rad, rad/s]) or viewers (.mot: root and joints, degrees)."""
    viewed = Path(path).suffix.lower() == STORAGE_SUFFIX
    write_coordinates(path, rig, motion, degrees=viewed, root=viewed, speeds=not viewed)
