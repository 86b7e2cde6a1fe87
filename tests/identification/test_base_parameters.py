"""Base parameters: how many, which, and how well known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.dynamics import integrate, predicted_wrench, wrench_regressor
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_estimation import estimate_base, excited_base_parameters
from solver.identification.base_parameters import base_parameters, from_factor
from solver.identification.blocks import BlockOptions
from solver.rigs import hoap3, hrp2, human
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, InertialParameters
from solver.values.motion import Motion
from tests.random_motion import humanoid_rig, measured, mixed_rig, planar_pair, random_motion, random_trial

COUNTS = {
    "human, 34 DoF": (lambda: human(1.78, 70.0, "male"), 10 + 4 * 7 + 10 * 9),
    "human, 23 DoF": (lambda: human(1.62, 55.0, "female", variant="23dof"), 10 + 4 * 7 + 5 * 9 + 2 * 9),
    "HRP-2": (hrp2, 10 + 30 * 7),
    "HOAP-3": (hoap3, 10 + 21 * 7),
    "sample humanoid": (humanoid_rig, 10 + 28 * 7),
    "mixed": (mixed_rig, 10 + 4 * 7 + 9 + 4),
}


@pytest.mark.parametrize("name", COUNTS)
def test_number_of_base_parameters_follows_the_rule(name: str) -> None:
    """Ten for the base link, seven more for a revolute, nine for a spherical or universal, four for a prismatic one."""
    build, by_hand = COUNTS[name]
    rig = build()
    assert len(base_parameters(rig)) == by_hand


@pytest.mark.parametrize("name", COUNTS)
def test_independent_columns_span_the_regressor(name: str) -> None:
    """Y = Y_b K and Y phi = Y_b phi_b for motions other than the one the structure was computed from, at any
    base link."""
    rig = COUNTS[name][0]()
    base = base_parameters(rig)
    motion = random_motion(rig, 30, seed=5)
    for link in (0, len(rig.links) - 1):
        full = wrench_regressor(rig, motion, link)
        kept = full[:, :, base.independent]
        np.testing.assert_allclose(kept @ base.regrouping, full, rtol=0, atol=1e-11 * np.abs(full).max())
        np.testing.assert_allclose(
            kept @ base.project(rig.prior), predicted_wrench(rig, motion, rig.prior, link), rtol=0, atol=1e-8
        )
    np.testing.assert_array_equal(base.regrouping[:, base.independent], np.eye(len(base)))


def test_parameters_with_equal_base_parameters_give_equal_wrenches() -> None:
    """Moving along the null space of K changes every link and no wrench."""
    rig = mixed_rig()
    base = base_parameters(rig)
    null = np.linalg.svd(base.regrouping)[2][len(base) :]
    step = null.T @ np.random.default_rng(1).standard_normal(len(null))
    other = InertialParameters.from_vector(rig.links, rig.prior.vector + step)
    motion = random_motion(rig, 20)
    assert np.abs(other.values - rig.prior.values).max(axis=1).min() > 1e-3
    np.testing.assert_allclose(
        predicted_wrench(rig, motion, other), predicted_wrench(rig, motion, rig.prior), rtol=0, atol=1e-9
    )


def test_names_write_out_the_regrouping() -> None:
    """Two links with a hinge about z at x = 0.8 m: the sums are those computed by hand, as bonnet2016 (13)."""
    base = base_parameters(planar_pair(0.8))
    assert base.names == (
        "m_one + m_two",
        "hx_one + 0.8 m_two",
        "hy_one",
        "hz_one + hz_two",
        "Ixx_one + Iyy_two",
        "Ixy_one",
        "Iyy_one + 0.64 m_two + Iyy_two",
        "Ixz_one - 0.8 hz_two",
        "Iyz_one",
        "Izz_one + 0.64 m_two",
        "hx_two",
        "hy_two",
        "Ixx_two - Iyy_two",
        "Ixy_two",
        "Ixz_two",
        "Iyz_two",
        "Izz_two",
    )
    assert base.symbols[10] == "hx_two"
    assert [base.symbols[k] for k in base.link_indices("two", "static")] == ["hx_two", "hy_two"]
    assert len(base.link_indices("two", "dynamic")) == 5
    with pytest.raises(InvalidValue, match="three"):
        base.link_indices("three")


def test_the_first_base_parameter_is_the_total_mass() -> None:
    """Every mass is regrouped into the root's."""
    rig = humanoid_rig()
    assert base_parameters(rig).project(rig.prior)[0] == pytest.approx(rig.prior.total_mass, rel=1e-12)


def test_static_postures_determine_masses_and_first_moments_only() -> None:
    """At rest the data's base parameters are 4 for the base link, 2 more for a revolute, 3 for a spherical joint."""
    rig = mixed_rig()
    motion = random_motion(rig, 100, still=True)
    trial = Trial("still", motion, measured(rig, motion), np.ones(100, bool))
    base = excited_base_parameters(accumulate_regression(rig, [trial]))
    # a slider moves its link's mass along: its mass, but not its first moment, stands apart
    assert len(base) == 4 + 4 * 2 + 3 + 1
    assert base.static.all()


