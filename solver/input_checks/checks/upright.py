"""Upright: the body's axis against gravity over the whole recording, and the floor below it in every reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...formats.axes_and_units import UP_CHOICES, to_z_up
from ...signals.trial import Recording
from ..body_points import BodyPoints
from ..check_definition import InputCheck, InputProblem, InputToCheck, OtherReading, turn_motion

AXES = UP_CHOICES[1:]
UPRIGHT_COSINE = 0.7
"""[1] A body is upright if its axis is within about 45 degrees of the vertical. Measured on the recordings of
`body_points.SAMPLES`: .5 and .85 find the same."""
MIN_SHARE = 0.5
"""Another reading counts if the body is upright in this share of the time. Measured on the recordings of
`formats.axes_and_units.AXIS_DOMINANCE`: half and twice the value, and a tenth, find the same."""
MAX_FLOOR_RANGE = 0.75
"""Largest range of the lowest point in another reading, relative to the body: who crawls leaves such a "floor".
Measured on the recordings of `body_points.SAMPLES`: with .5 one of getting up may lie on its side, 1 finds the same."""
AXIS_RATIO, ORDER_RATIO = 0.3, 0.7
"""A body that is upright for less than this fraction of the time of another reading is wrong: of another vertical axis,
which lying persons have too, or of another order of quaternions, which nobody has. Chosen on 60 public recordings, of
which one of getting up has .54 and the others at least 4."""
MAX_DEPTH = 1.5
"""Largest depth of a rig's soles below the world's origin, relative to its legs: the origin is the floor, or the root
at the start."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a body stands along an axis: share of the instants upright, range and level of its lowest point, relative."""

    share: float
    floor_range: float
    level: float

    @property
    def is_possible(self) -> bool:
        """Whether the body could stand so."""
        return self.share >= MIN_SHARE and self.floor_range < MAX_FLOOR_RANGE


def _stand(points: BodyPoints, up: str) -> Standing:
    way, axis = to_z_up(up)[2], points.body_axis
    sizes = np.linalg.norm(axis, axis=1)
    lowest = np.nanmin(points.positions @ way, axis=1) / np.median(sizes)
    low, level, high = np.quantile(lowest, (0.1, 0.5, 0.9))
    return Standing(float(np.mean(axis @ way > UPRIGHT_COSINE * sizes)), float(high - low), float(level))


def _measure(inputs: InputToCheck) -> InputProblem | None:
    if (points := inputs.points) is None:
        return None
    own = _stand(points, "z")
    others = [(_stand(points, up), AXIS_RATIO) for up in AXES if up != "z"]
    if own.share < MIN_SHARE and (swapped := _swap_root(inputs.recording)) is not None:
        turned = inputs.read_as(swapped).points
        others += [] if turned is None else [(_stand(turned, "z"), ORDER_RATIO)]
    better = [other.share for other, ratio in others if other.is_possible and own.share < ratio * other.share]
    if better:
        shares = f"{100.0 * own.share:.0f} % of the time, and in {100.0 * max(better):.0f} %"
        text = f"the body is upright in {shares} with another vertical axis or another order of quaternions"
        return InputProblem(text, "State the vertical axis of the file (--up), or write quaternions as x y z w")
    joints = inputs.recording.joints
    if joints is not None and own.share >= MIN_SHARE and own.level < -MAX_DEPTH:
        text = f"the soles lie {-own.level:.1f} leg lengths below the world's origin"
        return InputProblem(text, "Write the root's position with z up")
    return None


def _readings(inputs: InputToCheck) -> Sequence[OtherReading]:
    recording = inputs.recording
    known = recording.up or "z"
    readings = [
        OtherReading(f"{up} up", f"--up {known}", partial(turn_motion, to_z_up(up) @ to_z_up(known).T, up))
        for up in AXES
        if up != known
    ]
    if _swap_root(recording) is not None:
        readings.append(
            OtherReading("the root's quaternion as w x y z", f"--up {known}", lambda other: _swap_root(other) or other)
        )
    return readings


def _swap_root(recording: Recording) -> Recording | None:
    """The recording with root quaternions w x y z; None without a root."""
    joints = recording.joints
    if joints is None or joints.root is None:
        return None
    root = np.concatenate([joints.root[:, :3], np.roll(joints.root[:, 3:], -1, axis=1)], axis=1)
    return replace(recording, joints=replace(joints, root=root))


UPRIGHT = InputCheck(
    name="upright",
    measures="share of the time in which the body is upright, and the floor below it, against other vertical axes and "
    "another order of the root's quaternion",
    measure=_measure,
    readings=_readings,
    option="up",
)
