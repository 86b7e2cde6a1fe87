"""Contacts of a scene's timeline."""

from __future__ import annotations

import pytest

from solver.scene.timeline import flights_between_strips


@pytest.mark.parametrize(
    ("strips", "flights"),
    [
        ([], []),
        ([(0.5, 1.0)], []),
        ([(0.0, 1.0), (1.0, 2.0)], []),
        ([(0.0, 0.8), (0.0, 0.9), (1.2, 2.0), (1.3, 2.0)], [(0.9, 1.2)]),
        ([(1.2, 2.0), (0.0, 3.0), (0.2, 0.9)], []),
        ([(2.0, 2.5), (1.0, 1.2), (0.0, 0.5)], [(0.5, 1.0), (1.2, 2.0)]),
    ],
)
def test_a_flight_is_a_span_that_no_strip_covers(
    strips: list[tuple[float, float]], flights: list[tuple[float, float]]
) -> None:
    """A flight is between the stop of a strip and the start of the next, not before the first or after the last."""
    assert list(flights_between_strips(strips)) == flights
