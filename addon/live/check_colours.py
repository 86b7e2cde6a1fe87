"""Colours and geometry for the results of the live check; drawing is done elsewhere.

The three result colours differ in lightness as well as hue, and each result is also shown by a shape or a word, so
that people with colour vision deficiency can read them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base.solver_api import SceneFrame, SceneMargin, SceneStrip, display_name
from ..drawing.primitives import Colour, arrow_lines
from ..scene.colours import SEQUENTIAL_MAP, interpolate_colour
from ..scene.recording import METRES_PER_NEWTON

FAIL_COLOUR: Colour = (0.88, 0.16, 0.12, 1.0)
NEAR_COLOUR: Colour = (1.00, 0.78, 0.20, 1.0)
PASS_COLOUR: Colour = (0.05, 0.66, 0.52, 1.0)
UNKNOWN_COLOUR: Colour = (0.50, 0.50, 0.52, 1.0)
FORCE_COLOUR: Colour = (0.98, 0.55, 0.10, 1.0)
COLLISION_COLOUR: Colour = (1.00, 0.05, 0.20, 1.0)
PART_COLOURS: dict[str, tuple[str, Colour]] = {
    "sole": ("flat", (0.20, 0.47, 0.86, 1.0)),
    "heel": ("heel", (0.87, 0.62, 0.86, 1.0)),
    "ball": ("toe", (0.50, 0.82, 0.92, 1.0)),
    "toes": ("toe", (0.50, 0.82, 0.92, 1.0)),
}
"""Word and colour of a contact strip by the part of the patch that touches."""
GOOD_CONDITION, POOR_CONDITION = 10.0, 1000.0
"""Condition numbers at the ends of the excitation legend."""
EXCITATION_TITLE = "Excitation So Far [cond.]"
EXCITATION_TICKS = ((0.0, "1000 or more: poor"), (0.25, "300"), (0.5, "100"), (0.75, "30"), (1.0, "10: good"))
"""Fractions of the legend's height and their labels; approximate for 300 and 30."""
COMFORTABLE_MARGIN = 1.0


@dataclass(frozen=True, slots=True)
class Highlight:
    """Highlight of a link.

    Attributes:
        colour: with alpha.
        shows_through: whether it is visible through other objects.
        striped: whether it has stripes, which distinguish a warning from a material of the same colour.
    """

    colour: Colour
    shows_through: bool = False
    striped: bool = False


def comfort_colour(comfort: float) -> Colour:
    """Colour of a comfort value: below 0, from 0 to 1, above 1; grey if unknown."""
    if math.isnan(comfort):
        return UNKNOWN_COLOUR
    return FAIL_COLOUR if comfort < 0.0 else NEAR_COLOUR if comfort < COMFORTABLE_MARGIN else PASS_COLOUR


def margin_colour(margin: SceneMargin) -> Colour:
    """Colour of one margin; a failure within the tolerance does not count."""
    return FAIL_COLOUR if margin.failed else comfort_colour(max(margin.comfort, 0.0))


def is_inside(corners: np.ndarray, point: tuple[float, float]) -> bool:
    """Whether a point (2,) lies in a convex polygon (V, 2) of either orientation."""
    if len(corners) < 3:
        return False
    edges, offsets = np.roll(corners, -1, axis=0) - corners, np.asarray(point) - corners
    crosses = edges[:, 0] * offsets[:, 1] - edges[:, 1] * offsets[:, 0]
    return bool((crosses >= 0.0).all() or (crosses <= 0.0).all())


def force_lines(frame: SceneFrame) -> list[np.ndarray]:
    """Pairs of points of the foot force arrows, which start at the centres of pressure."""
    points: list[np.ndarray] = []
    for foot in frame.feet:
        if foot.centre is not None:
            points += arrow_lines(np.array(foot.centre), METRES_PER_NEWTON * np.array(foot.force))
    return points


def check_highlights(frame: SceneFrame) -> dict[str, Highlight]:
    """Highlights of links that are near a limit, fail or collide; the worst state counts."""
    found = {link: Highlight((*NEAR_COLOUR[:3], 0.85), striped=True) for link in frame.near}
    found |= {link: Highlight((*FAIL_COLOUR[:3], 0.78)) for link in frame.failing}
    found |= {link: Highlight((*COLLISION_COLOUR[:3], 0.85), shows_through=True) for link in frame.colliding}
    return found


def excitation_fraction(condition: float) -> float:
    """Position of a condition number on the colour map: 0 poorly, 1 well excited; NaN if not excited yet."""
    if not math.isfinite(condition):
        return math.nan
    share = math.log(POOR_CONDITION / max(condition, 1e-9)) / math.log(POOR_CONDITION / GOOD_CONDITION)
    return min(max(share, 0.0), 1.0)


def excitation_highlights(values: dict[str, float]) -> dict[str, Highlight]:
    """Highlights of links by their excitation; grey if not excited."""
    found = {}
    for link, condition in values.items():
        share = excitation_fraction(condition)
        found[link] = Highlight(
            (*UNKNOWN_COLOUR[:3], 0.9) if math.isnan(share) else (*interpolate_colour(SEQUENTIAL_MAP, share), 0.9)
        )
    return found


def strip_labels(strip: SceneStrip) -> tuple[str, ...]:
    """Labels of a contact strip, longest first."""
    word, name = PART_COLOURS[strip.part][0], display_name(strip.patch)
    return f"{name} {word}", f"{name[:1].upper()} {word}", word[:1].upper()
