"""bonnet2016 Fig. 5 and IV.D for HOAP-3: time of the design, decrease of the criterion, what the dance can identify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from solver.dance.design.dance import Dance
from solver.identification.base_parameters import base_parameters
from solver.identification.excitation.excitation import PLATE_NOISE, Excitation
from solver.options.dances import paper_options
from solver.report.svg import Axis, Drawing
from solver.skeleton.rig import Rig

from . import plots
from .bonnet2016_tables import (
    DESIGN_SECONDS,
    IDENTIFIED,
    TABLE_II,
    TRUNK_FIRST,
    TRUNK_LAST,
    TRUNK_TRANSITIONS,
)
from .rows import Row

LONGEST_DESIGN = 300.0
"""[s], the demand on the design."""
LAST_SHARE = 0.01
"""Of its first value to which the criterion of head, arms and trunk must fall where the paper's 13 is not reached."""
WORST = -1e-4
"""Margin that no check may fall below at `ROBOT_RATE`."""
RATE, ROBOT_RATE = 50.0, 500.0
"""[1/s] of the criterion's samples and of the robot's sensors."""
PLATE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""Noise [N, N m] of a good small force plate without any error of model or tracking: a choice, not the paper's."""
STREAMS = {"head, arms and trunk (two feet)": ("both", "right_forward"), "free leg (one foot)": ("right", "left")}
EVERY = 4
"""Transitions between the rows of the table."""


@dataclass(frozen=True, slots=True)
class Evolution:
    """J_exc of one stream after each of its transitions.

    Attributes:
        stream: which links it excites.
        criterion: (T,) after each transition.
        plain: (T,) the same with every transition on the straight path.
    """

    stream: str
    criterion: np.ndarray
    plain: np.ndarray

    @property
    def rises(self) -> int:
        """Transitions after which the criterion is higher than before."""
        return int((np.diff(self.criterion) > 0.0).sum())


def evolutions(dance: Dance, straight: Dance) -> list[Evolution]:
    """Both streams of a dance, those that it has, beside the same postures joined by straight paths."""
    result = []
    for stream, groups in STREAMS.items():
        both = [np.array([step.criterion for step in each.trace if step.configuration in groups])
                for each in (dance, straight)]  # fmt: skip
        if len(both[0]):
            result.append(Evolution(stream, *both))
    return result


def deviation_rows(dances: Mapping[str, Dance], rig: Rig, wanted: int) -> list[Row]:
    """What J_exc does not show: the standard deviations of inertias that dances of the same postures leave.

    J_exc is a sum of condition numbers, ratios of singular values. It does not change when all information doubles,
    and falls and rises with the shape of single transitions once no ratio is large any more. Deviations only fall.
    """
    structure, first, rows = base_parameters(rig), 0.0, []
    for name, dance in dances.items():
        found = Excitation.before_motion(structure, PLATE_NOISE).with_motion(rig, dance.sample(rig, RATE))
        deviation = float(np.exp(np.log(found.deviations()[~structure.static]).mean()))
        first = first or deviation
        data = f"predicted, HOAP-3, {wanted} postures"
        ends = ", ".join(f"{one.criterion[-1]:.3g}" for one in evolutions(dance, dance))
        rows.append(Row(f"deviation of inertias over that by straight paths, {name}", data, deviation / first,
            note=f"geometric mean over the inertias; J_exc at the end: {ends}"))  # fmt: skip
    return rows


def design_rows(dance: Dance, rig: Rig, seconds: float, wanted: int) -> list[Row]:
    """What the design cost and whether the dance keeps every limit at the robot's rate."""
    data = f"simulated, HOAP-3, {wanted} postures"
    checks = dance.check(rig, ROBOT_RATE, paper_options("hoap3").checks)
    worst = min((float(m.smallest.min()), m.name) for c in checks for m in c.margins)
    return [
        Row("design and its checks [s]", data, seconds, DESIGN_SECONDS, seconds < LONGEST_DESIGN),
        Row("postures reached", data, float(len(dance.postures)), 60.0, len(dance.postures) == wanted,
            note="; ".join(dance.notes)),
        Row("duration of the dance [s]", data, dance.duration),
        Row("worst margin of any check at 500 Hz (negative: violated)", data, worst[0], 0.0, worst[0] >= WORST,
            note=f"of {worst[1]}"),
    ]  # fmt: skip


