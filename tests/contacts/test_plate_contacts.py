"""Laws of stances found from force plates, and from the motion where no plate measures them."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.arrays import true_runs
from solver.contacts.contact_detection import stances_by_force
from solver.values.wrenches import Wrenches

TIMES = np.arange(0.0, 3.0, 0.01)
SOLES = {
    "right": np.tile([[-0.1, -0.1, 0.0], [0.15, -0.1, 0.0]], (len(TIMES), 1, 1)),
    "left": np.tile([[-0.1, 0.1, 0.0], [0.15, 0.1, 0.0]], (len(TIMES), 1, 1)),
}


def plate_wrenches(spans: dict[str, list[tuple[float, float, float, float]]]) -> Wrenches:
    """Plates loaded by 300 N at (x, y) [m] from one time to another: (start, stop, x, y)."""
    clock = np.arange(0.0, 3.0, 0.002)
    values = np.zeros((len(clock), len(spans), 6))
    for plate, own in enumerate(spans.values()):
        for start, stop, x, y in own:
            now = (clock >= start) & (clock < stop)
            values[now, plate] = [0.0, 0.0, 300.0, 300.0 * y, -300.0 * x, 0.0]
    return Wrenches(clock, tuple(spans), values)


def spans(stances: np.ndarray) -> list[float]:
    """First and last time of each stance."""
    return [float(TIMES[k]) for a, b in true_runs(stances) for k in (a, b - 1)]


def test_a_stance_lasts_as_long_as_its_plate_is_loaded() -> None:
    """The foot over the centre of pressure is in stance while the plate is loaded; elsewhere the motion decides."""
    moving = {
        "right": (TIMES > 0.5) & (TIMES < 1.0) | (TIMES > 2.0) & (TIMES < 2.5),
        "left": (TIMES > 1.1) & (TIMES < 1.6),
    }
    found, measured = stances_by_force(TIMES, SOLES, moving, plate_wrenches({"one": [(0.4, 1.1, 0.0, -0.1)]}))
    assert spans(found["right"]) == pytest.approx([0.4, 1.09, 2.01, 2.49], abs=0.011)
    assert (found["left"] == moving["left"]).all()
    assert spans(measured["right"]) == pytest.approx([0.4, 1.09], abs=0.011)
    assert not measured["left"].any()


def test_a_plate_under_both_feet_carries_both_and_one_far_away_neither() -> None:
    """A centre of pressure between the soles belongs to both feet in stance, one more than a metre away to none."""
    moving = dict.fromkeys(SOLES, (TIMES > 0.5) & (TIMES < 1.0))
    found, measured = stances_by_force(
        TIMES, SOLES, moving, plate_wrenches({"one": [(0.4, 1.1, 0.0, 0.0)], "far": [(2.0, 2.5, 1.5, 0.0)]})
    )
    for side in SOLES:
        assert spans(found[side]) == pytest.approx([0.4, 1.09], abs=0.011)
        assert (measured[side] == found[side]).all()


def test_a_stance_continues_after_the_end_of_the_force_record() -> None:
    """After the last force sample the stance ends as the motion shows."""
    moving = {"right": TIMES > 0.5, "left": np.zeros(len(TIMES), bool)}
    whole = plate_wrenches({"one": [(0.45, 3.0, 0.0, -0.1)]})
    found, _ = stances_by_force(TIMES, SOLES, moving, whole.part(0, 500))
    assert spans(found["right"]) == pytest.approx([0.45, 2.99], abs=0.011)
