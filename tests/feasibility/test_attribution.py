"""Attribution of failed checks to tracking error or performer, on motions with known cause."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Schedule
from solver.contacts.support import support_polygon
from solver.feasibility import check_motion
from solver.feasibility.attribution import Attribution, attribute_failures
from solver.options.checks import CheckOptions
from solver.rigs import human
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from tests.dance.example_dances import arm_swing, rotate_joints

OPTIONS = CheckOptions(shrink=0.4, allowed_slip=0.002)


@pytest.fixture(scope="module")
def rig() -> Rig:
    """A person."""
    return human(1.7, 65.0, "female")


@pytest.fixture(scope="module")
def stance(rig: Rig) -> tuple[Motion, Schedule]:
    """A balanced posture held, and where its feet stand."""
    keyed = arm_swing(rig, 0.0, 0.5)
    return keyed.motion(50.0), keyed.schedule


def found(
    rig: Rig, motion: Motion, schedule: Schedule, pushed: np.ndarray | None = None, options: CheckOptions = OPTIONS
) -> dict[str, Attribution]:
    """Attributions by the name of their check."""
    checks = check_motion(rig, motion, schedule, options)
    return {cause.check.name: cause for cause in attribute_failures(rig, motion, checks, options, pushed)}


def needed(rig: Rig, motion: Motion, schedule: Schedule) -> np.ndarray:
    """The wrench that a motion needs: what plates would have measured of it."""
    return np.array(check_motion(rig, motion, schedule, OPTIONS).wrench)


def jerked(motion: Motion, acceleration: float) -> Motion:
    """The same poses with a horizontal acceleration [m/s^2] of the root that nobody made."""
    a = np.array(motion.a)
    a[:, 0] += acceleration
    return Motion(motion.times, motion.q, motion.v, a)


def test_nothing_fails_nothing_is_blamed(rig: Rig, stance: tuple[Motion, Schedule]) -> None:
    """A balanced stance has no culprit."""
    assert found(rig, *stance) == {}


def test_a_sole_that_slides_is_the_trackings(rig: Rig, stance: tuple[Motion, Schedule]) -> None:
    """Flat soles shifted by 1.5 cm."""
    motion, schedule = stance
    q = np.array(motion.q)
    q[:, 0] += np.linspace(0.0, 0.015, len(q))
    slip = found(rig, Motion(motion.times, q, motion.v, motion.a), schedule)["slip"]
    assert (slip.tracking, slip.performer) == (1.0, 0.0)
    assert "is up to 1.5 cm from where it stands or rolls" in str(slip)


def test_bodies_do_not_pass_through_each_other(rig: Rig, stance: tuple[Motion, Schedule]) -> None:
    """A hand inside a thigh is a tracking error."""
    motion, schedule = stance
    pose = rotate_joints(rig, motion.q[0], {"right_upper_arm": (0, 0.35)})
    still = np.zeros_like(motion.v)
    within = found(rig, Motion(motion.times, np.tile(pose, (len(motion), 1)), still, still), schedule)
    assert within["self-collision"].tracking == 1.0


def test_measured_forces_attribute_lost_balance(rig: Rig, stance: tuple[Motion, Schedule]) -> None:
    """Accelerations without measured force are tracking errors, with it the performer's; without plates, undecided."""
    motion, schedule = stance
    calm, fast = needed(rig, motion, schedule), jerked(motion, 1.2)
    blamed = found(rig, fast, schedule, calm)["zmp"]
    assert (blamed.tracking, blamed.performer) == (1.0, 0.0)
    assert "measured forces keep this limit" in str(blamed)
    measured = found(rig, fast, schedule, needed(rig, fast, schedule))["zmp"]
    assert (measured.tracking, measured.performer) == (0.0, 1.0)
    unknown = calm.copy()
    unknown[: len(calm) // 2] = np.nan
    half = found(rig, fast, schedule, unknown)["zmp"]
    assert half.tracking == pytest.approx(0.5, abs=0.02)
    assert half.performer == 0.0
    assert found(rig, fast, schedule)["zmp"].tracking == 0.0


@pytest.mark.parametrize(("beyond", "outside"), [(-0.5, 0.0), (0.5, 0.0), (2.0, 1.0)])
def test_a_centre_of_pressure_may_leave_the_soles_by_the_tolerance(
    rig: Rig, stance: tuple[Motion, Schedule], beyond: float, outside: float
) -> None:
    """At the border, plus or minus half the tolerance, the performer leans; at twice the tolerance plates are wrong."""
    motion, schedule = stance
    options = CheckOptions(shrink=0.4, allowed_slip=0.002, tolerance=5e-3)
    measured = needed(rig, motion, schedule)
    zmp = np.column_stack([-measured[:, 4], measured[:, 3]]) / measured[:, [2]]
    edge = support_polygon(rig, schedule.phases[0].anchors, 0.0).edge_distances(zmp)
    front = int(np.argmin(support_polygon(rig, schedule.phases[0].anchors, 0.0).normals[:, 0]))
    measured[:, 4] -= (edge[:, front] + beyond * options.tolerance) * measured[:, 2]
    attribution = found(rig, jerked(motion, 1.2), schedule, measured, options)["zmp"]
    assert (attribution.tracking, attribution.performer) == (outside, 1.0 - outside)
    assert ("outside the soles" in str(attribution)) == bool(outside)


def test_a_body_in_the_air_falls(rig: Rig, stance: tuple[Motion, Schedule]) -> None:
    """One that hangs there was not tracked well, or stands."""
    motion, schedule = stance
    hanging = Schedule.constant((), schedule.start, schedule.stop)
    assert found(rig, motion, hanging, np.zeros((len(motion), 6)))["flight"].tracking == 1.0