def criterion_rows(found: Sequence[Evolution], wanted: int) -> list[Row]:
    """Fig. 5 as a table: every few transitions, for both streams, the paper's start and end beside it."""
    rows = []
    for number, evolution in enumerate(found):
        data = f"simulated, HOAP-3, {wanted} postures"
        count = len(evolution.criterion)
        compared = min(TRUNK_TRANSITIONS, count)
        shown = sorted({1, compared, count, *range(EVERY, count + 1, EVERY)})
        for transitions in shown:
            value = float(evolution.criterion[transitions - 1])
            paper, met = None, None
            if number == 0 and transitions == 1:
                paper = TRUNK_FIRST
            elif number == 0 and transitions == TRUNK_TRANSITIONS:
                paper = TRUNK_LAST
                met = value <= max(TRUNK_LAST, LAST_SHARE * float(evolution.criterion[0]))
            what = f"J_exc of {evolution.stream} after {transitions} transitions"
            rows.append(Row(what, data, value, paper, met))
        ends = f"{evolution.plain[0]:.3g} after the first"
        rows += [
            Row(f"  of {count} transitions, those that raise it", data, float(evolution.rises)),
            Row("  with every transition on the straight path", data, float(evolution.plain[-1]), note=ends),
        ]
    return rows


def identified_rows(dance: Dance, rig: Rig, wanted: int) -> list[Row]:
    """Base parameters whose predicted relative standard deviation is below 10 %, at three sizes of noise."""
    structure = base_parameters(rig)
    motion = dance.sample(rig, RATE)
    rows = []
    noises = {
        "Table II's residuals": TABLE_II["HOAP-3"]["identified"][0],
        "2 N and 1 N m": PLATE_NOISE,
        "0.2 N and 0.02 N m": PLATE,
    }
    for name, noise in noises.items():
        sigma = Excitation.before_motion(structure, noise).with_motion(rig, motion).relative_deviations(rig.prior)
        count = int((sigma * np.sqrt(RATE / ROBOT_RATE) < 0.1).sum())
        what = f"of {len(structure)} base parameters, predicted sigma < 10 %, noise a sample {name}"
        rows.append(Row(what, f"predicted, HOAP-3, {wanted} postures", float(count), float(IDENTIFIED)))
    return rows


def criterion_drawing(found: Sequence[Evolution]) -> Drawing:
    """Fig. 5: the criterion over transitions, logarithmic, one panel for each stream."""
    width, height, left, gap = 760.0, 300.0, 62.0, 70.0
    drawing = Drawing(width, height, "Criterion over transitions, HOAP-3, simulated")
    panel = (width - left - 20.0 - gap * (len(found) - 1)) / len(found)
    for number, evolution in enumerate(found):
        start = left + number * (panel + gap)
        count = len(evolution.criterion)
        values = [evolution.criterion, evolution.plain, *([np.array([TRUNK_FIRST, TRUNK_LAST])] if number == 0 else [])]
        finite = np.concatenate(values)
        finite = np.log10(finite[np.isfinite(finite)])
        x = Axis(0.0, float(max(count, 2)), start, start + panel)
        y = Axis(float(finite.min()) - 0.1, float(finite.max()) + 0.1, height - 44.0, 40.0)
        plots.decades(drawing, x, y, count)
        steps = np.arange(1.0, count + 1.0)
        drawing.curve(x, y, steps, np.log10(evolution.plain), "plain")
        drawing.curve(x, y, steps, np.log10(evolution.criterion), "ours")
        if number == 0:
            for at, value in ((1, TRUNK_FIRST), (TRUNK_TRANSITIONS, TRUNK_LAST)):
                if at <= x.high:
                    drawing.dot(float(x(at)), float(y(np.log10(value))), 4, "paper", f"paper: {value:g}")
        drawing.text(start, 24, f"J_exc, {evolution.stream}", "title")
        drawing.text(start + panel / 2, height - 8, "transitions", "label", "middle")
    drawing.text(left + panel, 52, "green: ours, yellow: straight paths, blue: the paper", "label", "end")
    return drawing
