"""Tables of the recordings: frames that count, force plates, body mass and markers.

Of forces and moments: errors of the reconstructed wrench, residuals, joint moments and flight.
"""

from __future__ import annotations

from html import escape

import numpy as np

from ..options.plates import FINDINGS
from ..signals.pooling import TWO_SIDED_STDS
from ..study.residuals import FORCE_THRESHOLD, MOMENT_THRESHOLD
from ..values.wrenches import WRENCH_AXES
from .content import Content
from .figures import UNITS
from .svg import DASH
from .tables import Column, Table, emphasised, finite_mean, format_number, number, ratio, with_interval, yes_no

AXIS_COLUMNS = tuple(Column(f"{axis} [{unit}]") for axis, unit in zip(WRENCH_AXES, UNITS, strict=True))
ERRORS, RATIO, CORRELATIONS = number(1), ratio, number(3)


def frame_table(content: Content) -> Table:
    """Counted and excluded frames, by reason."""
    rows = []
    for signals in content.signals:
        trial = signals.trial
        for state, name in enumerate(signals.state_names):
            if count := int(np.sum(signals.states == state)):
                rows.append((trial, name, count, 100.0 * count / len(signals.states)))
                trial = ""
    return Table(
        "Counted and excluded frames, with reasons.",
        (Column("trial"), Column("reason"), Column("frames", str), Column("share [%]", number(1))),
        rows,
        has_text_column=True,
    )


def finding_table(content: Content) -> Table:
    """Findings of the plate checks, with their evidence and what was done."""
    return Table(
        "Checks of the plates before the identification: the number that decides, its interval, and what was done. "
        "<code>--free-moment</code> and <code>--report-only</code> override it.",
        (
            Column("check", emphasised), Column("finding"), Column("evidence", _with_unit),
            Column("95 % interval", _interval), Column("action", emphasised),
        ),
        [
            (
                (FINDINGS[row.kind], not row.done.is_silent),
                f"{', '.join(row.trials)}: {row.text}",
                (row.evidence, row.unit),
                row.interval,
                (row.done.value, not row.done.is_silent),
            )
            for row in content.findings
        ],
        has_text_column=True,
    )  # fmt: skip


def _with_unit(pair: tuple[float, str]) -> str:
    value, unit = pair
    return format_number(value, 2) + (f"&nbsp;{escape(unit)}" if unit and np.isfinite(value) else "")


