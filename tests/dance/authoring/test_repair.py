"""Repair of authored dances: least displacement, feet and fixed keys kept, every claim verified."""

from __future__ import annotations

import numpy as np
import pytest

from solver.contacts.schedule import Phase, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.authoring.displaced_trajectory import select_frames
from solver.dance.authoring.limbs_at_rest import rest_overlapping_limbs
from solver.dance.authoring.repair import FAILED, REPAIRED, UNCHANGED, RepairedDance, repair_dance
from solver.dynamics import difference
from solver.dynamics.coordinates import joint_coordinates
from solver.feasibility import CheckOptions, check_motion, coordinate_names
from solver.options.authoring import RepairOptions
from solver.rigs import hoap3
from solver.skeleton.rig import ROOT_NV, Rig
from solver.trajectory.curve import sample_times
from solver.trajectory.displacement import DisplacementProblem, Window
from solver.trajectory.planted_feet import PlantedTrajectory
from solver.trajectory.trajectory_limits import TrajectoryLimits
from solver.values.motion import Motion
from tests.pinocchio import pin

from ..example_dances import arm_swing, home, rotate_joints, shift_root

QUICK = RepairOptions(rate=25.0, spacing=0.12)


@pytest.fixture(scope="module")
def swing(person: Rig) -> tuple[AuthoredDance, RepairedDance]:
    """Arms swung so fast that the zero-moment point leaves the feet, and the repair."""
    keyed = arm_swing(person, 1.5, 0.4)
    return keyed, repair_dance(keyed, options=QUICK)


def _furthest(rig: Rig, a: np.ndarray, b: np.ndarray) -> float:
    return max(float(np.abs(difference(rig, x, y)).max()) for x, y in zip(a, b))


def extremes(rig: Rig, beat: float) -> AuthoredDance:
    """Three postures near the limits of a body at given times [s], from rest to rest; one has an arm in the trunk."""
    q, anchors = home(rig)
    postures = [
        {"right_upper_arm": (1, -1.2), "left_upper_arm": (0, 0.9), "torso": (1, 0.5)},
        {"right_upper_arm": (0, 0.5), "right_forearm": (0, -1.0), "torso": (0, 0.4)},
        {"torso": (1, -0.45), "left_upper_arm": (1, 1.0), "right_upper_arm": (1, 1.0)},
    ]
    keys = [Keyframe((k + 1) * beat, rotate_joints(rig, q, angles)) for k, angles in enumerate(postures)]
    keys = [Keyframe(0.0, q, "fixed"), *keys, Keyframe(4.0 * beat, q, "fixed")]
    return AuthoredDance(rig, tuple(keys), Schedule.constant(anchors, 0.0, 4.0 * beat))


def jerk(rig: Rig, motion: Motion) -> float:
    """Root mean square of joints' third derivatives [rad/s^3]."""
    third = np.diff(joint_coordinates(rig, motion.q), 3, axis=0) * motion.rate**3
    return float(np.sqrt((third**2).mean()))


def test_extremes_are_wholly_repaired(person: Rig) -> None:
    """An arm keyed 5 cm deep into the pelvis comes out: no check fails, and the jerk is about as keyed."""
    keyed = extremes(person, 0.8)
    result = repair_dance(keyed)
    assert result.status == REPAIRED
    assert jerk(person, result.motion) <= 1.5 * jerk(person, keyed.motion(result.motion.rate))


