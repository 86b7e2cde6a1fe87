"""A dance as joint angles and speeds over time, for a robot or for viewers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...base.errors import checked
from ...contacts.schedule import Schedule
from ...feasibility import CheckOptions, check_motion
from ...formats.joint_coordinates import STORAGE_SUFFIX, require_table_suffix, write_coordinates
from ...formats.npz import write_motion_archive
from ...scene.motion_record import MotionRecord
from ...scene.rig import ARCHIVE
from ...skeleton.rig import Rig
from ...values.motion import Motion
from ..authoring.authored_dance import AuthoredDance
from .loading import LoadedDance

RATE = 100.0


@checked
def export(
    dance: LoadedDance | AuthoredDance | MotionRecord | str | Path, path: str | Path, rate: float | None = None
) -> Motion:
    """Write a dance as a table (.csv: angles, speeds and torques of every joint [rad, rad/s, N m]; .mot: OpenSim,
    degrees) or as an archive of NumPy (.npz: the root and the joints, with speeds and torques).

    Torques are left out if the contacts are unknown; see `compute_torques`.

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
    archive = Path(path).suffix.lower() == ARCHIVE
    if not archive:
        require_table_suffix(path)
    found = LoadedDance.from_source(dance)
    motion = found.sample(rate, RATE)
    torques = None if found.schedule is None else compute_torques(found.rig, motion, found.schedule, found.checks)
    if archive:
        write_motion_archive(path, found.rig, motion, torques)
    else:
        write_motion_table(found.rig, motion, path, torques)
    return motion


def compute_torques(rig: Rig, motion: Motion, schedule: Schedule, checks: CheckOptions) -> np.ndarray:
    """Torques (N, nv - 6) [N m] of the joints for a controller: a foot that is lifted or put down has no load then.

    With the distribution of the checks a foot carries some load from the frame on in which it is planted. In MuJoCo
    the foot of G1 slid by 5 mm at that frame.
    """
    return check_motion(rig, motion, schedule, replace(checks, distribution="soles", pairs=())).torques


def write_motion_table(rig: Rig, motion: Motion, path: str | Path, torques: np.ndarray | None = None) -> None:
    """Write a motion for robots (.csv: joints, speeds, torques) or viewers (.mot: root and joints, degrees)."""
    viewed = Path(path).suffix.lower() == STORAGE_SUFFIX
    write_coordinates(path, rig, motion, degrees=viewed, root=viewed, speeds=not viewed, torques=torques)
