"""A segment of a dance: one spline from posture to posture with constant contacts; and the checker of segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.errors import InvalidValue
from ..contacts.schedule import Anchor, Phase, Schedule
from ..dynamics.coordinates import Curves
from ..feasibility.check_results import Checks
from ..feasibility.checker import FrameChecker
from ..feasibility.load_derivatives import LinearisedLoads
from ..options.checks import CheckOptions
from ..skeleton.rig import Rig
from ..values.motion import Motion
from .legged_rig import LeggedRig
from .splines import REST_CONTROLS, Spline

KINDS = ("hold", "exciting", "straight", "step")
"""Static posture; optimised by (18); straight path between two postures; weight shift or step."""
CONTROL_TIME = 2.2
"""[s] A segment has at least as many free control values as there are knots in this time, to control balance."""


@dataclass(frozen=True, slots=True)
class DanceSegment(ArrayValue):
    """One segment of a dance.

    Attributes:
        name: for display.
        kind: one of `KINDS`.
        duration: [s].
        control: (C, D) control values of all flat coordinates, see `LeggedRig`.
        solved: sides of the legs that are solved.
        anchors: of the patches that carry load throughout.
    """

    name: str
    kind: str
    duration: float
    control: Annotated[np.ndarray, Array(None, None)]
    solved: tuple[str, ...]
    anchors: tuple[Anchor, ...]

    def require_consistent(self) -> None:
        if self.kind not in KINDS:
            raise InvalidValue(f"segment {self.name!r}: kind {self.kind!r} is none of {', '.join(KINDS)}")
        object.__setattr__(self, "solved", tuple(self.solved))
        object.__setattr__(self, "anchors", tuple(self.anchors))

    @property
    def spline_space(self) -> Spline:
        """The spline space of its curves."""
        return Spline(self.duration, len(self.control) - 2 * REST_CONTROLS)

    @property
    def start(self) -> np.ndarray:
        """Flat coordinates (D,) at the beginning."""
        return self.control[0]

    @property
    def stop(self) -> np.ndarray:
        """Flat coordinates (D,) at the end."""
        return self.control[-1]

    def reverse(self, name: str) -> DanceSegment:
        """The same path in reverse time. It has the same forces and torques, so it is as feasible."""
        return replace(self, name=name, control=self.control[::-1])

    def evaluate(self, legged: LeggedRig, times: np.ndarray) -> tuple[np.ndarray, Curves, np.ndarray]:
        """Coordinates (N, D), motion, and whether each frame was solved, at times from the segment's start."""
        return legged.solve_motion(*self.spline_space.basis(times).curves(self.control), self.solved)


def free_control_count(duration: float, spacing: float) -> int:
    """Number of free control values of a segment from its duration and knot spacing [s]: bonnet2016's two, refined."""
    least = 2 + 3 * round((CONTROL_TIME / spacing - 2) / 3.0)
    return least + 3 * max(0, int(np.ceil((duration / spacing - least - 1) / 3.0)))


class SegmentChecker:
    """Checks segments against all limits.

    Args:
        rig: with limits.
        options: of the checks.
        sampling_factor: multiple of each check's sampling margin to keep; 0 for the limits themselves.

    Attributes:
        notes: what cannot be checked.
        options: of the checks.
    """

    def __init__(self, rig: Rig, options: CheckOptions, sampling_factor: float = 0.0) -> None:
        self.rig, self.sampling_factor = rig, sampling_factor
        nowhere = Schedule.constant((), 0.0, 1.0)
        self.options = options
        self._checker = FrameChecker(rig, nowhere, options)
        self.notes = self._checker.notes

    def checks(self, times: np.ndarray, curves: Curves, anchors: tuple[Anchor, ...]) -> Checks:
        """Results of the checks of frames with constant contacts."""
        schedule = Schedule.constant(anchors, float(times[0]) - 1.0, float(times[-1]) + 1.0)
        return self._checker.with_schedule(schedule).check_frames(Motion(times, curves.q, curves.v, curves.a))

    def linearise_loads(self, curves: Curves, anchors: tuple[Anchor, ...]) -> LinearisedLoads:
        """Joint torques and contact loads of frames with constant contacts, with derivatives."""
        return self._checker.loads(curves, Phase(-1.0, 1.0, anchors))

    def worst_margins(
        self, curves: Curves, anchors: tuple[Anchor, ...], margin_allowances: Mapping[str, float] | None = None
    ) -> np.ndarray:
        """Smallest margin (N,) of each frame over all checks, less the sampling margins; negative: infeasible.

        Args:
            curves: N frames.
            anchors: of the patches that carry load throughout.
            margin_allowances: by check, part of the sampling margin that need not be kept; see `margin_allowances`.
        """
        return self.worst_of(self.checks(np.arange(float(len(curves.q))), curves, anchors), margin_allowances)

    def worst_of(self, checks: Checks, margin_allowances: Mapping[str, float] | None = None) -> np.ndarray:
        """(N,) smallest margin plus tolerance of every frame, less the sampling margins that must be kept."""
        allowances = margin_allowances or {}
        return np.min([own + allowances.get(name, 0.0) for name, own in self._reduced_margins(checks)], axis=0)

    def margin_allowances(self, curves: Curves, anchors: tuple[Anchor, ...]) -> Mapping[str, float]:
        """By check, how much feasible frames lack of its sampling margin, plus half of what they keep of it."""
        checks = self.checks(np.arange(float(len(curves.q))), curves, anchors)
        margins = {margin.name: self.sampling_factor * margin.check.sampling_margin for margin in checks.margins}
        short = {name: -float(own.min()) for name, own in self._reduced_margins(checks) if (own < 0.0).any()}
        return {name: min(0.5 * (own + margins[name]), margins[name]) for name, own in short.items()}

    def tight_checks(self, checks: Checks) -> tuple[str, ...]:
        """Names of the checks with a margin below the sampling margin."""
        return tuple(name for name, own in self._reduced_margins(checks) if (own < 0.0).any())

    def _reduced_margins(self, checks: Checks) -> list[tuple[str, np.ndarray]]:
        """Name and (N,) margin plus tolerance of every check, less its sampling margin."""
        return [
            (m.name, m.smallest + m.tolerance - self.sampling_factor * m.check.sampling_margin) for m in checks.margins
        ]


def hold_posture(
    name: str, y: np.ndarray, duration: float, solved: tuple[str, ...], anchors: tuple[Anchor, ...]
) -> DanceSegment:
    """A static posture at coordinates (D,) for a duration [s]."""
    return DanceSegment(name, "hold", duration, np.tile(y, (2 * REST_CONTROLS, 1)), solved, anchors)
