"""Names of a person's links, and ranges of stature and mass; without imports, so that options are checked early."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from numbers import Real

from ..base.errors import InvalidValue

TABLED = ("male", "female")
"""Sexes with a column in the anthropometric tables."""
UNKNOWN = "unknown"
"""Unknown sex: the mean of both columns is used."""
SEXES = (*TABLED, UNKNOWN)
SIDES = ("right", "left")
"""Order of the sides among a person's links, and of the feet in the coordinates of a dance."""
CHAINS = (("upper_arm", "forearm", "hand"), ("thigh", "shank", "foot"))
LINKS = ("pelvis", "torso", "head", *(f"{side}_{name}" for chain in CHAINS for side in SIDES for name in chain))
"""The fifteen links, depth first."""
TRUNK_AND_LEGS = ("pelvis", "torso", *(f"{side}_{name}" for side in SIDES for name in CHAINS[1]))
"""The links with most of the mass, and those that carry it to the ground."""
TRUNKS = ("one", "three")
"""A trunk of pelvis and torso, or of pelvis, abdomen and thorax; the thorax is named torso."""
GIRDLE = ("clavicle", "scapula")
"""Segments between torso and upper arm of a person with a shoulder girdle."""
SHOULDERS = ("fixed", "girdle")
"""Upper arms attached to the torso, or to clavicle and scapula."""
STATURES, MASSES, MASS_INDICES = (0.4, 2.8), (2.0, 500.0), (8.0, 100.0)
"""[m], [kg] and [kg/m^2] Accepted ranges of stature, mass, and mass over stature squared: 23 to 289 kg at 1.7 m."""
MASS_GUESS = 70.0
"""[kg] Initial guess of an unknown mass, on which only inertias of a prior depend. Walpole et al. (2012) found 62 kg
for the mean adult, 71 kg for Europe's and 81 kg for North America's."""
STATURE_GUESS = {"male": 1.76, "female": 1.63, UNKNOWN: 1.695}
"""[m] Initial guess of an unknown stature."""


def columns_of(sex: str) -> tuple[str, ...]:
    """Columns of the tables to average for a sex: its own, or both."""
    return TABLED if sex == UNKNOWN else (sex,)


def require_person(height: float | None, mass: float | None) -> None:
    """Check that stature [m] and mass [kg], as far as they are stated, are those of people.

    Raises:
        InvalidValue: one is out of range, or they do not belong together.
    """
    for name, value, (low, high), unit in (("height", height, STATURES, "m"), ("mass", mass, MASSES, "kg")):
        if value is None:
            continue
        if not isinstance(value, Real) or not (math.isfinite(value) and low <= value <= high):
            raise InvalidValue(f"a person's {name} must be between {low:g} and {high:g} {unit}, got {value!r}")
    if height is not None and mass is not None and (problem := describe_build(height, mass)):
        raise InvalidValue(f"{problem}: correct one of them")


def describe_build(height: float, mass: float) -> str:
    """What no person of a stature [m] has about a mass [kg]; empty if people have it."""
    low, high = (index * height**2 for index in MASS_INDICES)
    return "" if low <= mass <= high else f"a person of {height:g} m has {low:.0f} to {high:.0f} kg, not {mass:g}"


FILLERS = frozenset({"marker", "markers", "mkr", "mrk", "study", "augmented", "imu", "sensor", "p", "j"})
"""Words of a marker or segment name without information."""


SIDE_WORDS = {
    "left": (
        "left",
        "l",
        "lt",
        "links",
        "li",
        "gauche",
        "g",
        "izquierda",
        "izquierdo",
        "izq",
        "sinistra",
        "sinistro",
        "sx",
    ),
    "right": (
        "right",
        "r",
        "rt",
        "rechts",
        "re",
        "droite",
        "droit",
        "d",
        "derecha",
        "derecho",
        "der",
        "destra",
        "destro",
        "dx",
    ),
}
"""Words for the sides in English, German, French, Spanish and Italian."""
SIDE_LETTERS = (("l", "left"), ("r", "right"), ("g", "left"), ("d", "right"))
"""First or last letters of names that say the side, in English and French."""


def split_side(name: str) -> Iterator[tuple[str, list[str]]]:
    """Possible splits of a name into its side and the remaining words, in lower case."""
    pieces = [piece for piece in re.split(r"[^A-Za-z0-9]+", name) if piece]
    words = [word for piece in pieces for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[a-z]*", piece)]
    for parts in (pieces, words):
        small = [part.lower() for part in parts if part.lower() not in FILLERS]
        yield "", small
        for place, part in enumerate(small):
            for side, known in SIDE_WORDS.items():
                if part in known:
                    yield side, small[:place] + small[place + 1 :]
                elif part.startswith(side):
                    yield side, [*small[:place], part.removeprefix(side), *small[place + 1 :]]
    joined = "".join(pieces)
    for letter, side in SIDE_LETTERS:
        if joined[:1].lower() == letter:
            yield side, [joined[1:].lower()]
        bare = joined.rstrip("0123456789")
        if bare[-1:].lower() == letter:
            yield side, [(bare[:-1] + joined[len(bare) :]).lower()]
