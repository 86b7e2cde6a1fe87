"""The page of joint moments: of each trial the residual, the moments over time with their intervals, and the peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from ..base.errors import checked
from ..formats.csv_tables import write_table
from ..moments.values import MOMENTS, JointMoments
from ..scene.study_folder import MOMENTS_END, MOMENTS_PAGE, MOMENTS_TABLE_END
from ..storage.atomic import write_atomically
from ..storage.output_folder import write_folder
from ..values.wrenches import WRENCH_AXES
from .coordinate_figures import draw_coordinates, draw_cycles
from .document import Block, Figure, build_document, render_cards, render_list
from .tables import Column, Table, format_number, number

MIN_RANGE = 0.05
"""[N m/kg] Smallest range of a panel, so that noise does not look like a signal."""
DIGITS = 3


def render_moments(found: Sequence[JointMoments]) -> str:
    """The whole page."""
    trials = f"{len(found)} trial{'s' * (len(found) != 1)}"
    head = f"<header><h1>Joint moments</h1><p>{trials}, {found[0].mass:.2f} kg</p></header>"
    sections = [(moments.trial, build_blocks(moments)) for moments in found]
    return build_document("Joint moments", head, sections, "residual moment about the root link's origin")


def build_blocks(found: JointMoments) -> list[Block]:
    """The section of one trial."""
    (force, moment), (peak_force, peak_moment) = found.residual_rms, found.residual_peak
    frames = int(np.isfinite(found.residual).all(axis=1).sum())
    cards = [
        ("residual force", f"{format_number(force, 1)} N", f"RMS; peak {format_number(peak_force, 1)} N"),
        ("residual moment", f"{format_number(moment, 1)} N m", f"RMS; peak {format_number(peak_moment, 1)} N m"),
        ("frames", f"{frames} of {len(found)}", "in which every contact is measured"),
    ]
    names = [(name, "N/kg" if length else "N m/kg") for name, length in zip(found.names, found.lengths)]
    table = names, found.per_kg, found.half_width / found.mass
    caption = (
        "Moment per kilogram of every coordinate (force of a sliding joint): positive drives the coordinate to "
        "increase. The band is the 95 % interval; frames with unmeasured contacts are left "
        f"out.{_describe_sources(found)}"
    )
    title = f"Joint moments during {found.trial}"
    figures = [Figure(caption, draw_coordinates(title, ("time [s]", found.times), table, MIN_RANGE))]
    if found.cycles:
        figures.insert(0, Figure(*draw_cycles(found.trial, found.times, table, MIN_RANGE, found.cycles)))
    return [render_cards(cards), render_list(found.notes, "warnings"), *figures, peak_table(found)]


def peak_table(found: JointMoments) -> Table:
    """Least and greatest moment of every coordinate."""
    return Table(
        "Least and greatest moment per kilogram [N m/kg], and half the 95 % interval at the larger one.",
        (Column("coordinate"), *(Column(title, number(DIGITS)) for title in ("least", "greatest", "± 95 %"))),
        [(name, *row) for name, row in zip(found.names, found.peaks)],
    )


def _describe_sources(found: JointMoments) -> str:
    """Share of each cause in the variance, mean over coordinates and frames."""
    if not found.std_by_source:
        return ""
    means = {source: float(np.nanmean(std**2)) for source, std in found.std_by_source.items()}
    total = max(sum(means.values()), np.finfo(float).tiny)
    listed = ", ".join(f"{escape(source)} {100.0 * mean / total:.0f} %" for source, mean in means.items())
    return f" Causes of the variance: {listed}."


RESIDUAL = tuple(map(str.lower, WRENCH_AXES))


@checked
def write_moments(folder: str | Path, found: Mapping[str, JointMoments]) -> tuple[str, ...]:
    """``NAME.moments.csv`` and ``.npz`` of every trial and ``moments.html``, complete or not at all; the files' names.

    Raises:
        InputError: the folder cannot be written.

    Example:
        >>> import solver
        >>> solver.report.write_moments("moments", solver.load_study("results").moments())  # doctest: +SKIP
    """
    with write_folder(folder) as building:
        for name, moments in found.items():
            titles, values = _columns(moments)
            write_table(building / f"{name}{MOMENTS_TABLE_END}", moments.times, titles, values)
            MOMENTS.write(building / f"{name}{MOMENTS_END}", moments)
        with write_atomically(building / MOMENTS_PAGE) as stream:
            stream.write(render_moments(tuple(found.values())))
        return tuple(sorted(file.name for file in building.iterdir()))


def _columns(found: JointMoments) -> tuple[list[str], np.ndarray]:
    """Titles and values (N, 4 C + 6): of each coordinate the moment, it per kilogram and its interval; the residual."""
    titles: list[str] = []
    for name, unit in zip(found.names, found.units):
        titles += [f"{name} [{unit}]", f"{name}_per_kg [{unit}/kg]", f"{name}_lower [{unit}]", f"{name}_upper [{unit}]"]
    titles += [f"residual_{axis} [{'N' if axis[0] == 'f' else 'N m'}]" for axis in RESIDUAL]
    ends = found.values - found.half_width, found.values + found.half_width
    columns = np.stack([found.values, found.per_kg, *ends], axis=2).reshape(len(found), -1)
    return titles, np.concatenate([columns, found.residual], axis=1)
