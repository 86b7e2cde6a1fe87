"""The accumulated regression represents every equation, however the recording was divided."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.dynamics import external_wrench, wrench_regressor
from solver.identification.accumulate import accumulate_regression
from solver.identification.blocks import BlockOptions
from solver.identification.equations import usable_axes
from solver.identification.regression import Regression
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.wrenches import Wrenches
from tests.identification.bodies import residuals
from tests.random_motion import measured, mixed_rig, part_of, random_motion, random_trial

WEIGHTS = np.array([1.0, 2.0, 0.5, 10.0, 3.0, 7.0])
NOISE = 0.3


def equations(rig: Rig, trials: list[Trial], base: int | str = 0, weights: np.ndarray = WEIGHTS) -> np.ndarray:
    """All weighted rows [Y f] (m, 10 L + 1), stacked directly."""
    parts = []
    for trial in trials:
        rows = wrench_regressor(rig, trial.motion, base)
        wrench = external_wrench(rig, trial.motion, trial.wrenches, base)
        parts.append((np.concatenate([rows, wrench[:, :, None]], axis=2) * weights[:, None])[trial.counted])
    return np.concatenate(parts).reshape(-1, parts[0].shape[2])


def gram(regression: Regression) -> np.ndarray:
    """[R c]'[R c] with the residual cost in the corner: equals [Y f]'[Y f] of all equations."""
    both = np.column_stack([regression.factor, regression.target])
    result = both.T @ both
    result[-1, -1] += regression.residual_cost
    return result


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("frames", [3, 9, 40, 700])
@pytest.mark.parametrize("base", [0, "end"])
def test_the_factor_represents_all_equations(frames: int, base: int | str) -> None:
    """R'R = Y'W'WY, R'c = Y'W'Wf and c'c + residual cost = f'W'Wf, with fewer rows than columns too; R is
    triangular."""
    rig = mixed_rig()
    trial = random_trial(rig, frames, noise=NOISE)
    regression = accumulate_regression(rig, [trial], base).with_weights(WEIGHTS)
    rows = equations(rig, [trial], base)
    assert_same(gram(regression), rows.T @ rows)
    np.testing.assert_array_equal(np.tril(regression.factor, -1), 0.0)
    assert regression.rows == len(rows)
    assert regression.frames == frames
    residual = rows[:, :-1] @ rig.prior.vector - rows[:, -1]
    assert regression.cost(rig.prior) == pytest.approx(residual @ residual, rel=1e-9)


def test_any_split_of_a_recording_gives_the_same_equations() -> None:
    """One trial, its pieces as a generator, and its pieces merged afterwards: the same factor."""
    rig = mixed_rig()
    trial = random_trial(rig, 400, noise=NOISE)
    whole = accumulate_regression(rig, [trial]).with_weights(WEIGHTS)
    cuts = [0, 1, 130, 131, 250, 400]
    pieces = [part_of(trial, a, b) for a, b in pairwise(cuts)]
    fed = accumulate_regression(rig, (piece for piece in pieces)).with_weights(WEIGHTS)
    merged = (
        accumulate_regression(rig, pieces[:2])
        .with_weights(WEIGHTS)
        .merge(accumulate_regression(rig, pieces[2:]).with_weights(WEIGHTS))
    )
    for other in (fed, merged):
        assert_same(gram(other), gram(whole))
        np.testing.assert_allclose(np.abs(other.factor), np.abs(whole.factor), atol=1e-8)
    assert [block.frames for block in fed.blocks] == [block.frames for block in whole.blocks] == [50] * 8


def test_blocks_stay_few_and_keep_every_equation() -> None:
    """More blocks than allowed are merged with neighbours in time; their sum is still the whole."""
    rig = mixed_rig()
    trials = [random_trial(rig, 60 + 20 * k, seed=k, noise=NOISE, name=f"trial {k}") for k in range(9)]
    regression = accumulate_regression(rig, trials, blocks=BlockOptions(seconds=0.05, max_blocks=16)).with_weights(
        WEIGHTS
    )
    rows = equations(rig, trials)
    assert 8 <= len(regression.blocks) <= 16
    assert_same(gram(regression), rows.T @ rows)
    assert sum(block.frames for block in regression.blocks) == regression.frames == sum(len(t.motion) for t in trials)
    assert regression.trials == tuple(trial.name for trial in trials)


def test_more_trials_than_blocks_share_blocks() -> None:
    """Forty short trials fit in ten blocks, each of neighbouring trials."""
    rig = mixed_rig()
    trials = [random_trial(rig, 5, seed=k, noise=NOISE, name=f"trial {k}") for k in range(40)]
    regression = accumulate_regression(rig, trials, blocks=BlockOptions(max_blocks=10)).with_weights(WEIGHTS)
    assert 4 <= len(regression.blocks) <= 10
    assert [name for block in regression.blocks for name in block.trials] == [trial.name for trial in trials]
    rows = equations(rig, trials)
    assert_same(gram(regression), rows.T @ rows)


def test_weights_can_change_afterwards() -> None:
    """Axes have weight one by default, the last weights apply, and twice the weights give four times the squares."""
    rig = mixed_rig()
    plain = accumulate_regression(rig, [random_trial(rig, 200, noise=NOISE)])
    weighted, doubled = plain.with_weights(WEIGHTS), plain.with_weights(2.0 * WEIGHTS)
    assert_same(gram(plain), gram(plain.with_weights(np.ones(6))))
    assert_same(gram(doubled), 4.0 * gram(weighted))
    assert_same(gram(doubled.with_weights(WEIGHTS)), gram(weighted))


def test_residuals_per_axis_are_known_without_the_recording() -> None:
    """Squares per axis of any parameters equal those of the residuals, so weights follow from the factors alone."""
    rig = mixed_rig()
    trial = random_trial(rig, 300, noise=NOISE)
    regression = accumulate_regression(rig, [trial]).with_weights(WEIGHTS)
    wrong = rig.prior.scaled(1.1 * rig.prior.total_mass)
    for parameters in (rig.prior, wrong):
        direct = residuals(rig, trial, parameters)
        np.testing.assert_allclose(regression.squared_residuals(parameters), np.sum(direct**2, axis=0), rtol=1e-8)
        spread = np.sqrt(np.mean(direct**2, axis=0))
        np.testing.assert_allclose(regression.axis_rmse(parameters), spread, rtol=1e-8)


def test_uncounted_frames_have_no_influence() -> None:
    """For any wrench in a frame that is not counted, even NaN, the equations are those of the other frames."""
    rig = mixed_rig()
    trial = random_trial(rig, 120, noise=NOISE)
    counted = np.ones(120, bool)
    counted[10:30] = counted[77] = False
    values = trial.wrenches.values.copy()
    values[10:20], values[20:30], values[77] = 1e6, np.nan, -1e6
    invalid = replace(trial, wrenches=replace(trial.wrenches, values=values), counted=counted)
    clean = replace(trial, counted=counted)
    regression = accumulate_regression(rig, [invalid]).with_weights(WEIGHTS)
    rows = equations(rig, [clean])
    assert_same(gram(regression), rows.T @ rows)
    assert regression.frames == 99
    assert np.isnan(residuals(rig, invalid, rig.prior)[~counted]).all()
    assert np.isfinite(residuals(rig, invalid, rig.prior)[counted]).all()


def test_unmeasured_moments_leave_the_forces() -> None:
    """Plates without moments give three force equations a frame in any base link's axes."""
    rig = mixed_rig()
    trial = random_trial(rig, 100, noise=NOISE)
    known = np.ones((100, 6), bool)
    known[:, 3:] = False
    forces_only = replace(trial, wrenches=replace(trial.wrenches, measured=known))
    regression = accumulate_regression(rig, [forces_only]).with_weights(WEIGHTS)
    rows = equations(rig, [trial], weights=WEIGHTS * [1, 1, 1, 0, 0, 0])
    assert_same(gram(regression), rows.T @ rows)
    assert regression.rows == 300
    np.testing.assert_array_equal(regression.axis_rows, [100, 100, 100, 0, 0, 0])
    assert np.isnan(regression.axis_rmse(rig.prior)[3:]).all()


