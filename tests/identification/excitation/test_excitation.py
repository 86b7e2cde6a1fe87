"""Excitation measures: bonnet2016 (12), and expected standard deviations."""

from __future__ import annotations

import numpy as np
import pytest

from solver.dynamics import predicted_wrench, wrench_regressor
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import Excitation, base_regressor
from solver.identification.excitation.gram_matrices import GramMatrices
from solver.values.motion import Motion
from tests.random_motion import mixed_rig, random_motion

NOISE = np.array([2.0, 2.0, 2.0, 1.0, 1.0, 1.0])


def test_base_rows_give_the_whole_wrench() -> None:
    """W_b phi_b is the wrench that inverse dynamics predicts, and W_b the independent columns of the regressor."""
    rig = mixed_rig()
    structure, motion = base_parameters(rig), random_motion(rig, 20)
    rows = base_regressor(rig, motion, structure)
    np.testing.assert_allclose(rows @ structure.project(rig.prior), predicted_wrench(rig, motion, rig.prior), atol=1e-9)
    np.testing.assert_allclose(rows, wrench_regressor(rig, motion)[:, :, structure.independent], atol=1e-12)


def test_history_as_a_triangle_equals_stacked_rows() -> None:
    """Motions appended one by one, or merged, give the measures of all rows stacked."""
    rig = mixed_rig()
    structure = base_parameters(rig)
    motions = [random_motion(rig, 30, seed) for seed in range(3)]
    stacked = np.concatenate([base_regressor(rig, m, structure).reshape(-1, len(structure)) for m in motions])
    nothing = Excitation.before_motion(structure)
    first, second, third = (nothing.with_motion(rig, motion) for motion in motions)
    folded, joined = first.with_motion(rig, motions[1]).with_motion(rig, motions[2]), first.merge([second, third])
    for found in (folded, joined):
        assert found.frames == 90
        assert found.total_condition == pytest.approx(np.linalg.cond(stacked), rel=1e-8)
        links = found.link_conditions("dynamic")
        for link, value in zip(structure.links, links):
            columns = structure.link_indices(link, "dynamic")
            if len(columns):
                assert value == pytest.approx(np.linalg.cond(stacked[:, columns]), rel=1e-8)


def test_predicted_deviations_are_those_of_repeated_identifications() -> None:
    """Identifications from many noisy copies of the wrenches have the predicted standard deviations."""
    rig = mixed_rig()
    structure, motion = base_parameters(rig), random_motion(rig, 80)
    rows = base_regressor(rig, motion, structure)
    truth = structure.project(rig.prior)
    generator = np.random.default_rng(3)
    weighted = (rows / NOISE[:, None]).reshape(-1, len(structure))
    clean = (rows @ truth / NOISE).reshape(-1, 1)
    noisy = clean + generator.standard_normal((len(clean), 2000))
    estimates = np.linalg.lstsq(weighted, noisy, rcond=None)[0]
    found = Excitation.before_motion(structure, NOISE).with_motion(rig, motion)
    ratio = estimates.std(axis=1) / found.deviations()
    assert np.all(np.abs(ratio - 1.0) < 0.1)


def test_twice_the_frames_halve_the_variance() -> None:
    """The same motion twice divides every variance by two."""
    rig = mixed_rig()
    structure, motion = base_parameters(rig), random_motion(rig, 60)
    once = Excitation.before_motion(structure, NOISE).with_motion(rig, motion)
    twice = once.with_motion(rig, motion)
    np.testing.assert_allclose(twice.deviations() ** 2, 0.5 * once.deviations() ** 2, rtol=1e-6)


def test_unexcited_parameters_are_infinite_not_wrong() -> None:
    """Standing still determines static parameters at most: inertias have infinite deviation and condition."""
    rig = mixed_rig()
    structure = base_parameters(rig)
    still = random_motion(rig, 100, still=True)
    found = Excitation.before_motion(structure).with_motion(rig, still)
    assert np.isinf(found.total_condition)
    moved = Excitation.before_motion(structure).with_motion(rig, random_motion(rig, 100))
    assert np.isfinite(moved.total_condition)
    assert np.isinf(found.deviations()[~structure.static]).all()
    assert np.isfinite(found.deviations()[structure.static]).any()
    assert np.isfinite(found.relative_deviations(rig.prior)[structure.independent == 0]).all()


def test_small_gram_matrices_agree_with_singular_values() -> None:
    """The fast criterion of many candidates equals the slow one of each."""
    rig = mixed_rig()
    structure = base_parameters(rig)
    motions = [random_motion(rig, 40, seed) for seed in range(4)]
    for part in ("static", "dynamic", "all"):
        objective = GramMatrices(structure, rig.masses, part)
        together = Motion(
            np.arange(160.0), *(np.concatenate([getattr(m, n) for m in motions]) for n in ("q", "v", "a"))
        )
        matrices = objective.motion_matrices(rig, together, 4)
        for gram, motion in zip(matrices, motions):
            found = Excitation.before_motion(structure).with_motion(rig, motion)
            criterion = np.nansum(rig.masses * found.link_conditions(part))
            assert float(objective.value(gram)) == pytest.approx(criterion, rel=1e-6)
