"""One recorded trial, before and after tracking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from ..base.arrays import frozen_mask
from ..base.errors import InvalidValue, checked
from ..storage.manifest import FileName
from ..values.filter_presets import FilterPreset
from ..values.motion import JointCoordinates, Markers, Motion, RestPose, SegmentPoses, describe_span
from ..values.wrenches import Wrenches
from .plate_errors import LikelyErrors, PlateErrors


@dataclass(frozen=True, slots=True)
class FoundBody:
    """What the checks of a recording found in it.

    Attributes:
        up: vertical axis of the file; empty if unknown.
        stature: [m] by the recorded lengths; NaN if unknown.
        parts: segment of each part of a person.
        rest: pose of the segments at rest; None if unknown.
        reading: how the file was read instead of as it is; empty: as it is.
    """

    up: str
    stature: float
    parts: Mapping[str, str]
    rest: RestPose | None
    reading: str = ""


@checked
@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """A trial as read from files: markers, joint coordinates or segments, and forces, each at its own rate.

    Attributes:
        name: of the trial, with which names of result files begin.
        markers: or None without markers.
        wrenches: or None without forces.
        warnings: problems while reading.
        metadata: of the subject, from the files: ``mass`` [kg], ``height`` [m], ``sex``, ``subject``; only known ones.
        joints: joint coordinates, or None.
        segments: orientations (and positions) of segments, or None.
        inputs: hash of every file that was read, by its absolute path; empty if none was.
        up: vertical axis of the motion's file, as read; empty if unknown.
        stated: reading options that the user stated, by name.
        found: what the checks found; None before them.
    """

    name: str
    markers: Markers | None = None
    wrenches: Wrenches | None = None
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    joints: JointCoordinates | None = None
    segments: SegmentPoses | None = None
    inputs: Mapping[str, str] = field(default_factory=dict, compare=False)
    up: str = ""
    stated: Mapping[str, object] = field(default_factory=dict)
    found: FoundBody | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        FileName(self.name)
        for name in ("metadata", "inputs", "stated"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        found = (self.markers, self.joints, self.segments, self.wrenches)
        parts = [repr(part).splitlines()[0] for part in found if part is not None]
        return "\n  ".join([f"Recording {self.name!r}; {len(self.warnings)} warnings", *(parts or ["empty"])])


@dataclass(frozen=True, slots=True)
class PostureWrenches:
    """Wrench errors of a tracked motion by S independent errors that follow posture, one standard deviation each.

    Attributes:
        frames: (n,) indices of some frames of the motion.
        stride: number of frames that each of them stands for.
        values: (n, 6, S) [N, N m] in these frames, world axes, moments about the tracked origin of the base link.
        origins: (K, L, 10) change of the parameters that has the same effect as the constant part of the errors, which
            the values do not contain: the displacement of the links' origins, which are estimated joint centres.
        layouts: names of the plates whose errors come last, in this order (`plate_errors.tolerated_wrenches`).
    """

    frames: np.ndarray
    stride: int
    values: np.ndarray
    origins: np.ndarray
    layouts: tuple[tuple[str, ...], ...] = ()


@checked
@dataclass(frozen=True, slots=True, repr=False)
class Trial:
    """A trial ready for identification: synchronised motion and wrenches, filtered alike.

    Attributes:
        name: of the trial.
        motion: N frames.
        wrenches: N samples at the motion's times.
        counted: (N,) True where every contact with the world is measured, including flight.
        excluded: (reason, number of frames) of excluded frames, for the report.
        preset: low-pass for both sides of the equations; None if these are used frame by frame without a filter.
        posture_wrenches: errors of the equations that follow posture, of a person, and of the plates; None if unknown.
        plate_tolerance: one standard deviation of each error that the plates may have; None if unknown.
        corner: [Hz] corner frequency of the equations' noise: each interval of counted frames is whitened by it
            (`signals.whiten`) instead of being filtered; None if the equations are filtered by the preset.
    """

    name: str
    motion: Motion
    wrenches: Wrenches
    counted: np.ndarray
    excluded: tuple[tuple[str, int], ...] = field(default=())
    preset: FilterPreset | None = None
    posture_wrenches: PostureWrenches | None = None
    plate_tolerance: PlateErrors | None = None
    corner: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counted", frozen_mask("counted", self.counted, (len(self.motion),)))
        if len(self.wrenches) != len(self.motion) or not np.allclose(self.wrenches.times, self.motion.times, atol=1e-9):
            raise InvalidValue(f"trial {self.name!r}: motion and wrenches must share their times")

    @property
    def filtered_wrenches(self) -> Wrenches:
        """The wrenches through the low-pass of the equations."""
        from . import filter_wrenches

        return self.wrenches if self.preset is None else filter_wrenches(self.wrenches, self.preset)

    def without_errors(self, likely: Sequence[LikelyErrors]) -> Trial:
        """The trial without the most likely errors of its plates; unchanged if none are known."""
        sizes = next((own.sizes for own in likely if own.plates == self.wrenches.frames), None)
        if sizes is None or self.plate_tolerance is None:
            return self
        errors = PlateErrors(sizes * self.plate_tolerance.plates, start=self.plate_tolerance.start)
        return replace(self, wrenches=errors.remove_from(self.wrenches))

    def part(self, start: int, stop: int) -> Trial:
        """Frames start..stop-1 as a trial."""
        wrenches, counted = self.wrenches.part(start, stop), self.counted[start:stop]
        motion = self.motion.part(start, stop)
        return Trial(
            self.name,
            motion,
            wrenches,
            counted,
            preset=self.preset,
            corner=self.corner,
        )

    def __repr__(self) -> str:
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.excluded)
        return f"Trial {self.name!r}, {describe_span(self.motion.times)}\n  {int(self.counted.sum())} frames count" + (
            f"; left out: {reasons}" if reasons else ""
        )
