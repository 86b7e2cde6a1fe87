"""The belt test: two kilograms put on a segment must be found there and nowhere else."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from .figure import Figure, at_most

MODULE = "benchmarks.papers.jovic2016"
PLACES = ("pelvis", "right_hand", "left_foot")
BELT = 2.0
"""[kg]"""
DATA = "simulated, 1 N, 1 N m, 2 mm"


def belt_figures(quick: bool) -> list[Figure]:
    """Error of the mass found on the loaded segment, and the largest change elsewhere, for each place.

    `benchmarks.papers.jovic2016.belt_test(place)` does the work; its result has ``found`` [kg] on the segment and
    ``elsewhere`` [kg], the largest change of any other.
    """
    places = PLACES[:1] if quick else PLACES
    ready = find_spec(MODULE) is not None and hasattr(import_module(MODULE), "belt_test")
    figures = []
    for place in PLACES:
        found, elsewhere = f"belt test, {BELT:g} kg on {place}: error of the mass found", "  largest change elsewhere"
        bounds = at_most(0.5), at_most(0.1)
        if not ready or place not in places:
            reason = "left out by --quick" if ready else f"{MODULE}.belt_test is not there yet"
            figures.append(Figure(found, DATA, None, "kg", *bounds, reason))
            figures.append(Figure(elsewhere, DATA, None, "kg", at_most(0.3)))
            continue
        result = import_module(MODULE).belt_test(place)
        figures.append(Figure(found, DATA, abs(result.found - BELT), "kg", *bounds))
        figures.append(Figure(elsewhere, DATA, abs(result.elsewhere), "kg", at_most(0.3)))
    return figures
