"""Laws of the results of checks, on random margins: each summary is what its definition says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.feasibility import Checks, check_motion
from solver.feasibility.check_definition import NearMargins
from solver.feasibility.check_results import Margin
from solver.rigs import hoap3
from tests.dance.static_motions import standing_schedule, static_motion

FRAMES, ITEMS = 40, 5
RIG = hoap3()
ONE = check_motion(RIG, static_motion(RIG, RIG.neutral), standing_schedule(RIG))


def margin(seed: int, scale: float, tolerance: float, share: float) -> Margin:
    """Random margins of a check, of which about a share of the frames fails."""
    values = scale * (np.random.default_rng(seed).uniform(0.0, 1.0, (FRAMES, ITEMS)) - share / ITEMS)
    return Margin(
        ONE.margins[seed].check, tuple(f"item {k}" for k in range(ITEMS)),
        tuple((f"link {seed}{k}", f"link {k}") for k in range(ITEMS)), (values[:13], values[13:]), scale, tolerance,
    )  # fmt: skip


MARGINS = (margin(0, 0.01, 1e-4, 0.3), margin(1, 2.0, 0.1, 0.5), margin(2, 1.0, 1e-4, 0.0))


def checks(margins: tuple[Margin, ...] = MARGINS) -> Checks:
    arrays = {
        name: np.repeat(getattr(ONE, name)[:1], FRAMES, axis=0)
        for name in ("loaded", "zmp", "com", "wrench", "foot_wrenches", "torques")
    }
    return replace(ONE, times=0.02 * np.arange(FRAMES), margins=margins, **arrays)  # type: ignore[arg-type]


@pytest.mark.parametrize("own", MARGINS)
def test_a_margin_is_summarised_by_its_definitions(own: Margin) -> None:
    """Smallest values, failures beyond the tolerance, their sum, and the worst item of each frame."""
    values = own.values
    np.testing.assert_array_equal(own.smallest, values.min(axis=1))
    np.testing.assert_array_equal(own.failed, (values < -own.tolerance).any(axis=1))
    np.testing.assert_allclose(own.relative_margin * own.scale - own.tolerance, own.smallest, atol=1e-12)
    np.testing.assert_array_equal(values[np.arange(FRAMES), own.worst_items], own.smallest)
    beyond = -(values + own.tolerance)
    assert own.total_violation == pytest.approx(beyond[beyond > 0.0].sum())
    for frame in range(FRAMES):
        worst = own.worst(frame, 1.5)
        assert (worst.margin, worst.time, worst.frame) == (own.smallest[frame], 1.5, frame)
        assert worst.item == f"item {own.worst_items[frame]}"
        assert worst.failed == own.failed[frame]


def test_margins_of_near_items_are_those_of_all_items() -> None:
    """Pieces that hold near items only are expanded by the far margin, each item in its own column."""
    whole = np.full((FRAMES, ITEMS), 0.3)
    near = {0: (1, 3), 20: (0, 3, 4)}
    pieces = []
    for first, columns in near.items():
        values = np.random.default_rng(first).uniform(-0.1, 0.2, (20, len(columns)))
        whole[first : first + 20, columns] = values
        pieces.append(NearMargins(np.array(columns), values, 0.3))
    plain = replace(MARGINS[0], pieces=(whole,))
    found = Margin(
        plain.check, plain.items, plain.links, tuple(pieces), plain.scale, plain.tolerance, 0.3, tuple(range(ITEMS))
    )
    assert found.total_violation == pytest.approx(plain.total_violation)
    np.testing.assert_array_equal(found.smallest, plain.smallest)
    np.testing.assert_array_equal(found.values, whole)
    assert found.total_violation == pytest.approx(plain.total_violation)


def test_a_margin_without_a_value_is_an_error() -> None:
    """NaN, which would count as satisfied, is reported with its item and frame."""
    values = np.ones((FRAMES, ITEMS))
    values[7, 2] = np.nan
    with pytest.raises(InvalidValue, match="'item 2' is NaN in frame 7"):
        replace(MARGINS[0], pieces=(values,))
    with pytest.raises(InvalidValue, match="5 items and links for 4"):
        replace(MARGINS[0], links=MARGINS[0].links[:-1])


def test_checks_are_summarised_by_their_definitions() -> None:
    """Failing frames and their intervals, relative margins, and the worst and first failures of each check."""
    found = checks()
    failed = np.array([own.failed for own in MARGINS])
    assert failed[:2].any(axis=1).all()
    assert not failed[2].any()
    assert not failed.all(axis=1).any()
    np.testing.assert_array_equal(found.failed, failed.any(axis=0))
    assert not found.feasible
    assert checks(MARGINS[2:]).feasible
    covered = np.zeros(FRAMES, int)
    for start, stop in found.failed_ranges:
        covered[start:stop] += 1
        assert start == 0 or not found.failed[start - 1]
        assert stop == FRAMES or not found.failed[stop]
    np.testing.assert_array_equal(covered, found.failed.astype(int))
    relative = np.array([own.relative_margin for own in MARGINS])
    np.testing.assert_array_equal(found.relative_margin, relative.min(axis=0))
    for frame in range(FRAMES):
        own = MARGINS[int(relative[:, frame].argmin())]
        worst = found.worst(frame)
        assert (worst.check, worst.margin) == (own.check, own.smallest[frame])
        assert worst.time == pytest.approx(0.02 * frame)
    first = [(int(np.argmax(rows)), MARGINS[k].check) for k, rows in enumerate(failed) if rows.any()]
    assert [(one.frame, one.check) for one in found.first_failures] == sorted(first, key=lambda pair: pair[0])
    late = np.arange(FRAMES) >= 20
    assert all(one.frame >= 20 and one.failed for one in found.find_first_failures(late))
    assert not found.find_first_failures(np.zeros(FRAMES, bool))
    worst_failures = found.worst_failures
    assert [one.margin for one in worst_failures] == [
        own.smallest.min() for own in sorted(MARGINS[:2], key=lambda own: own.smallest.min() / own.scale)
    ]
