"""What is known of every person: names of the links, and how tall and heavy people are; light, so that words of the
command line are judged by it before anything is imported."""

from __future__ import annotations

import math

from .errors import InvalidValue

SEXES = ("male", "female")
SIDES = ("right", "left")
CHAINS = (("upper_arm", "forearm", "hand"), ("thigh", "shank", "foot"))
LINKS = ("pelvis", "torso", "head", *(f"{side}_{name}" for chain in CHAINS for side in SIDES for name in chain))
"""The fifteen links, depth first."""
STATURES, MASSES = (0.4, 2.8), (2.0, 500.0)
"""[m] and [kg] between which people lie."""
STATURE_GUESS = {"male": 1.76, "female": 1.63}
"""[m] Where the search for an unknown stature starts."""


def require_person(height: float, mass: float) -> None:
    """Refuse a stature [m] or mass [kg] that no person has.

    Raises:
        InvalidValue: one of them.
    """
    for name, value, (low, high), unit in (("height", height, STATURES, "m"), ("mass", mass, MASSES, "kg")):
        if not (math.isfinite(value) and low <= value <= high):
            raise InvalidValue(f"a person's {name} lies between {low:g} and {high:g} {unit}, got {value!r}")