def test_the_second_guess_rests_the_overlapping_limb(person: Rig) -> None:
    """Only the limb that deeply overlaps the trunk is at rest during the overlap; fixed keys and other limbs stay."""
    keyed = extremes(person, 0.8)
    curve = keyed.curve()
    trajectory = PlantedTrajectory(person, curve, keyed.schedule, [(key.time, key.q) for key in keyed.keys])
    limits = TrajectoryLimits(trajectory, keyed.checks, 1.0)
    window = Window(0.0, 3.2, True, True, (0.0, 3.2))
    program = DisplacementProblem(trajectory, limits, window, 0.1, 50.0, np.ones(len(trajectory.free_columns)))
    times = sample_times(0.0, 3.2, 100.0)
    checks = check_motion(person, curve.motion(person, times), keyed.schedule, keyed.checks)
    begun = rest_overlapping_limbs(program, checks)
    assert begun is not None
    begins = program.displacement(begun)
    still = np.zeros((len(times), person.nv))
    added = begins.apply(times, (still, still, still))[0]
    arm = np.isin(coordinate_names(person), [n for n in coordinate_names(person) if n.startswith("right_")])
    assert np.abs(added[:, ROOT_NV:][:, arm]).max() > 0.5
    assert not added[:, ROOT_NV:][:, ~arm].any()
    assert np.abs(added[[0, -1]]).max() < 1e-9
    shallow = arm_swing(person, 0.3, 1.0)
    fine = check_motion(person, shallow.motion(100.0), shallow.schedule, shallow.checks)
    assert rest_overlapping_limbs(program, fine) is None


def test_frames_are_selected_from_a_motion_that_has_them(person: Rig) -> None:
    """At a fifth of its rate its own frames are returned; at a time between two frames, None."""
    motion = arm_swing(person, 1.0, 0.4).motion(500.0)
    shown = sample_times(motion.times[0], motion.times[-1], 100.0)
    found = select_frames(motion, shown)
    np.testing.assert_array_equal(found.q, motion.q[::5])
    np.testing.assert_array_equal(found.a, motion.a[::5])
    assert select_frames(motion, shown + 1e-4) is None


def test_a_feasible_dance_is_unchanged(person: Rig) -> None:
    """Repairing a feasible dance returns it unchanged."""
    keyed = arm_swing(person, 0.3, 1.0)
    result = repair_dance(keyed, options=QUICK)
    assert result.status == UNCHANGED
    assert result.moved.largest.max() == 0.0
    assert np.array_equal(result.motion.q, keyed.motion(100.0).q)


def test_repair_balances(swing: tuple[AuthoredDance, RepairedDance]) -> None:
    """A swing whose zero-moment point left the feet is feasible after the repair, at another sampling rate too."""
    keyed, result = swing
    assert result.before.get_margin("zmp").failed.any()
    assert result.status == REPAIRED
    assert result.feasible
    assert check_motion(keyed.rig, result.motion, keyed.schedule).feasible


def test_planted_feet_do_not_move(swing: tuple[AuthoredDance, RepairedDance]) -> None:
    """Soles stay within 0.1 mm of their anchors throughout."""
    _, result = swing
    assert result.after.get_margin("slip").values.min() > -1e-4
    assert result.after.get_margin("slip").values.min() > -1e-9  # in fact to rounding


def test_fixed_keys_stay(swing: tuple[AuthoredDance, RepairedDance]) -> None:
    """Fixed keys are kept to 1e-9; the others moved."""
    keyed, result = swing
    ends = result.motion.q[[0, -1]]
    assert _furthest(keyed.rig, ends, np.array([keyed.keys[0].q, keyed.keys[-1].q])) < 1e-9
    assert result.moved.largest.max() > 1e-3


def test_returned_motion_is_consistent(swing: tuple[AuthoredDance, RepairedDance]) -> None:
    """v and a of the repaired motion are the derivatives of its q and v."""
    keyed, _ = swing
    result = repair_dance(keyed, options=QUICK, rate=2000.0)
    motion, model = result.motion, keyed.rig.model
    step = motion.times[1] - motion.times[0]
    for frame in range(100, len(motion) - 1, 397):
        v = pin.difference(model, motion.q[frame - 1], motion.q[frame + 1]) / (2 * step)
        a = (motion.v[frame + 1] - motion.v[frame - 1]) / (2 * step)
        assert np.allclose(v, motion.v[frame], atol=2e-3)
        assert np.allclose(a, motion.a[frame], atol=0.02 * max(1.0, float(np.abs(motion.a).max())))


def test_sliding_feet_are_planted(person: Rig) -> None:
    """A key whose root was dragged together with the feet gets its feet back onto their anchors."""
    q, anchors = home(person)
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(1.0, shift_root(q, 0.03, 0.02)), Keyframe(2.0, q, "fixed"))
    keyed = AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 2.0))
    result = repair_dance(keyed, options=QUICK)
    assert result.before.get_margin("slip").failed.any()
    assert result.feasible


