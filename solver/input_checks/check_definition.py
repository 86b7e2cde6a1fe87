"""What a check of a recording is: what it needs and measures, and which other readings of the recording it compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.so3 import to_matrix, to_quaternion
from ..signals.trial import FoundBody, Recording
from ..skeleton.match import match_recording
from ..skeleton.rig import Rig
from .body_points import BodyPoints, find_points


class InputToCheck:
    """A recording and the body with which it is used; what several checks need is computed once.

    Args:
        recording: as its reader returned it, or another reading of it.
        rig: of the person or robot; None if none is known yet.
        parts: segment of each part of a person, as the user stated; None: by names and shape.
    """

    def __init__(self, recording: Recording, rig: Rig | None = None, parts: Mapping[str, str] | None = None) -> None:
        self.recording, self.rig, self.parts = recording, rig, parts

    def read_as(self, recording: Recording) -> InputToCheck:
        """The input with another reading of the recording."""
        return InputToCheck(recording, self.rig, self.parts)

    @cached_property
    def matched(self) -> Mapping[str, str]:
        """Segment of each part of a person."""
        segments = self.recording.segments
        return self.parts or ({} if segments is None else match_recording(segments))

    @cached_property
    def points(self) -> BodyPoints | None:
        """Where parts of the body are in some of the frames; None if too few are known."""
        return find_points(self.recording, self.rig, self.matched)

    def found_body(self, reading: str = "") -> FoundBody:
        """What is known of the body; ``reading``: how the file was read instead of as it is."""
        segments, stature = self.recording.segments, np.nan if self.points is None else self.points.stature
        rest = None if segments is None else segments.rest
        return FoundBody(self.recording.up, stature, self.matched, rest, reading)


@dataclass(frozen=True, slots=True)
class InputProblem:
    """What a check found.

    Attributes:
        text: what is wrong and what was compared, in one clause.
        remedy: what makes it right.
        is_note: it does not make the recording unusable.
    """

    text: str
    remedy: str
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another way to read a recording.

    Attributes:
        name: ``"y up"``.
        overrule: what makes the program keep the file as it is, ``"--up z"``; empty: only another file.
        apply: gives the recording read in this way.
    """

    name: str
    overrule: str
    apply: Callable[[Recording], Recording]


def turn_motion(turn: np.ndarray, up: str, recording: Recording) -> Recording:
    """The recording's motion in other axes; forces of the same file as markers too. A rest pose keeps its axes.

    Args:
        turn: (3, 3) rotation, or of markers a reflection, to the new axes.
        up: the vertical axis of the file that they assume.
        recording: in the former axes.
    """
    markers, segments, joints, wrenches = recording.markers, recording.segments, recording.joints, recording.wrenches
    if markers is not None:
        markers = replace(markers, positions=markers.positions @ turn.T)
        if wrenches is not None:
            both = np.kron(np.diag([1.0, np.linalg.det(turn)]), turn.T)  # a moment is an axial vector
            measured = (wrenches.measured @ np.abs(both)) > 0.5
            wrenches = replace(wrenches, values=wrenches.values @ both, measured=measured)
    if segments is not None:
        positions = None if segments.positions is None else segments.positions @ turn.T
        segments = replace(segments, rotations=turn @ segments.rotations, positions=positions)
    if joints is not None and joints.root is not None:
        root = joints.root.copy()
        root[:, :3] = root[:, :3] @ turn.T
        root[:, 3:] = to_quaternion(turn @ to_matrix(root[:, 3:]))
        joints = replace(joints, root=root)
    return replace(recording, markers=markers, segments=segments, joints=joints, wrenches=wrenches, up=up)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCheck:
    """One row of `check_table.CHECKS`. No other file names a check.

    Attributes:
        name: ``"upright"``.
        measures: what is compared with what, for the documentation.
        measure: gives the problem; None if the recording passes or lacks what the check needs.
        readings: other ways to read the recording that could explain the problem; by default none does.
        option: field of `ReadOptions` by which a user overrules the check; empty: none.
    """

    name: str
    measures: str
    measure: Callable[[InputToCheck], InputProblem | None]
    readings: Callable[[InputToCheck], Sequence[OtherReading]] = lambda _: ()
    option: str = ""
