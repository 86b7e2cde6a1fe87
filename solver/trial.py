"""One recorded trial, before and after tracking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from .arrays import frozen_mask
from .errors import InvalidValue
from .motion import JointCoordinates, LinkDisplacements, Markers, Motion, SegmentPoses, describe_span
from .wrenches import Wrenches

if TYPE_CHECKING:
    from .signals.filters import (
        FilterPreset,
    )  # whose room loads the dynamics library, which readers of files do without


@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """A trial as it came from files: markers or joint coordinates, forces, or both, each at its own rate.

    Attributes:
        name: of the trial.
        markers: or None where the files hold none.
        wrenches: or None where the files hold none.
        warnings: what reading went on past.
        metadata: what the files say of the subject: ``mass`` [kg], ``height`` [m], ``sex``, ``subject``; absent where
            they do not.
        joints: joint coordinates, or None where the files hold none.
        segments: orientations (and places) of segments, or None where the files hold none.
    """

    name: str
    markers: Markers | None = None
    wrenches: Wrenches | None = None
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    joints: JointCoordinates | None = None
    segments: SegmentPoses | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable() or any(letter in self.name for letter in "/\\"):
            raise InvalidValue(f"{self.name!r} cannot name a trial: its results are files of that name")
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __repr__(self) -> str:
        found = (self.markers, self.joints, self.segments, self.wrenches)
        parts = [repr(part).splitlines()[0] for part in found if part is not None]
        return "\n  ".join([f"Recording {self.name!r}; {len(self.warnings)} warnings", *(parts or ["empty"])])


@dataclass(frozen=True, slots=True, repr=False)
class Trial:
    """A trial ready for identification: motion and wrenches on the same clock, equally little filtered.

    Attributes:
        name: of the trial.
        motion: N frames.
        wrenches: N samples at the motion's times.
        counted: (N,) True where every contact with the world is measured (flight counts: nothing touches).
        excluded: why frames do not count: (reason, number of frames), for the report.
        noise_replicas: the motion with its own noise once more, each a new draw (`signals.NoiseReplicas`); () where
            that is unknown.
        preset: low-pass that both sides of the equations are to pass; None where they hold frame by frame as they are.
        marker_displacements: makes, for a row of the motion's frames, how far the markers of each link lie aside of it
            (`signals.MarkerDisplacements`); None where no markers tell or the motion's links are shifted by them
            already.
        corner: [Hz] of the equations' noise: each stretch of frames that count is weighed by it (`signals.whitened`)
            instead of being filtered by itself; None where they pass the preset.
    """

    name: str
    motion: Motion
    wrenches: Wrenches
    counted: np.ndarray
    excluded: tuple[tuple[str, int], ...] = field(default=())
    noise_replicas: Collection[Motion] = field(default=())
    preset: FilterPreset | None = None
    marker_displacements: Callable[[slice], LinkDisplacements] | None = None
    corner: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counted", frozen_mask("counted", self.counted, (len(self.motion),)))
        if len(self.wrenches) != len(self.motion) or not np.allclose(self.wrenches.times, self.motion.times, atol=1e-9):
            raise InvalidValue(f"trial {self.name!r}: motion and wrenches must share their times")

    def part(self, start: int, stop: int) -> Trial:
        """Frames start..stop-1 as a trial, without shaken copies."""
        pulled = None if self.marker_displacements is None else _OffsetDisplacements(self.marker_displacements, start)
        wrenches, counted = self.wrenches.part(start, stop), self.counted[start:stop]
        motion = self.motion.part(start, stop)
        return Trial(
            self.name, motion, wrenches, counted, preset=self.preset, marker_displacements=pulled, corner=self.corner
        )

    def __repr__(self) -> str:
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.excluded)
        return f"Trial {self.name!r}, {describe_span(self.motion.times)}\n  {int(self.counted.sum())} frames count" + (
            f"; left out: {reasons}" if reasons else ""
        )


@dataclass(frozen=True, slots=True)
class _OffsetDisplacements:
    """The pulls of a part, which begins with a later frame of the whole."""

    whole: Callable[[slice], LinkDisplacements]
    first: int

    def __call__(self, frames: slice) -> LinkDisplacements:
        return self.whole(slice(self.first + frames.start, self.first + frames.stop))
