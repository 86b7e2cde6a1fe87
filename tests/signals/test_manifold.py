"""Laws of filtered motion and its derivatives on the configuration manifold."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.base.so3 import exp as exp_so3
from solver.dynamics import difference, integrate
from solver.rigs import human
from solver.signals import PRESETS, FilterPreset, smooth_motion
from solver.skeleton.rig import Rig
from tests.pinocchio import pin
from tests.random_motion import joint, rig_of

HUMAN = PRESETS["human_8hz"]
ROOT_LINEAR = slice(0, 3)


def _rig() -> Rig:
    """A free flyer with a spherical, a skew revolute, a prismatic and a continuous joint."""
    generator = np.random.default_rng(3)
    kinds: tuple[tuple[str, object], ...] = (
        ("spherical", []),
        ("revolute", [[0.6, 0.0, 0.8]]),
        ("prismatic", [[1.0, 0.0, 0.0]]),
        ("continuous", [[0.0, 0.0, 1.0]]),
    )
    chain = [joint("free", -1, "joint 0")]
    for number, (kind, axes) in enumerate(kinds):
        turn = exp_so3(generator.standard_normal(3))
        chain.append(joint(kind, number, f"joint {number + 1}", axes=axes, position=np.ones(3), rotation=turn))
    return rig_of(chain)


RIG = _rig()


def swing(times: np.ndarray) -> np.ndarray:
    """A smooth motion (N, nq) at about 1 Hz with large rotations, not periodic."""
    generator = np.random.default_rng(4)
    amplitude, phase = generator.uniform(0.3, 0.9, RIG.nv), generator.uniform(0, 6, RIG.nv)
    steps = amplitude * np.sin(2 * np.pi * np.linspace(0.5, 1.1, RIG.nv) * times[:, None] + phase)
    start = integrate(RIG, RIG.neutral, generator.standard_normal(RIG.nv))
    return np.array([integrate(RIG, start, step) for step in steps])


def constant(times: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Constant velocity of every joint, the root turning in place."""
    start = integrate(RIG, RIG.neutral, np.random.default_rng(5).standard_normal(RIG.nv))
    return np.array([integrate(RIG, start, velocity * t) for t in times])


@pytest.mark.parametrize("preset", [None, *PRESETS.values()], ids=lambda p: p.name if p else "none")
def test_constant_velocity_is_exact(preset: FilterPreset | None) -> None:
    """Constant velocity is found exactly, without acceleration, up to the trial's ends and with any filter."""
    velocity = 3.0 * np.random.default_rng(6).standard_normal(RIG.nv)
    velocity[ROOT_LINEAR] = 0.0
    motion = smooth_motion(RIG, times := np.arange(150) / 100.0, constant(times, velocity), preset)
    assert np.allclose(motion.v, velocity, atol=1e-4)
    assert np.allclose(motion.a, 0.0, atol=1e-2)
    inside = slice(40, 110)
    assert np.allclose(motion.v[inside], velocity, atol=1e-7)
    assert np.allclose(motion.a[inside], 0.0, atol=1e-5)


def test_v_is_the_velocity_and_a_its_derivative() -> None:
    """v agrees with Pinocchio's difference of neighbouring q, and a with that of v, to the order of the differences."""
    errors = []
    for rate in (100.0, 200.0):
        times = np.arange(int(2 * rate)) / rate
        motion = smooth_motion(RIG, times, swing(times), HUMAN)
        edge = int(0.2 * rate)
        middle = range(edge, len(times) - edge)
        v = [difference(RIG, motion.q[k - 1], motion.q[k + 1]) * rate / 2 for k in middle]
        a = [(motion.v[k + 1] - motion.v[k - 1]) * rate / 2 for k in middle]
        v_error, a_error = v - motion.v[edge:-edge], a - motion.a[edge:-edge]
        errors.append((np.abs(v_error).max() / np.abs(v).max(), np.abs(a_error).max() / np.abs(a).max()))
    coarse, fine = np.array(errors)
    assert np.all(fine < 2e-3)
    assert np.all(coarse / fine > 3.5)  # second order in the step of the differences


