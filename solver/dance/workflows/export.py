"""A dance as joint angles and speeds over time, for a robot or for viewers."""

from __future__ import annotations

from pathlib import Path

from ...errors import InputError
from ...motion import Motion
from ..authoring.keys import Keyed
from ..design.dance_file import write_joint_csv, write_mot
from .reading import LoadedDance

WRITERS = {".csv": write_joint_csv, ".mot": write_mot}


def export(dance: LoadedDance | Keyed | str | Path, path: str | Path, rate: float = 100.0) -> Motion:
    """Write a dance as a table (.csv: angles and speeds of every joint [rad, rad/s]; .mot: OpenSim, degrees).

    Args:
        dance: a file, or what `load_dance` read of it.
        path: of the table; its suffix says which.
        rate: [1/s] of the samples.

    Returns:
        The motion that was written.

    Raises:
        InputError: no dance, or a suffix that says nothing.
        InvalidValue: a rate that is not positive.

    Example:
        >>> solver.export("dance/dance.npz", "dance.csv", rate=200.0)  # doctest: +SKIP
    """
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        remedy = f"End it on {' or '.join(WRITERS)}"
        raise InputError(path, "has no suffix that says how to write it", remedy=remedy)
    found = LoadedDance.of(dance)
    motion = found.motion(rate)
    writer(path, found.rig, motion)
    return motion
