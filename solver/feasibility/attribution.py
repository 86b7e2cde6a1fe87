"""Whose doing a recording's failures are: the person's, or that of how it was tracked.

Bodies do not pass through each other or through the floor. A sole that stands may roll, and does not slide. What pushed
was measured: a limit that the forces break was broken, one that the motion alone breaks was not. And no centre of
pressure leaves the soles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..check_options import CheckOptions
from ..contacts.recorded_contacts import link_poses
from ..motion import Motion
from ..rig import Rig
from ..scene.labels import format_length
from .check_definition import Check
from .check_input import PlantedPhase
from .check_results import Checks, Margin
from .checker import check_motion

FLOOR_HEIGHT = 0.02
"""[m] A corner of a sole that is no higher touches what the sole stands on."""
MIN_FRACTION = 0.005
"""Shares below this are not worth a word."""
PENETRATION = "nothing passes through a body or the floor: markers, calibration or drawn shapes are off"
MOTION_ONLY = "the measured forces keep this limit, the motion's accelerations and inertials do not"
FORCE_CONFIRMED = "the measured forces break this limit as well"
ZMP_OUTSIDE = (
    "the measured centre of pressure lies outside the soles, where nobody's does: soles or plates lie elsewhere"
)
SOLE_ROLLS = "a sole that stands rolls, which a flat contact does not know"
NOT_MEASURED = "no forces were measured there"
UNSUPPORTED = "nothing pushes a body in the air: its accelerations, its inertials or the found contacts are off"
LIMITS_UNCERTAIN = "the rig's limits may be narrower than the person's, or markers jump"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Whose doing it is that one check fails, in shares of its failing frames.

    Attributes:
        check: that fails.
        tracking, performer: shares; of the rest nobody can tell.
        reasons: how that is known, a clause each.
    """

    check: Check
    tracking: float
    performer: float
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        shares = {
            "the "
            "tracking's": self.tracking, "the person's": self.performer, "open": 1.0 - self.tracking - self.performer,
        }  # fmt: skip
        said = ", ".join(f"{100.0 * share:.0f} % {whose}" for whose, share in shares.items() if share > MIN_FRACTION)
        return f"{self.check.messages.plural}: {said} ({'; '.join(self.reasons)})"


def attribute_failures(
    rig: Rig, motion: Motion, checks: Checks, options: CheckOptions, measured_wrench: np.ndarray | None = None
) -> tuple[Attribution, ...]:
    """Whose doing every failing check of a recording is.

    Args:
        rig: that moved.
        motion: N frames.
        checks: of it, with its contacts.
        options: that it was checked by.
        measured_wrench: (N, 6) measured wrench [N, N m], world axes about the world origin; rows of NaN where nobody
            knows.
    """
    failing = [margin for margin in checks.margins if margin.failed.any()]
    measured = _MeasuredChecks.from_wrench(rig, motion, checks, options, measured_wrench)
    slides, tips, rolls = _sole_motion(rig, motion, checks)
    found = []
    for margin in failing:
        if margin.check.category == "touch":
            evidence = [(margin.failed, "tracking", PENETRATION)]
        elif _is_foot_placement(margin.check):
            flat = margin.failed & ~rolls
            most = (format_length(float(found[flat].max(initial=0.0))) for found in (slides, tips))
            far = "a sole that stands slides by up to {} and tips or sinks by up to {}".format(*most)
            evidence = [(~rolls, "tracking", far), (rolls, "person", SOLE_ROLLS)]
        elif margin.check.applies_when == "airborne":
            evidence = [(margin.failed, "tracking", UNSUPPORTED)]
        elif margin.check.depends_on == "force":
            evidence = measured.evidence(margin)
        else:
            evidence = [(margin.failed, "", LIMITS_UNCERTAIN)]
        found.append(_attribute(margin, evidence))
    return tuple(found)


def _is_foot_placement(check: Check) -> bool:
    """Whether it asks if feet stay where they are planted."""
    return check.category == "feet" and check.depends_on == "posture"


def _attribute(margin: Margin, evidence: list[tuple[np.ndarray, str, str]]) -> Attribution:
    """Masks (N,) of frames with whose doing they are, and why."""
    shares = {"tracking": 0.0, "person": 0.0, "": 0.0}
    because = []
    for frames, whose, why in evidence:
        share = float((frames & margin.failed).sum()) / float(margin.failed.sum())
        shares[whose] += share
        because += [why] * (share > MIN_FRACTION)
    return Attribution(margin.check, shares["tracking"], shares["person"], tuple(because))


@dataclass(frozen=True, slots=True)
class _MeasuredChecks:
    """What the measured forces say of the frames in which they are known.

    Attributes:
        known: (N,).
        checks: of the known frames with what was measured; None where nothing was.
        outside: (N,) the measured centre of pressure lies outside the soles.
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
        found = check_motion(
            rig, motion.frames(known), checks.schedule, options, measured_wrench=measured_wrench[known]
        )
        whole = replace(options, shrink=0.0, balance_reserve=0.0)
        phases, left = checks.schedule.index_at(motion.times[known]), np.full(len(found), np.inf)
        for number in np.unique(phases):
            polygon = PlantedPhase.from_phase(rig, checks.schedule.phases[number], whole).polygon
            if polygon is not None:
                own = phases == number
                left[own] = polygon.margin(found.zmp[own])
        outside[known] = left < -options.tolerance
        return _MeasuredChecks(known, found, outside)

    def evidence(self, margin: Margin) -> list[tuple[np.ndarray, str, str]]:
        """Of a check that depends on forces."""
        broken = np.zeros(len(self.known), bool)
        if self.checks is not None:
            broken[self.known] = self.checks.get_margin(margin.name).failed
        outside = broken & self.outside & (margin.check.category == "balance")
        return [
            (self.known & ~broken, "tracking", MOTION_ONLY),
            (outside, "tracking", ZMP_OUTSIDE),
            (broken & ~outside, "person", FORCE_CONFIRMED),
            (~self.known, "", NOT_MEASURED),
        ]


def _sole_motion(rig: Rig, motion: Motion, checks: Checks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far (N,) [m] planted soles slide, and tip or sink, the most of them, and where (N,) one of them rolls.

    Of a sole, the corner counts that slides least among those on the floor: one that rolls keeps some where they were.
    """
    phases = checks.schedule.phases
    names = list(dict.fromkeys(anchor.patch for phase in phases for anchor in phase.anchors))
    slides, tips, rolls = np.zeros(len(motion)), np.zeros(len(motion)), np.zeros(len(motion), bool)
    if not names:
        return slides, tips, rolls
    turns, places = link_poses(rig, motion, [rig.index(rig.patch(name).link) for name in names])
    corners = {
        name: place[:, None] + rig.patch(name).vertices @ turn.swapaxes(1, 2)
        for name, turn, place in zip(names, turns, places)
    }
    numbers = checks.schedule.index_at(motion.times)
    for number in np.unique(numbers):
        own = np.flatnonzero(numbers == number)
        for anchor in phases[number].anchors:
            moved = corners[anchor.patch][own] - anchor.points(rig)
            low = moved[:, :, 2] <= FLOOR_HEIGHT
            rolls[own] |= ~low.all(axis=1)
            along = np.where(low, np.linalg.norm(moved[:, :, :2], axis=2), np.inf).min(axis=1)
            slides[own] = np.maximum(slides[own], np.where(np.isfinite(along), along, 0.0))
            tips[own] = np.maximum(tips[own], np.abs(moved[:, :, 2]).max(axis=1))
    return slides, tips, rolls
