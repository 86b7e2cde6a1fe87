"""The report's figures."""

from __future__ import annotations

from html import escape

import numpy as np

from ..scene.labels import display_name
from ..values.inertials import MASS
from ..values.wrenches import WRENCH_AXES
from .content import Content, Signals, TrackingErrors
from .svg import MINUS, Axis, Drawing, axis_limits, find_runs, format_tick
from .tables import relative_change

UNITS = ("N", "N", "N", "N m", "N m", "N m")
WIDTH = 1000.0
MIN_FORCE_RANGE, MIN_MOMENT_RANGE = 20.0, 5.0
"""[N], [N m] Smallest range of a panel, so that noise does not look like a signal."""


def draw_wrenches(signals: Signals, key: str) -> str:
    """Six panels, forces left and moments right: measured, identified and prior over time; left-out frames shaded.

    ``key`` makes this figure's element ids unique on the page.
    """
    left, gap, right, top, panel, between = 62.0, 76.0, 12.0, 26.0, 118.0, 26.0
    column = (WIDTH - left - gap - right) / 2.0
    drawing = Drawing(WIDTH, top + 3 * panel + 2 * between + 40.0, f"Wrench during {signals.trial}")
    left_out = ~signals.counted
    for axis, (name, unit) in enumerate(zip(WRENCH_AXES, UNITS, strict=True)):
        row, side = axis % 3, axis // 3
        x0, y0 = left + side * (column + gap), top + row * (panel + between)
        x = Axis(float(signals.times[0]), float(signals.times[-1]), x0, x0 + column)
        curves = [signals.measured[:, axis], signals.identified[:, axis], signals.prior[:, axis]]
        shown = [np.where(left_out, np.nan, curve) for curve in curves] if not left_out.all() else curves
        low, high = axis_limits(*shown, min_range=MIN_MOMENT_RANGE if side else MIN_FORCE_RANGE)
        y = Axis(low, high, y0 + panel, y0)
        clip = f"clip-{key}-{axis}"
        drawing.add(f'<clipPath id="{clip}"><rect x="{x0:.1f}" y="{y0:.1f}" width="{column:.1f}" height="{panel}"/>')
        drawing.add("</clipPath>")
        for start, stop in find_runs(left_out):
            first, last = float(x(signals.times[start])), float(x(signals.times[stop - 1]))
            drawing.rect(first, y0, max(last - first, 1.0), panel, "left-out")
        drawing.frame(x, y, x.ticks(8), y.ticks(3), times=row == 2)
        if low < 0.0 < high:
            drawing.line(x0, float(y(0.0)), x0 + column, float(y(0.0)), "zero")
        drawing.text(x0 - left + 2, y0 - 8, f"{name} [{unit}]", "panel")
        drawing.add(f'<g clip-path="url(#{clip})">')
        for curve, style in zip((curves[0], curves[2], curves[1]), ("measured", "prior", "identified"), strict=True):
            drawing.curve(x, y, signals.times, curve, f"curve {style}")
        drawing.add("</g>")
        if row == 2:
            drawing.text(x0 + column, y0 + panel + 34, "time [s]", "tick", "end")
    return drawing.markup()


def draw_masses(content: Content) -> str:
    """Masses of limbs and trunk, then of every link: prior, identified with its 95 % interval and, in a simulation, the
    truth."""
    links, groups = content.identified.links, content.limbs
    sums = np.array([[link in one.links for link in links] for one in groups]).reshape(-1, len(links))
    shown = np.concatenate([sums, np.eye(len(links))])
    names = [*(one.name for one in groups), *map(display_name, links)]
    step, left, right, top = 24.0, 215.0, 84.0, 10.0
    drawing = Drawing(WIDTH, top + step * len(names) + 44.0, "Mass of every link, identified and prior")
    found, prior = shown @ content.identified.masses, shown @ content.prior.masses
    reach = np.nan_to_num(np.concatenate([*(one.half_width for one in groups), content.half_widths[:, MASS]]))
    truth = np.full(len(names), np.nan) if content.truth is None else shown @ content.truth.masses
    low, high = axis_limits(found - reach, found + reach, prior, truth, np.zeros(1), margin=0.03)
    x = Axis(min(low, 0.0), high, left, WIDTH - right)
    bottom = top + step * len(names)
    drawing.grid(x, x.ticks(8), top, bottom)
    drawing.line(float(x(0.0)), top, float(x(0.0)), bottom, "mark")
    drawing.text(WIDTH - right, bottom + 36, "mass [kg]", "tick", "end")
    for index, name in enumerate(names):
        y = top + step * (index + 0.5)
        drawing.text(left - 10, y + 4, name, "label", "end")
        hint = f"{name}: identified {found[index]:.3f} kg, prior {prior[index]:.3f} kg"
        drawing.line(float(x(prior[index])), y, float(x(found[index])), y, "change")
        if reach[index] > 0.0:
            drawing.line(float(x(found[index] - reach[index])), y, float(x(found[index] + reach[index])), y, "interval")
        drawing.dot(float(x(prior[index])), y, 4.5, "hollow prior", hint)
        drawing.dot(float(x(found[index])), y, 4.5, "solid identified", hint)
        if np.isfinite(truth[index]):
            place = float(x(truth[index]))
            drawing.line(place, y - 7, place, y + 7, "truth")
        grown = 100.0 * relative_change(found[index], prior[index])
        drawing.text(WIDTH - 4, y + 4, f"{grown:+.0f} %".replace("-", MINUS), "tick", "end")
    return drawing.markup()