def test_a_joint_that_does_not_move_determines_less() -> None:
    """With one hinge locked, its link's parameters are regrouped into its parent's: seven fewer are determined."""
    rig = planar_pair(0.5)
    motion = random_motion(rig, 200)
    q, v, a = motion.q.copy(), motion.v.copy(), motion.a.copy()
    q[:, 7:], v[:, 6:], a[:, 6:] = [1.0, 0.0][: q.shape[1] - 7], 0.0, 0.0
    locked = Motion(motion.times, q, v, a)
    regression = accumulate_regression(
        rig, [Trial("locked", locked, measured(rig, locked, noise=0.1), np.ones(200, bool))]
    )
    assert len(regression.structure) == 17
    assert len(excited_base_parameters(regression)) == 10
    estimate = estimate_base(regression)
    np.testing.assert_allclose(estimate.values, estimate.base.project(rig.prior), atol=6 * estimate.std.max())


def test_white_noise_gives_the_predicted_std() -> None:
    """Over the base parameters, errors divided by their standard deviations have a root mean square near one."""
    rig = mixed_rig()
    scores, inflations = [], []
    for seed in range(8):
        regression = accumulate_regression(rig, [random_trial(rig, 3000, seed=seed, noise=0.5)])
        estimate = estimate_base(regression)
        scores.append((estimate.values - estimate.base.project(rig.prior)) / estimate.white_std)
        inflations.append(estimate.inflation)
        assert estimate.noise == pytest.approx(0.5, rel=0.05)
    assert np.sqrt(np.mean(np.square(scores))) == pytest.approx(1.0, abs=0.15)
    assert np.mean(inflations) == pytest.approx(1.0, abs=0.1)


def test_correlated_residuals_are_corrected() -> None:
    """Slowly varying residuals cause larger errors than white noise predicts; the corrected standard deviation covers
    them."""
    rig = mixed_rig()
    white, corrected = [], []
    for seed in range(6):
        motion = _slow_motion(rig, 6000, seed)
        generator = np.random.default_rng(seed)
        noise = _smooth(generator.standard_normal((6000, 6)), 40)
        trial = Trial("slow", motion, measured(rig, motion, noise=0.5 * noise), np.ones(6000, bool))
        estimate = estimate_base(accumulate_regression(rig, [trial], blocks=BlockOptions(seconds=0.8)))
        error = estimate.values - estimate.base.project(rig.prior)
        white.append(error / estimate.white_std)
        corrected.append(error / estimate.std)
    assert np.sqrt(np.mean(np.square(white))) > 2.5
    assert 0.6 < np.sqrt(np.mean(np.square(corrected))) < 1.6


def test_relative_std_separates_the_unknown() -> None:
    """Ten times the noise gives ten times the relative standard deviation, and fewer parameters pass the 10 % rule."""
    rig = mixed_rig()
    trial = random_trial(rig, 1000)
    noise = np.random.default_rng(3).standard_normal(trial.wrenches.values.shape)
    small, large = (
        estimate_base(
            accumulate_regression(
                rig, [replace(trial, wrenches=replace(trial.wrenches, values=trial.wrenches.values + s * noise))]
            )
        )
        for s in (0.05, 0.5)
    )
    ratio = large.white_std / small.white_std
    np.testing.assert_allclose(ratio, 10.0, rtol=1e-6)
    np.testing.assert_allclose(small.relative_std(False), small.white_std / np.abs(small.values), rtol=1e-12)
    assert 0 < large.well_known().sum() < small.well_known().sum()
    assert large.well_known(np.inf).all()


def test_too_few_equations_are_refused() -> None:
    """Base parameters need more equations than unknowns."""
    rig = mixed_rig()
    with pytest.raises(InvalidValue, match="too few"):
        estimate_base(accumulate_regression(rig, [random_trial(rig, 4, noise=0.1)]))


def test_a_zero_column_is_never_independent() -> None:
    """A parameter on which the wrench does not depend belongs to no base parameter."""
    rows = np.random.default_rng(0).standard_normal((40, 2 * PER_LINK))
    rows[:, [0, 7]] = 0.0
    rows[:, 12] = 2.0 * rows[:, 3] - rows[:, 5]
    base = from_factor(("a", "b"), rows, 1e-9)
    assert len(base) == 17
    assert not np.isin([0, 7, 12], base.independent).any()
    assert np.all(base.regrouping[:, [0, 7]] == 0.0)
    assert base.names[2] == "hz_a + 2 hy_b"


def _slow_motion(rig: Rig, frames: int, seed: int) -> Motion:
    """Smooth joint motion of about 1 Hz with its exact derivatives in the tangent space left random but smooth."""
    generator = np.random.default_rng(seed)
    states = _smooth(generator.standard_normal((frames, 3 * rig.nv)), 20)
    neutral = rig.neutral
    q, v, a = np.split(states, 3, axis=1)
    return Motion(0.01 * np.arange(frames), np.array([integrate(rig, neutral, x) for x in q]), 2 * v, 2 * a)


def _smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Moving average along time, scaled back to unit variance."""
    kernel = np.ones(width) / np.sqrt(width)
    return np.stack([np.convolve(column, kernel, mode="same") for column in values.T], axis=1)