def _interval(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{format_number(low, 2)} to {format_number(high, 2)}" if np.isfinite(low) else DASH


def weighing_table(content: Content) -> Table:
    """Mass measured by each trial, and the bias removed from its plates."""
    weighing = content.weighing
    trials = {} if weighing is None else {trial.name: trial for trial in weighing.trials}
    return Table(
        "Body mass that the plates read, trial by trial, ± half of the 95 % interval, and groups of trials that agree.",
        (
            Column("trial"), Column("group", str), Column("counted [s]", number(1)), Column("ever unloaded", yes_no),
            Column("reading [kg]", with_interval(2)),
        ),
        [
            (
                name,
                index,
                trials[name].seconds,
                trials[name].unloaded is not None,
                (trials[name].apparent_mass, TWO_SIDED_STDS * trials[name].std),
            )
            for index, group in enumerate(() if weighing is None else weighing.groups, 1)
            for name in group.trials
        ],
    )  # fmt: skip


def marker_table(content: Content) -> Table:
    """Distance between measured and tracked markers, by trial."""
    rows = []
    for trial in content.tracking:
        known = np.isfinite(trial.rmse)
        worst = int(np.nanargmax(trial.rmse)) if known.any() else 0
        rows.append(
            (
                trial.trial,
                1e3 * trial.total,
                1e3 * np.nanmedian(trial.rmse),
                (1e3 * trial.rmse[worst], trial.markers[worst]),
                int(known.sum()),
                100.0 * np.mean(1.0 - trial.visible_fraction[known]),
            )
        )
    return Table(
        "Distance between measured and tracked markers.",
        (
            Column("trial"), Column("RMSE [mm]", number(1)), Column("median marker [mm]", number(1)),
            Column("worst marker [mm]", _named_error), Column("markers", str),
            Column("missing samples [%]", number(1)),
        ),
        rows,
    )  # fmt: skip


def _named_error(pair: tuple[float, str]) -> str:
    value, name = pair
    return f"{format_number(value, 1)} ({escape(name)})"


def mean_error_table(content: Content) -> Table:
    """Mean over trials of the RMSE per axis and of its ratios, trials not used before trials used."""
    rows: list[tuple[object, ...]] = []
    for used, title in ((False, "trials not used"), (True, "trials used")):
        some = [comparison for comparison in content.comparisons if comparison.used == used]
        if some:
            identified, prior, unweighted = (
                np.array([getattr(comparison, body).rmse for comparison in some])
                for body in ("identified", "prior", "unweighted_prior")
            )
            rows += [
                (f"{title} ({len(some)})", "RMSE prior, no weights", *finite_mean(unweighted), None),
                ("", "RMSE prior", *finite_mean(prior), None),
                ("", "RMSE identified", *finite_mean(identified), None),
            ]
            for words, ratios in (
                ("identified / prior", identified / prior),
                ("identified / prior, no weights", identified / unweighted),
                ("prior / prior, no weights", prior / unweighted),
            ):
                mean = finite_mean(ratios)
                rows.append(("", words, *mean, float(finite_mean(mean))))
    return Table(
        "RMSE of the reconstructed wrench with identified inertials and with the prior scaled to the same mass; same "
        "motion, filter and frames. Each has frequency weights of its own, estimated from the plates of the same "
        "trials; without weights, all of the tracked motion counts. If a ratio is below one, the first explains more.",
        (Column(""), Column("mean of trials"), *AXIS_COLUMNS, Column("mean")),
        rows,
        [*[ERRORS] * 3, *[RATIO] * 3] * (len(rows) // 6),
        has_text_column=True,
    )


def error_table(content: Content) -> Table:
    """RMSE and correlation per axis, identified and prior, of every trial: used ones first, unused ones after."""
    rows: list[tuple[object, ...]] = []
    for one in sorted(content.comparisons, key=lambda c: not c.used):
        rows += [
            ((one.trial, one.used), "RMSE identified", *one.identified.rmse),
            (None, "RMSE prior", *one.prior.rmse),
            (None, "RMSE prior, no weights", *one.unweighted_prior.rmse),
            (None, "identified / prior", *one.ratio),
            (None, "CC identified", *one.identified.correlation),
            (None, "CC prior", *one.prior.correlation),
            (None, "CC prior, no weights", *one.unweighted_prior.correlation),
        ]
    return Table(
        "Reconstructed and measured external wrench per axis: root mean square error and Pearson's correlation. “Not "
        "used” means that the parameters compared there were fitted without that trial.",
        (Column("trial", _tagged_trial), Column(""), *AXIS_COLUMNS),
        rows,
        [*[ERRORS] * 3, RATIO, *[CORRELATIONS] * 3] * len(content.comparisons),
        has_text_column=True,
    )


def _tagged_trial(pair: tuple[str, bool]) -> str:
    """A trial's name, and whether it was used."""
    trial, used = pair
    kind, words = ("used", "used") if used else ("unused", "not used")
    return f'{escape(trial)} <span class="tag {kind}">{words}</span>'


def residual_table(content: Content) -> Table:
    """Residuals in body weights and compared with the usual thresholds."""
    pair, sizes = ("identified", "prior"), ("RMS", "peak")
    return Table(
        "Residual force and moment of the trials used: root mean square in body weights (BW) and body weights times "
        "heights (BW h); root mean square and peak compared with the usual thresholds: "
        f"{100.0 * FORCE_THRESHOLD:g} % of the peak force, {100.0 * MOMENT_THRESHOLD:g} % of the mean height of "
        "the centre of mass times that force (Hicks et al. 2015).",
        (
            Column("trial"), *(Column(title, number(3), "force, RMS [BW]") for title in pair),
            *(Column(title, number(4), "moment, RMS [BW h]") for title in pair),
            *(Column(title, number(1), "force [% of peak]") for title in sizes),
            *(Column(title, number(1), "moment [% of CoM height times peak]") for title in sizes),
            Column("met", yes_no),
        ),
        [
            (
                row.trial,
                *(body.force / row.weight for body in (row.identified, row.prior)),
                *(body.moment / (row.weight * row.height) for body in (row.identified, row.prior)),
                *(100.0 * share for share in (*row.force_share, *row.moment_share)),
                row.meets_thresholds,
            )
            for row in content.residuals
        ],
    )  # fmt: skip


def flight_intervals_table(content: Content) -> Table:
    """Flights of an identification without forces."""
    found = content.from_flight
    size = "" if found is None else str(found.dimension)
    return Table(
        "Flights detected from the motion, by the free fall of the centre of mass; no forces were used. The equations "
        f"of a body without contact have a null space, here of dimension {size}. The body's parameters lie in "
        "it, scaled by the total mass.",
        (Column("trial"), Column("from [s]", number(2)), Column("to [s]", number(2)), Column("", _usable)),
        () if found is None else found.spans,
    )


def _usable(used: bool) -> str:
    return "used" if used else "too short"


def flight_table(content: Content) -> Table:
    """Checks in flight, where gravity alone acts."""
    titles = ("CoM acceleration without gravity [m/s²]", "rate of angular momentum [N m]")
    return Table(
        "In flight only gravity acts: both quantities should be zero. RMS over the flight frames.",
        (
            Column("trial"), Column("frames", str),
            *(Column(title, kind, above) for above, digits in zip(titles, (3, 2), strict=True)
              for title, kind in (("identified", number(digits)), ("prior", number(digits)), ("ratio", ratio))),
        ),
        [
            (
                check.trial,
                check.frames,
                *(value for found, prior in (check.acceleration, check.momentum_rate)
                  for value in (found, prior, found / prior if prior else np.nan)),
            )
            for check in content.flights
        ],
    )  # fmt: skip