def test_derivatives_converge_at_fourth_order_or_better() -> None:
    """Halving the step divides the error of a at least by 12 (quintic spline: fourth order in the acceleration)."""
    reference = 1600.0
    errors = []
    for rate in (25.0, 50.0):
        times = np.arange(int(4 * rate) + 1) / rate
        fine = np.arange(int(4 * reference) + 1) / reference
        coarse_a = smooth_motion(RIG, times, swing(times), None).a
        fine_a = smooth_motion(RIG, fine, swing(fine), None).a[:: int(reference / rate)]
        middle = slice(int(rate), int(3 * rate))
        errors.append(np.abs(coarse_a - fine_a)[middle].max())
    assert errors[0] / errors[1] > 12.0


def test_turning_and_moving_the_world_changes_nothing_but_the_root() -> None:
    """Under a rigid transformation of the world body velocities stay, and the root's pose is transformed."""
    times = np.arange(200) / 100.0
    q = swing(times) + 0.0
    world = pin.SE3(exp_so3(np.array([1.0, -2.0, 0.5])), np.array([3.0, 1.0, -2.0]))
    moved = q.copy()
    moved[:, :7] = [pin.SE3ToXYZQUAT(world * pin.XYZQUATToSE3(row)) for row in q[:, :7]]
    plain, turned = (smooth_motion(RIG, times, table, HUMAN) for table in (q, moved))
    assert np.allclose(turned.v, plain.v, atol=1e-9)
    assert np.allclose(turned.a, plain.a, atol=1e-6)
    back = [pin.SE3ToXYZQUAT(world * pin.XYZQUATToSE3(row)) for row in plain.q[:, :7]]
    assert np.allclose(
        [pin.XYZQUATToSE3(r).homogeneous for r in back], [pin.XYZQUATToSE3(r).homogeneous for r in turned.q[:, :7]]
    )


def test_frames_fixed_on_the_base_move_rigidly() -> None:
    """Velocities of a frame fixed on the base are the base's, transformed, for motion below the cut-off."""
    times = np.arange(300) / 100.0
    q, offset = swing(times), pin.SE3(exp_so3(np.array([0.2, 0.9, -1.1])), np.array([0.1, -0.2, 0.3]))
    other = q.copy()
    other[:, :7] = [pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(row) * offset) for row in q[:, :7]]
    plain, moved = (smooth_motion(RIG, times, table, None) for table in (q, other))
    carried = plain.v[:, :6] @ offset.inverse().action.T
    assert np.allclose(moved.v[20:-20, :6], carried[20:-20], atol=1e-5)
    plain, moved = (smooth_motion(RIG, times, table, HUMAN) for table in (q, other))
    carried = plain.v[:, :6] @ offset.inverse().action.T
    assert np.allclose(moved.v[40:-40, :6], carried[40:-40], atol=0.02)


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    """q and -q are one rotation, so random signs do not change the result."""
    times = np.arange(120) / 100.0
    q = swing(times)
    flipped = q.copy()
    flipped[np.random.default_rng(7).random(120) < 0.5, 3:7] *= -1.0
    plain, other = (smooth_motion(RIG, times, table, HUMAN) for table in (q, flipped))
    assert np.allclose(plain.v, other.v)
    assert np.allclose(np.abs(np.einsum("ij,ij->i", plain.q[:, 3:7], other.q[:, 3:7])), 1.0)


@pytest.mark.parametrize("early", [0.0, 1e-3])
def test_fast_motion_with_lost_samples_is_preserved(early: float) -> None:
    """If a live stream loses samples or restarts its clock, rotations stay rotations and velocities keep their size."""
    times = np.arange(300) / 100.0
    q = swing(times)
    generator = np.random.default_rng(8)
    q = np.array([integrate(RIG, row, 0.05 * generator.standard_normal(RIG.nv)) for row in q])
    kept = np.ones(300, bool)
    for start, count in ((60, 2), (100, 9), (150, 40), (203, 5)):
        kept[start : start + count] = False
    times, q = times[kept], q[kept]
    stamps = times - (times >= 2.5) * (0.01 - early if early else 0.0)
    motion = smooth_motion(RIG, stamps, q, HUMAN)
    assert np.allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, atol=1e-9)
    shown = smooth_motion(RIG, np.arange(300) / 100.0, swing(np.arange(300) / 100.0), HUMAN)
    assert np.abs(motion.v).max() < 3.0 * np.abs(shown.v).max()


