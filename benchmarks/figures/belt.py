"""The belt test: two kilograms put on a segment must be found there and nowhere else."""

from __future__ import annotations

from benchmarks.papers.belt import BELT, ELSEWHERE_BELOW, FOUND_WITHIN, PLACES, BeltResult, belt_test
from solver.threads import one_blas_thread

from .figure import Figure, at_most, left_out

AIM = 0.1  # [kg]
DATA = "simulated, 1 N, 1 N m, 2 mm"


def belt_figures(quick: bool) -> list[Figure]:
    """Error of the mass found on the loaded segment, and the largest mass found elsewhere, for each place."""
    if quick:
        rows = [row for place in PLACES for row in rows_of(place, None)]
        return left_out(rows, "left out by --quick")
    with one_blas_thread():
        return [row for place in PLACES for row in rows_of(place, belt_test(place))]


def rows_of(place: str, result: BeltResult | None) -> list[Figure]:
    """The two rows of one place."""
    found = f"belt test, {BELT:g} kg on {place}: error of the mass found, blind"
    bounds = at_most(FOUND_WITHIN), at_most(AIM)
    if result is None:
        error, other, note = None, None, ""
    else:
        error, other = abs(result.found - BELT), result.elsewhere_max
        note = (
            f"found {result.found:.2f} kg; difference of two blind identifications {result.difference[place]:.2f} kg; "
            f"the paper's manner, told the link, {result.paper_estimate:.2f} kg"
        )
    return [
        Figure(found, DATA, error, "kg", *bounds, note),
        Figure("  largest mass found elsewhere", DATA, other, "kg", at_most(ELSEWHERE_BELOW)),
    ]
