"""Stances by what plates felt, and by the motion where none did."""

from __future__ import annotations

import numpy as np
import pytest

from solver.arrays import true_runs
from solver.contacts.plate_contacts import stances_by_force
from solver.wrenches import Wrenches

TIMES = np.arange(0.0, 3.0, 0.01)
SOLES = {
    "right": np.tile([[-0.1, -0.1, 0.0], [0.15, -0.1, 0.0]], (len(TIMES), 1, 1)),
    "left": np.tile([[-0.1, 0.1, 0.0], [0.15, 0.1, 0.0]], (len(TIMES), 1, 1)),
}


def pressed(spans: dict[str, list[tuple[float, float, float, float]]]) -> Wrenches:
    """Plates that are pushed by 300 N at (x, y) [m] from one time to another."""
    clock = np.arange(0.0, 3.0, 0.002)
    values = np.zeros((len(clock), len(spans), 6))
    for plate, own in enumerate(spans.values()):
        for start, stop, x, y in own:
            now = (clock >= start) & (clock < stop)
            values[now, plate] = [0.0, 0.0, 300.0, 300.0 * y, -300.0 * x, 0.0]
    return Wrenches(clock, tuple(spans), values)


def spans(stands: np.ndarray) -> list[float]:
    """First and last time of each stance."""
    return [float(TIMES[k]) for a, b in true_runs(stands) for k in (a, b - 1)]


def test_a_stance_lasts_as_long_as_a_plate_felt_it() -> None:
    """The foot over the pressed place stands from the first to the last push; else as the motion tells."""
    moving = {
        "right": (TIMES > 0.5) & (TIMES < 1.0) | (TIMES > 2.0) & (TIMES < 2.5),
        "left": (TIMES > 1.1) & (TIMES < 1.6),
    }
    found, felt = stances_by_force(TIMES, SOLES, moving, pressed({"one": [(0.4, 1.1, 0.0, -0.1)]}))
    assert spans(found["right"]) == pytest.approx([0.4, 1.09, 2.01, 2.49], abs=0.011)
    assert (found["left"] == moving["left"]).all()
    assert spans(felt["right"]) == pytest.approx([0.4, 1.09], abs=0.011)
    assert not felt["left"].any()


def test_a_plate_under_both_feet_carries_both_and_one_far_away_neither() -> None:
    """Pressed between the soles, both that stand are meant; pressed a metre away, somebody else stands there."""
    moving = dict.fromkeys(SOLES, (TIMES > 0.5) & (TIMES < 1.0))
    found, felt = stances_by_force(
        TIMES, SOLES, moving, pressed({"one": [(0.4, 1.1, 0.0, 0.0)], "far": [(2.0, 2.5, 1.5, 0.0)]})
    )
    for side in SOLES:
        assert spans(found[side]) == pytest.approx([0.4, 1.09], abs=0.011)
        assert (felt[side] == found[side]).all()


def test_who_steps_off_a_plate_still_stands() -> None:
    """A plate that is switched off in the middle tells nothing of later."""
    moving = {"right": TIMES > 0.5, "left": np.zeros(len(TIMES), bool)}
    whole = pressed({"one": [(0.45, 3.0, 0.0, -0.1)]})
    found, _ = stances_by_force(TIMES, SOLES, moving, whole.part(0, 500))
    assert spans(found["right"]) == pytest.approx([0.45, 2.99], abs=0.011)