def draw_timeline(signals: Signals) -> str:
    """One strip: which frames counted, which did not and for what reason (a shade each)."""
    left, height = 150.0, 26.0
    drawing = Drawing(WIDTH, height + 20.0, f"Frames of {signals.trial} that count")
    x = Axis(float(signals.times[0]), float(signals.times[-1]), left, WIDTH - 12.0)
    drawing.text(left - 10, 16, signals.trial, "label", "end")
    half = 0.5 * float(np.median(np.diff(signals.times)))
    for state, name in enumerate(signals.state_names):
        for start, stop in find_runs(signals.states == state):
            first, last = float(x(signals.times[start] - half)), float(x(signals.times[stop - 1] + half))
            hint = f"{name}: {signals.times[start]:.2f} to {signals.times[stop - 1]:.2f} s"
            drawing.rect(max(first, left), 4, min(last, WIDTH - 12.0) - max(first, left), 16, f"state-{state}", hint)
    for tick in x.ticks(10):
        drawing.line(float(x(tick)), 20, float(x(tick)), 24, "mark")
        drawing.text(float(x(tick)), 36, format_tick(tick), "tick", "middle")
    return drawing.markup()


def draw_marker_errors(tracking: tuple[TrackingErrors, ...]) -> str:
    """RMSE of every marker: a dot per trial and a bar for their mean, largest first."""
    names = sorted({name for trial in tracking for name in trial.markers})
    rmse = np.full((len(tracking), len(names)), np.nan)
    for row, trial in enumerate(tracking):
        for name, value in zip(trial.markers, trial.rmse, strict=True):
            rmse[row, names.index(name)] = 1e3 * value
    known = np.isfinite(rmse).any(axis=0)
    means = np.nanmean(rmse[:, known], axis=0)
    order = np.argsort(-means)
    names = [name for name, keep in zip(names, known, strict=True) if keep]
    rmse = rmse[:, known][:, order]
    left, top, height, foot = 62.0, 20.0, 180.0, 92.0
    drawing = Drawing(WIDTH, top + height + foot, "RMSE of every marker")
    step = (WIDTH - left - 12.0) / max(len(names), 1)
    y = Axis(0.0, 1.05 * float(np.nanmax(rmse)), top + height, top)
    for tick in y.ticks(5):
        drawing.line(left, float(y(tick)), WIDTH - 12.0, float(y(tick)), "grid")
        drawing.text(left - 6, float(y(tick)) + 3.5, format_tick(tick), "tick", "end")
    drawing.text(4, top - 8, "RMSE [mm]", "panel")
    for place, index in enumerate(order):
        middle = left + step * (place + 0.5)
        hint = f"{names[index]}: mean {means[index]:.1f} mm"
        drawing.rect(
            middle - 0.36 * step, float(y(means[index])), 0.72 * step, float(y(0.0) - y(means[index])), "bar", hint
        )
        for row, trial in enumerate(tracking):
            if np.isfinite(rmse[row, place]):
                drawing.dot(
                    middle,
                    float(y(rmse[row, place])),
                    2.0,
                    "faint",
                    f"{names[index]}, {trial.trial}: {rmse[row, place]:.1f} mm",
                )
        x, y0 = middle + 4, top + height + 12
        turned = f'text-anchor="end" x="{x:.1f}" y="{y0:.1f}" transform="rotate(-60 {x:.1f} {y0:.1f})"'
        drawing.add(f'<text class="tick" {turned}>{escape(names[index])}</text>')
    drawing.line(left, top + height, WIDTH - 12.0, top + height, "mark")
    return drawing.markup()
