"""Attributes failed checks of a recording to tracking error or to the performer.

- Penetration of bodies or of the floor is a tracking error.
- What touches of a planted sole does not move, also while the sole rolls.
- A limit that the measured forces exceed was exceeded by the performer; one that only the tracked motion exceeds was
  not.
- A measured centre of pressure outside the soles is a tracking error: soles or plates are in the wrong place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..options.checks import CheckOptions
from ..scene.labels import format_length
from ..skeleton.rig import Rig
from ..values.motion import Motion
from .check_definition import Check
from .check_input import PlantedPhase
from .check_results import Checks, Margin
from .checker import check_motion

MIN_FRACTION = 0.005
"""Smaller fractions are not reported."""
PENETRATION = "bodies cannot pass through each other or the floor: check markers, calibration and collision shapes"
MOTION_ONLY = "the measured forces keep this limit, the motion's accelerations and inertials do not"
FORCE_CONFIRMED = "the measured forces exceed this limit too"
ZMP_OUTSIDE = "the measured centre of pressure is outside the soles: soles or plates are in the wrong place"
NOT_MEASURED = "no forces were measured there"
UNSUPPORTED = "no force acts on an airborne body: check its accelerations, its inertials and the detected contacts"
LIMITS_UNCERTAIN = "the rig's limits may be narrower than the performer's, or markers jump"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Causes of the failing frames of one check.

    Attributes:
        check: that fails.
        tracking, performer: fractions of the failing frames; the rest is undecided.
        reasons: of the attribution, a clause each.
    """

    check: Check
    tracking: float
    performer: float
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        undecided = 1.0 - self.tracking - self.performer
        fractions = {"tracking error": self.tracking, "performer": self.performer, "undecided": undecided}
        causes = ", ".join(f"{100.0 * part:.0f} % {cause}" for cause, part in fractions.items() if part > MIN_FRACTION)
        return f"{self.check.messages.plural}: {causes} ({'; '.join(self.reasons)})"


def attribute_failures(
    rig: Rig, motion: Motion, checks: Checks, options: CheckOptions, measured_wrench: np.ndarray | None = None
) -> tuple[Attribution, ...]:
    """Attribute every failed check of a recording.

    Args:
        rig: of the recording.
        motion: N frames, tracked.
        checks: results for the motion, with its contacts.
        options: of these checks.
        measured_wrench: (N, 6) external wrench [N, N m], world axes, about the world origin; NaN where unknown.
    """
    failing = [margin for margin in checks.margins if margin.failed.any()]
    measured = _MeasuredChecks.from_wrench(rig, motion, checks, options, measured_wrench)
    attributions = []
    for margin in failing:
        if margin.check.category == "touch":
            evidence = [(margin.failed, "tracking", PENETRATION)]
        elif margin.check.category == "feet" and margin.check.depends_on == "posture":
            moved = format_length(options.allowed_slip - float(margin.smallest.min()))
            evidence = [(margin.failed, "tracking", f"a planted sole is up to {moved} from where it stands or rolls")]
        elif margin.check.applies_when == "airborne":
            evidence = [(margin.failed, "tracking", UNSUPPORTED)]
        elif margin.check.depends_on == "force":
            evidence = measured.evidence(margin)
        else:
            evidence = [(margin.failed, "", LIMITS_UNCERTAIN)]
        attributions.append(_attribute(margin, evidence))
    return tuple(attributions)


def _attribute(margin: Margin, evidence: list[tuple[np.ndarray, str, str]]) -> Attribution:
    """Combine evidence: masks (N,) of frames, each with a cause (empty: undecided) and a reason."""
    fractions = {"tracking": 0.0, "performer": 0.0, "": 0.0}
    reasons = []
    for frames, cause, reason in evidence:
        fraction = float((frames & margin.failed).sum()) / float(margin.failed.sum())
        fractions[cause] += fraction
        reasons += [reason] * (fraction > MIN_FRACTION)
    return Attribution(margin.check, fractions["tracking"], fractions["performer"], tuple(reasons))


@dataclass(frozen=True, slots=True)
class _MeasuredChecks:
    """Checks with the measured forces, in the frames in which these are known.

    Attributes:
        known: (N,) the wrench was measured.
        checks: results with the measured wrench in the known frames; None if there are none.
        outside: (N,) the measured centre of pressure is outside the soles.
    """

    known: np.ndarray
    checks: Checks | None
    outside: np.ndarray

    @staticmethod
    def from_wrench(
        rig: Rig, motion: Motion, checks: Checks, options: CheckOptions, measured_wrench: np.ndarray | None
    ) -> _MeasuredChecks:
        known, outside = np.zeros(len(motion), bool), np.zeros(len(motion), bool)
        if measured_wrench is not None:
            known = np.isfinite(measured_wrench).all(axis=1)
        if measured_wrench is None or not known.any():
            return _MeasuredChecks(known, None, outside)
        measured = check_motion(
            rig, motion.frames(known), checks.schedule, options, measured_wrench=measured_wrench[known]
        )
        unreduced = replace(options, shrink=0.0, balance_reserve=0.0)
        phases, margins = checks.schedule.index_at(motion.times[known]), np.full(len(measured), np.inf)
        for number in np.unique(phases):
            polygon = PlantedPhase.from_phase(rig, checks.schedule.phases[number], unreduced).polygon
            if polygon is not None:
                own = phases == number
                margins[own] = polygon.margin(measured.zmp[own])
        outside[known] = margins < -options.tolerance
        return _MeasuredChecks(known, measured, outside)

    def evidence(self, margin: Margin) -> list[tuple[np.ndarray, str, str]]:
        """Evidence about a check that depends on forces."""
        exceeded = np.zeros(len(self.known), bool)
        if self.checks is not None:
            exceeded[self.known] = self.checks.get_margin(margin.name).failed
        outside = exceeded & self.outside & (margin.check.category == "balance")
        return [
            (self.known & ~exceeded, "tracking", MOTION_ONLY),
            (outside, "tracking", ZMP_OUTSIDE),
            (exceeded & ~outside, "performer", FORCE_CONFIRMED),
            (~self.known, "", NOT_MEASURED),
        ]