def test_rounded_and_uneven_stamps_give_the_same_motion() -> None:
    """Stamps rounded to 0.1 ms, or with frames dropped, still give the true velocities."""
    exact = np.arange(300) / 240.0
    truth = smooth_motion(RIG, exact, swing(exact), HUMAN)
    rounded = smooth_motion(RIG, np.round(exact, 4), swing(exact), HUMAN)
    assert np.allclose(rounded.v, truth.v, rtol=1e-3, atol=1e-3)
    dropped = np.delete(exact, [60, 61, 150])
    uneven = smooth_motion(RIG, dropped, swing(dropped), HUMAN)
    assert len(uneven) == len(exact)
    assert np.allclose(uneven.v[30:-30], truth.v[30:-30], atol=0.01)


def test_gaps_are_bridged_and_a_long_one_has_no_effect_far_away() -> None:
    """A gap of 50 ms is bridged; one of 500 ms does not affect frames 0.4 s away."""
    times = np.arange(400) / 100.0
    q = swing(times)
    truth = smooth_motion(RIG, times, q, HUMAN)
    short, long = q.copy(), q.copy()
    short[200:205, 5] = np.nan
    long[200:250] = np.nan
    assert np.allclose(smooth_motion(RIG, times, short, HUMAN).v, truth.v, atol=0.02)
    filled = smooth_motion(RIG, times, long, HUMAN)
    assert np.allclose(filled.v[:160], truth.v[:160], atol=0.02)
    assert np.allclose(filled.v[290:], truth.v[290:], atol=0.02)
    assert np.allclose(np.linalg.norm(filled.q[:, 3:7], axis=1), 1.0)


def test_noise_above_the_cutoff_is_removed() -> None:
    """Of 30 Hz noise of 0.01 rad, hundreds of rad/s^2 when differentiated, less than 1 % remains."""
    times = np.arange(300) / 100.0
    noise = 0.01 * np.sin(2 * np.pi * 30.0 * times)[:, None] * np.ones(RIG.nv)
    noisy = np.array([integrate(RIG, row, step) for row, step in zip(swing(times), noise)])
    clean, smooth, raw = (
        smooth_motion(RIG, times, *args) for args in ((swing(times), HUMAN), (noisy, HUMAN), (noisy, None))
    )
    inside = slice(40, -40)
    assert np.abs(raw.a - clean.a)[inside].max() > 100.0
    assert np.abs(smooth.a - clean.a)[inside].max() < 1.5


@pytest.mark.parametrize(("change", "match"), [("shape", "shape"), ("unit", "norm"), ("empty", "two complete frames")])
def test_bad_motion_is_refused(change: str, match: str) -> None:
    """Wrong width, quaternions that are not unit and a motion of gaps only have their own error messages."""
    times = np.arange(50) / 100.0
    q = swing(times)
    if change == "shape":
        q = q[:, :-1]
    elif change == "unit":
        q[20, 3:7] *= 1.5
    else:
        q[1:] = np.nan
    with pytest.raises(InvalidValue, match=match):
        smooth_motion(RIG, times, q, HUMAN)


def test_a_universal_joint_is_its_two_angles() -> None:
    """Velocities and accelerations of a universal joint are the derivatives of its angles."""
    rig = human(1.75, 70.0, "female", trunk="three")
    link = rig.index("abdomen")
    place, move = rig.q_slices[link].start, rig.v_slices[link].start
    times = np.arange(200) / 100.0
    q = np.tile(rig.neutral, (len(times), 1))
    q[:, place], q[:, place + 1] = 0.3 * np.sin(3.0 * times), 0.2 * np.cos(2.0 * times)
    motion = smooth_motion(rig, times, q, None)
    inner = slice(20, -20)
    np.testing.assert_allclose(motion.v[inner, move], 0.9 * np.cos(3.0 * times)[inner], atol=1e-5)
    np.testing.assert_allclose(motion.a[inner, move + 1], -0.8 * np.cos(2.0 * times)[inner], atol=1e-3)
