"""The report's figures."""

from __future__ import annotations

import numpy as np

from ..base.arrays import true_runs
from ..scene.labels import display_name
from ..values.inertials import MASS
from ..values.wrenches import WRENCH_AXES
from .charts import WIDTH, Dots, draw_panels, draw_rows
from .content import Content, Signals, TrackingErrors
from .tables import change, finite_mean, relative_change

UNITS = ("N", "N", "N", "N m", "N m", "N m")
MIN_RANGES = (20.0,) * 3 + (5.0,) * 3
"""[N], [N m] Smallest range of a panel, so that noise does not look like a signal."""
MASS_LEGEND = (("hollow prior", "prior"), ("solid identified", "identified"))


def draw_wrenches(signals: Signals, width: float = WIDTH) -> str:
    """Six panels, forces left and moments right: measured, identified and prior over time; left-out frames shaded."""
    curves = {"measured": signals.measured, "prior": signals.prior, "identified": signals.identified}
    panels = [
        (
            f"{WRENCH_AXES[axis]} [{UNITS[axis]}]",
            [(values[:, axis], None, style) for style, values in curves.items()],
            MIN_RANGES[axis],
        )
        for axis in (0, 3, 1, 4, 2, 5)
    ]
    legend = (
        ("curve measured", "measured"),
        ("curve identified", "reconstructed, identified"),
        ("curve prior", "reconstructed, prior"),
        ("left-out", "left out"),
    )
    left_out = [
        (start, stop, reason)
        for state, reason in enumerate(signals.state_names)
        for start, stop in true_runs(~signals.counted & (signals.states == state))
    ]
    title, times = f"Wrench during {signals.trial}", ("time [s]", signals.times)
    return draw_panels(title, times, panels, legend, columns=2, width=width, left_out=left_out)


def draw_masses(content: Content, width: float = WIDTH) -> str:
    """Masses of limbs and trunk, then of every link: prior, identified with its 95 % interval and, in a simulation, the
    truth."""
    links, groups = content.identified.links, content.limbs
    sums = np.array([[link in one.links for link in links] for one in groups]).reshape(-1, len(links))
    shown = np.concatenate([sums, np.eye(len(links))])
    names = [*(one.name for one in groups), *map(display_name, links)]
    found, prior = shown @ content.identified.masses, shown @ content.prior.masses
    reach = np.concatenate([*(one.half_width for one in groups), content.half_widths[:, MASS]])
    hints = [f"{name}: identified {one:.3f} kg, prior {two:.3f} kg" for name, one, two in zip(names, found, prior)]
    dots = [Dots(prior, "hollow prior", hints), Dots(found, "solid identified", hints)]
    legend = [*MASS_LEGEND, ("interval", "95 % interval")]
    if content.truth is not None:
        dots.append(Dots(shown @ content.truth.masses, "solid truth", hints, 2.5))
        legend.append(("solid truth", "truth of the simulation"))
    bars = ((prior, found, "change"), (found - reach, found + reach, "interval"))
    changes = [change(relative_change(one, two)) for one, two in zip(found, prior)]
    title = "Mass of every link, identified and prior"
    return draw_rows(title, "mass [kg]", names, dots, legend, bars=bars, notes=changes, width=width)


def draw_marker_errors(tracking: tuple[TrackingErrors, ...], width: float = WIDTH) -> str:
    """RMSE of every marker: a small dot per trial and a large one for their mean, largest first."""
    names = sorted({name for trial in tracking for name in trial.markers})
    rmse = np.full((len(tracking), len(names)), np.nan)
    for row, trial in enumerate(tracking):
        for name, value in zip(trial.markers, trial.rmse, strict=True):
            rmse[row, names.index(name)] = 1e3 * value
    means = finite_mean(rmse)
    order = np.argsort(-means)[: int(np.isfinite(means).sum())]
    shown = [names[k] for k in order]
    dots = [
        Dots(
            own[order],
            "solid faint",
            [f"{name}, {trial.trial}: {value:.1f} mm" for name, value in zip(shown, own[order])],
            2.5,
        )
        for trial, own in zip(tracking, rmse)
    ]
    dots.append(Dots(means[order], "solid identified", [f"{n}: mean {v:.1f} mm" for n, v in zip(shown, means[order])]))
    legend = (("solid identified", "mean of the trials"), ("solid faint", "each trial"))
    return draw_rows("RMSE of every marker", "RMSE [mm]", shown, dots, legend, width=width)
