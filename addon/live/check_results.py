"""Results of the live check for one timeline, looked up by frame and time; uses no scene data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..base.solver_api import SceneFrame, SceneMargin, SceneTimeline
from .responses import INVALID, Response

ROTATION_TOLERANCE, POSITION_TOLERANCE = 1e-3, 1e-4
"""[1] for quaternion components, and [m]: a posture within this distance of the timeline's counts as equal."""


@dataclass(frozen=True, slots=True)
class WorstFrame:
    """The frame in which a check fails most."""

    index: int
    margin: SceneMargin


@dataclass(slots=True)
class CheckResults:
    """Results for one timeline, while they arrive.

    Attributes:
        serial: serial number of the request.
        timeline: the checked timeline.
        frames: (N,) results; None if not checked yet.
        comfort: (N,) comfort of each frame's worst margin; NaN if not checked yet.
        failed: (N,) whether a check fails.
        checked: number of checked frames, including those that cannot be checked.
        unchecked: (N,) whether a frame cannot be checked.
        done: whether all results have arrived.
        message: error message; empty without an error.
        notes: checks that are impossible for this rig.
        worst: worst frame by failed check.
        excitation: (time, value by link), in order of time.
        version: increases with every change, so that drawings can be updated.
    """

    serial: int
    timeline: SceneTimeline
    frames: list[SceneFrame | None] = field(init=False)
    comfort: np.ndarray = field(init=False)
    failed: np.ndarray = field(init=False)
    unchecked: np.ndarray = field(init=False)
    checked: int = 0
    done: bool = False
    message: str = ""
    notes: tuple[str, ...] = ()
    worst: dict[str, WorstFrame] = field(default_factory=dict)
    excitation: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    version: int = 0

    def __post_init__(self) -> None:
        count = len(self.timeline)
        self.frames = [None] * count
        self.comfort, self.failed = np.full(count, np.nan), np.zeros(count, bool)
        self.unchecked = np.zeros(count, bool)

    def add_response(self, response: Response) -> bool:
        """Add a response; whether it belongs to this timeline."""
        if response.serial != self.serial or response.kind in ("pose", INVALID):
            return False
        if response.kind == "frames":
            for frame in response.frames:
                self._add_frame(frame)
        elif response.kind == "excitation":
            self.excitation.append((response.time, dict(response.links)))
            self.excitation.sort(key=lambda entry: entry[0])
        elif response.kind == "done":
            self.done, self.notes = True, response.notes
        elif response.kind == "error":
            self.message = response.message or "the check failed"
            for first, last in response.unchecked:
                self.checked += int((~self.unchecked[first : last + 1]).sum())
                self.unchecked[first : last + 1] = True
        self.version += 1
        return True

    def index_at(self, time: float) -> int | None:
        """Index of the sample nearest to a time; None if more than one sample outside the timeline."""
        times = self.timeline.times
        if not len(times):
            return None
        step = float(times[-1] - times[0]) / max(len(times) - 1, 1)
        if not times[0] - step <= time <= times[-1] + step:
            return None
        after = int(np.searchsorted(times, time))
        near = [k for k in (after - 1, after) if 0 <= k < len(times)]
        return min(near, key=lambda k: abs(float(times[k]) - time))

    def result_at(self, time: float) -> SceneFrame | None:
        """The result at a time; None outside the timeline or if not checked yet."""
        index = self.index_at(time)
        return None if index is None else self.frames[index]

    def failing_intervals(self) -> list[tuple[float, float]]:
        """Start and stop [s] of runs of failing frames."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.failed.astype(int), [0]])))
        times = self.timeline.times
        return [(float(times[a]), float(times[b - 1])) for a, b in edges.reshape(-1, 2)]

    def worst_first(self) -> list[WorstFrame]:
        """Worst frames of the failed checks, worst first."""
        return sorted(self.worst.values(), key=lambda entry: entry.margin.comfort)

    def excitation_at(self, time: float) -> dict[str, float]:
        """Condition numbers by link up to a time; empty if unknown."""
        before = [links for when, links in self.excitation if when <= time + 1e-6]
        return before[-1] if before else {}

    def differs(self, posture: SceneTimeline, time: float) -> bool:
        """Whether a posture differs from the timeline at the time of one of its samples."""
        index = self.index_at(time)
        if index is None or posture.links != self.timeline.links:
            return True
        if not abs(float(self.timeline.times[index]) - time) < 1e-4:
            return False  # between frames the displayed pose is interpolated
        one, other = posture.rotations[0], self.timeline.rotations[index]
        turned = np.minimum(np.abs(one - other), np.abs(one + other)).max(initial=0.0)
        return bool(
            turned > ROTATION_TOLERANCE
            or np.abs(posture.root[0] - self.timeline.root[index]).max() > POSITION_TOLERANCE
            or np.abs(posture.translations[0] - self.timeline.translations[index]).max(initial=0.0) > POSITION_TOLERANCE
        )

    def _add_frame(self, frame: SceneFrame) -> None:
        if not 0 <= frame.frame < len(self.frames):
            return
        self.checked += self.frames[frame.frame] is None
        self.frames[frame.frame] = frame
        self.comfort[frame.frame], self.failed[frame.frame] = frame.comfort, frame.failed
        for margin in frame.margins:
            known = self.worst.get(margin.check)
            if margin.failed and (known is None or margin.comfort < known.margin.comfort):
                self.worst[margin.check] = WorstFrame(frame.frame, margin)