def test_an_infeasible_fixed_key_is_reported(person: Rig) -> None:
    """A fixed key with its feet off their anchors is reported with reason and amount, and kept."""
    q, anchors = home(person)
    off = shift_root(q, 0.05)
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(0.8, off, "fixed", "lunge"), Keyframe(1.6, q, "fixed"))
    result = repair_dance(
        AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 1.6)), options=RepairOptions(25.0, 0.2, 2, 1)
    )
    assert not result.feasible
    slips = [t for t in result.conflicts if t.failure.check.name == "slip"]
    assert slips
    assert slips[0].key.name == "lunge"
    assert slips[0].failure.margin == pytest.approx(-0.05, abs=1e-6)
    at = int(np.argmin(np.abs(result.motion.times - 0.8)))
    assert _furthest(person, result.motion.q[at][None], off[None]) < 1e-9


def test_stretched_legs_are_bent(person: Rig) -> None:
    """A dance keyed with straight legs that sways off balance is repaired: the root is lowered as far as necessary."""
    q, anchors = home(person)
    high = shift_root(q, 0.0, 0.0, 0.03)
    keys = tuple(
        Keyframe(t, k) for t, k in ((0.0, high), (1.0, rotate_joints(person, high, {"torso": (1, 0.3)})), (2.0, high))
    )
    result = repair_dance(AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 2.0)), options=QUICK)
    assert not result.before.feasible
    assert result.feasible


def test_lifting_a_foot_shifts_the_weight_first(person: Rig) -> None:
    """If a foot is keyed off the ground without a weight shift, the root moves over the other foot, which stays."""
    q, both = home(person)
    one = tuple(anchor for anchor in both if anchor.patch == "left_sole")
    up = rotate_joints(person, q, {"right_thigh": (1, -0.4), "right_shank": (0, 0.5)})
    schedule = Schedule((Phase(0.0, 1.1, both), Phase(1.1, 2.9, one), Phase(2.9, 4.0, both)))
    keys = [Keyframe(t, k) for t, k in ((0.0, q), (1.0, q), (2.0, up), (3.0, q), (4.0, q))]
    result = repair_dance(AuthoredDance(person, tuple(keys), schedule), options=QUICK)
    assert result.before.get_margin("zmp").failed.any()
    assert result.feasible
    assert result.motion.q[len(result.motion) // 2, 1] > q[1] + 0.02  # the left foot is on the side of y


def test_a_robot_leaning_too_far_is_balanced() -> None:
    """HOAP-3 bowing with its arms forward stays within a support polygon shrunk by 40 % after the repair."""
    rig = hoap3(torque="peak")
    q, anchors = home(rig)
    bow = rotate_joints(rig, q, {"right_shoulder": (0, -1.2), "left_shoulder": (0, -1.2), "chest": (0, 0.5)})
    keys = (Keyframe(0.0, q, "fixed"), Keyframe(2.5, bow), Keyframe(5.0, q, "fixed"))
    keyed = AuthoredDance(rig, keys, Schedule.constant(anchors, 0.0, 5.0))
    result = repair_dance(keyed, CheckOptions(shrink=0.4), RepairOptions(rate=12.5, spacing=0.3))
    assert not result.before.feasible
    assert result.feasible


def test_what_cannot_be_repaired_stays_as_given(person: Rig) -> None:
    """With fixed keys out of the legs' reach nothing better is found, and the dance is unchanged."""
    q, anchors = home(person)
    high = shift_root(q, 0.0, 0.0, 0.25)
    swung = rotate_joints(person, high, {"right_upper_arm": (1, -0.3)})
    keys = (Keyframe(0.0, high, "fixed"), Keyframe(0.4, swung, "fixed"), Keyframe(0.8, high, "fixed"))
    keyed = AuthoredDance(person, keys, Schedule.constant(anchors, 0.0, 0.8))
    result = repair_dance(keyed, options=QUICK)
    assert result.status == FAILED
    assert result.conflicts
    assert _furthest(person, result.motion.q, keyed.motion(100.0).q) < 1e-9
    assert result.after is result.before
    assert result.moved.largest.max() < 1e-12