def test_partly_measured_wrenches_need_world_axes() -> None:
    """A scale that measures only the vertical force gives one equation per frame in world axes, none in rotating
    axes."""
    rig = mixed_rig()
    trial = random_trial(rig, 20, noise=NOISE)
    known = np.zeros((20, 6), bool)
    known[:, 2] = True
    scale = replace(trial, wrenches=replace(trial.wrenches, measured=known))
    np.testing.assert_array_equal(usable_axes(scale, "world"), known)
    assert not usable_axes(scale, "link").any()
    assert accumulate_regression(rig, [scale], axes="world").rows == 20
    known[:, [1, 3]] = True  # the moment about x needs the forces along y and z
    known[:, 4] = True  # the one about y needs those along x and z
    plate = replace(trial, wrenches=replace(trial.wrenches, measured=known))
    np.testing.assert_array_equal(usable_axes(plate, "world")[0], [False, True, True, True, False, False])


def test_exact_measurements_give_back_the_base_parameters() -> None:
    """Without noise the least-squares solution has the true base parameters."""
    rig = mixed_rig()
    regression = accumulate_regression(rig, [random_trial(rig, 200)])
    phi, *_ = np.linalg.lstsq(regression.factor, regression.target, rcond=1e-10)
    truth = regression.structure.project(rig.prior)
    np.testing.assert_allclose(regression.structure.regrouping @ phi, truth, rtol=1e-9, atol=1e-9)


