"""Figures of joint coordinates: a panel for each, right and left in one, over time or over the gait cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..scene.labels import display_name
from ..values.person import SIDES
from .charts import Curve, draw_panels
from .tables import finite_mean

STYLES = dict(zip(("", *SIDES), ("identified", "identified", "prior")))
"""Class of the style sheet of a side's curve."""
PERCENT = np.linspace(0.0, 100.0, 101)
"""[%] Instants of a gait cycle at which curves are averaged. By definition of the per cent of a gait cycle."""
Table = tuple[Sequence[tuple[str, str]], np.ndarray, np.ndarray]
"""Names and units of C coordinates, values (N, C), NaN where unknown, and half the widths (N, C) of their bands."""


def draw_coordinates(title: str, x: tuple[str, np.ndarray], table: Table, min_range: float) -> str:
    """A figure of coordinates over a horizontal axis (title, values), without those that are unknown throughout."""
    panels: dict[str, list[Curve]] = {}
    sides = set()
    for k, (name, unit) in enumerate(table[0]):
        if np.isfinite(table[1][:, k]).any():
            side = side_of(name)
            sides.add(side)
            plain = name.removeprefix(f"{side}_").removesuffix(f"_{side[:1]}") if side else name
            curve = table[1][:, k], table[2][:, k], STYLES[side]
            panels.setdefault(f"{display_name(plain)} [{unit}]", []).append(curve)
    legend = [(f"curve {STYLES[side]}", side) for side in SIDES if side in sides]
    listed = [(words, curves, min_range) for words, curves in panels.items()]
    return draw_panels(title, x, listed, legend, columns=3)


def draw_cycles(
    trial: str, times: np.ndarray, table: Table, min_range: float, cycles: Mapping[str, np.ndarray]
) -> tuple[str, str]:
    """Caption and figure of means over gait cycles (K, 2) [s] of each side, with bands of one standard deviation."""
    mean, spread = np.full((2, len(PERCENT), len(table[0])), np.nan)
    for k, (name, _) in enumerate(table[0]):
        own = cycles.get(side_of(name) or next(iter(cycles)), np.zeros((0, 2)))
        curves = np.interp(own[:, :1] + np.diff(own) * PERCENT / 100.0, times, table[1][:, k])
        mean[:, k] = finite_mean(curves)
        count = np.isfinite(curves).sum(axis=0)
        spread[:, k] = np.sqrt(finite_mean((curves - mean[:, k]) ** 2) * count / np.maximum(count - 1, 1))
    counts = " and ".join(f"{len(own)} of the {side} foot" for side, own in cycles.items())
    caption = (
        f"Over the gait cycle, from a foot's contact with the floor to its next one: mean of {counts}, each side by "
        f"its own foot, others by the {next(iter(cycles))} one. Bands are one standard deviation over cycles."
    )
    title = f"Gait cycles of {trial}"
    return caption, draw_coordinates(title, ("gait cycle [%]", PERCENT), (table[0], mean, spread), min_range)


def side_of(name: str) -> str:
    """The side in a coordinate's name, as ``left_shank`` or ``knee_angle_l``; empty for none."""
    return next((side for side in SIDES if name.startswith(f"{side}_") or name.endswith(f"_{side[0]}")), "")
