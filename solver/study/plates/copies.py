"""Two trials with one and the same forces: a file was used twice, and at most one of them can be right."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ...plate_options import BELONGING
from ...wrenches import Wrenches
from .finding import UNKNOWN_INTERVAL, Action, Finding

MIN_EQUAL_FRACTION = 0.9
"""Fraction of equal loaded samples, from the start of both, above which forces are copies: no two steps are equal."""


def check_copies(forces: Mapping[str, Wrenches], residuals: Mapping[str, float], overridden: bool) -> list[Finding]:
    """Find trials with the same forces as another trial whose motion the forces fit better.

    Args:
        forces: as recorded, by trial.
        residuals: mean squared residual with the trial's motion, by trial.
        overridden: True: leave no trial out.
    """
    done = Action.OVERRIDDEN if overridden else Action.LEFT_OUT
    found = []
    for pair in combinations(forces, 2):
        right, wrong = sorted(pair, key=lambda name: residuals[name])
        share = _equal_fraction(forces[right], forces[wrong])
        if (
            share > MIN_EQUAL_FRACTION and residuals[wrong] > residuals[right]
        ):  # one recording given twice is no finding
            text = f"the forces are exactly those of {right}, which they fit better; specify the right file"
            found.append(Finding(BELONGING, (wrong,), share, UNKNOWN_INTERVAL, "", done, text))
    return found


def _equal_fraction(one: Wrenches, two: Wrenches) -> float:
    """Fraction of the samples loaded in both, counted from their starts, that are exactly equal."""
    if one.frames != two.frames:
        return 0.0
    count = min(len(one), len(two))
    loaded = (one.loaded[:count] & two.loaded[:count]).any(axis=1)
    same = (one.values[:count, :, :3] == two.values[:count, :, :3]).all(axis=(1, 2))
    return float(same[loaded].mean()) if loaded.any() else 0.0