def test_columns_of_a_link_have_the_singular_values_of_the_regressors() -> None:
    """Those of the triangle equal those of the full W_b, for each kind of columns."""
    rig = mixed_rig()
    trial = random_trial(rig, 200, noise=NOISE)
    regression = accumulate_regression(rig, [trial]).with_weights(WEIGHTS)
    rows = equations(rig, [trial])
    for part in ("all", "static", "dynamic"):
        chosen = regression.structure.link_indices("ball", part)
        expected = np.linalg.svd(rows[:, regression.structure.independent[chosen]], compute_uv=False)
        found = np.linalg.svd(regression.base_triangle[:, chosen], compute_uv=False)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_memory_does_not_grow_with_time() -> None:
    """Peak memory over eight times the recording, in pieces, stays within a tenth."""
    rig = mixed_rig()
    motion = random_motion(rig, 500)
    wrenches = measured(rig, motion, noise=NOISE)

    def pieces(count: int) -> Iterator[Trial]:
        for k in range(count):
            times = motion.times + 5.0 * k
            wrench = Wrenches(times, wrenches.frames, wrenches.values)
            yield Trial("long", replace(motion, times=times), wrench, np.ones(len(times), bool))

    def peak(count: int) -> int:
        tracemalloc.start()
        accumulate_regression(rig, pieces(count), blocks=BlockOptions(seconds=0.5, max_blocks=16))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(24) < 1.1 * peak(3)


def test_invalid_regressions_are_refused() -> None:
    """No counted frame, weights from exact data, negative weights, and merging regressions of different rigs raise."""
    rig = mixed_rig()
    trial = random_trial(rig, 50)
    with pytest.raises(InvalidValue, match="no frame counts"):
        accumulate_regression(rig, [replace(trial, counted=np.zeros(50, bool))])
    regression = accumulate_regression(rig, [trial])
    with pytest.raises(InvalidValue, match="negative"):
        regression.with_weights(-WEIGHTS)
    with pytest.raises(InvalidValue, match="merged"):
        regression.merge(accumulate_regression(rig, [trial], base="end"))
