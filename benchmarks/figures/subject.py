"""Real recordings of one subject: body mass, marker errors, and trials that the identification did not use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.identification.comparison import MOMENTS, Comparison, FlightCheck, check_flight, compare
from solver.identification.error_model.frequency_weights import UNWEIGHTED
from solver.identification.identify import MIN_FLIGHT_FRAMES, IdentifyOptions, identify_trials
from solver.signals import GRAVITY
from solver.signals.plate_errors import OFFSET
from solver.signals.trial import Recording, Trial
from solver.study.prepare import prepare
from solver.study.recordings import load
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.study.values import StudyData, TrialRecord
from solver.values.inertials import InertialParameters
from solver.values.wrenches import WRENCH_AXES

from ..marker_errors import reference_error
from .figure import Bound, Figure, at_most, within

SUBJECT = "subject_a"
SEX = "female"
"""The data do not say; it only chooses the prior's table."""
PRESET = "human_8hz"
STATIC = "static1"
"""Quiet standing: trained on, but nothing moves that could be predicted, so no split of the figure leaves it out."""
TRIALS = 8
RATIO_MUST, RATIO_AIM = 0.66, 0.57
RMSE_MUST, RMSE_AIM = (11.2, 5.1, 14.2, 2.4, 4.2, 1.05), (10.0, 4.8, 13.0, 2.2, 4.0, 0.95)
"""[N], [N m] of the moving trials left out in turn, axes as `DIRECTIONS`."""
SQUATS, WALKS = (STATIC, "squats1"), ("walking1", "walkingTI1")
TRAVEL_MUST, TRAVEL_AIM = 1.02, 1.0
"""Error with weights learnt on the one and used on the other, over that without weights, on the worst axis."""
VERTICAL, VERTICAL_MUST = 2, 1.02
"""Axis of the vertical force, and the goal of its error over the prior's in each split."""
SIDE = (
    "same filter, mass, plate offset and lag on both sides, frequency weights of its own on each; prior scaled to the "
    "measured mass"
)


@dataclass(frozen=True, slots=True)
class Unseen:
    """One split: parameters fitted to all other trials, tested on this one.

    Attributes:
        comparison: wrenches; identified parameters and prior each with frequency weights of its own,
            estimated from the other trials.
        plain: wrenches of both without any weights: the motion as tracked.
        flight: None for a trial without flight.
    """

    comparison: Comparison
    plain: Comparison
    flight: FlightCheck | None

    @property
    def ratio(self) -> np.ndarray:
        """(6,) RMSE identified / prior, each with its own weights."""
        return self.comparison.ratio


def read_recordings(data: Path) -> tuple[Recording, ...]:
    """All trials of the subject; none when there are no data."""
    folder = data / SUBJECT
    return load([folder]) if folder.is_dir() else ()


def track_recordings(
    recordings: Sequence[Recording],
    static: Sequence[str],
    chosen: Sequence[str] = (),
    shoulders: str = "fixed",
) -> tuple[StudyData | None, tuple[TrialRecord, ...]]:
    """Calibrated on ``static`` (all trials if empty), tracked on the chosen trials (all if empty, then prepared)."""
    calibration = calibrate(recordings, sex=SEX, static=static, shoulders=shoulders)
    wanted = [recording for recording in recordings if not chosen or recording.name in chosen]
    records = track_all(calibration, wanted)
    return (None if chosen else prepare(calibration.rig, records)), records


def girdle_marker_figures(records: Sequence[TrialRecord]) -> list[Figure]:
    """RMSE over markers and frames with a shoulder girdle: mean of the trials, and the worst, where arms are raised."""
    errors = {record.name: 1e3 * record.tracked.rmse for record in records if record.tracked is not None}
    mean = float(np.mean(list(errors.values()))) if len(errors) == TRIALS else None
    worst = max(errors, key=lambda name: errors[name])
    what = "marker error, shoulder girdle, calibrated on all trials"
    listed = ", ".join(f"{name} {error:.1f}" for name, error in errors.items())
    return [
        Figure(f"{what}: mean of {TRIALS} trials", _real(), mean, "mm", at_most(7.7), at_most(6.5), listed),
        Figure(f"{what}: worst trial", _real(worst), errors[worst], "mm", None, at_most(10.0)),
    ]


def marker_figures(data: Path, records: Sequence[TrialRecord], *, static_only: bool) -> list[Figure]:
    """RMSE over markers and frames of each trial [mm], and their mean."""
    errors = {record.name: 1e3 * record.tracked.rmse for record in records if record.tracked is not None}
    label = f"calibrated on {STATIC} only" if static_only else "calibrated on all trials"
    listed = ", ".join(f"{name} {error:.1f}" for name, error in errors.items())
    bounds: dict[str, tuple[Bound | None, Bound | None]] = {}
    if static_only:
        bounds = {"squats1": (at_most(15.0), at_most(10.4)), "DJ1": (at_most(25.0), at_most(17.3))}
    figures = [
        Figure(f"marker error, {label}: {name}", _real(name), errors[name], "mm", must, aim)
        for name, (must, aim) in bounds.items()
        if name in errors
    ]
    mean = float(np.mean(list(errors.values()))) if len(errors) == TRIALS else None
    must, aim = (at_most(20.0), None) if static_only else (None, at_most(11.3))
    note = listed if mean is not None else "needs all trials"
    peer = [error for name in errors if (error := reference_error(data, name)) is not None]
    note += f"; a public pipeline's {np.mean(peer):.1f}" if len(peer) == TRIALS else ""
    figures.append(Figure(f"marker error, {label}: mean of {TRIALS} trials", _real(), mean, "mm", must, aim, note))
    return figures


def mass_figures(prepared: StudyData) -> list[Figure]:
    """Body mass, and the offset of the plates in the standing trials."""
    mass = prepared.mass
    if mass is None:
        return [Figure("body mass from all trials given", _real(), None, "kg", within(63.5, 0.4))]
    offset = float(prepared.record(STATIC).plate_errors.plates[:2, OFFSET + 2].sum())
    alone = next(trial.apparent_mass for trial in mass.trials if trial.name == STATIC)
    reported = any(STATIC in finding.trials and "offset" in finding.text for finding in prepared.findings)
    return [
        Figure(
            "body mass from all trials given", _real(), mass.mass, "kg", within(63.5, 0.4),
            note=f"+- {mass.std:.2f} kg by its own account; {STATIC} alone reads {alone:.1f} kg",
        ),
        Figure(
            f"plate offset of the standing trials, found {'and' if reported else 'but NOT'} reported", _real(STATIC),
            abs(offset) if reported else float("nan"), "N", Bound(33.0, 37.0, "33 to 37"),
            note="vertical, shared by squats1 and STS1; an analysis of the data by others found 33 to 37 N",
        ),
    ]  # fmt: skip


def identification_options(prepared: StudyData) -> IdentifyOptions:
    """The pipeline's own options, a single fit."""
    return IdentifyOptions(
        base=str(prepared.rig.provenance.get("base_link", prepared.rig.links[0])),
        total_mass=None if prepared.mass is None else prepared.mass.mass,
        cross_validate=False,
    )


def predict_unseen_trials(prepared: StudyData) -> Iterator[Unseen]:
    """Predict every trial from the inertials that the pipeline's method identifies in all the others."""
    usable = [record for record in prepared.records if record.trial is not None and record.trial.counted.any()]
    rig = prepared.rig
    options = identification_options(prepared)
    for record in usable:
        trial = record.trial
        assert trial is not None
        others = [other.trial for other in usable if other.trial is not None and other is not record]
        found = identify_trials(rig, others, options)
        comparison, plain = (
            compare(rig, trial, found.parameters, found.prior, base=options.base, weights=weights)
            for weights in (found.frequency_weights, UNWEIGHTED)
        )
        yield Unseen(comparison, plain, _flight(prepared, record, trial, found.parameters, found.prior))


def travel_figures(prepared: StudyData) -> list[Figure]:
    """What weights that were learnt on squats do to walks, and the reverse."""
    trials = {record.name: record.trial for record in prepared.records if record.trial is not None}
    options, figures = identification_options(prepared), []
    for learnt, used in ((SQUATS, WALKS), (WALKS, SQUATS[1:])):
        found = identify_trials(prepared.rig, [trials[name] for name in learnt], options)
        weighted, plain = (
            [
                compare(prepared.rig, trials[name], found.parameters, found.prior, base=options.base, weights=weights)
                for name in used
            ]
            for weights in (found.frequency_weights, UNWEIGHTED)
        )
        ratios = [ours / theirs for ours, theirs in zip(_mean_rmse(weighted), _mean_rmse(plain))]
        listed = "; ".join(f"{body} {_list_axes(own)}" for body, own in zip(("identified", "prior"), ratios))
        what = f"weights learnt on {learnt[-1]}, used on {used[0]}, over no weights, worst axis"
        bounds = at_most(TRAVEL_MUST), at_most(TRAVEL_AIM)
        figures.append(Figure(what, _real(), float(np.max(ratios)), "", *bounds, listed))
    return figures


def _flight(
    prepared: StudyData, record: TrialRecord, trial: Trial, ours: InertialParameters, prior: InertialParameters
) -> FlightCheck | None:
    if record.windows is None:
        return None
    flight = record.windows.flight & trial.counted
    return check_flight(prepared.rig, trial, flight, ours, prior) if flight.sum() >= MIN_FLIGHT_FRAMES else None


def unseen_figures(splits: Sequence[Unseen], label: str) -> list[Figure]:
    """Errors of the moving trials in newtons; then ratios over every split, and over the harder moving ones."""
    moving = [split for split in splits if split.comparison.trial != STATIC]
    data = f"{_real()}, {label}"
    mean = np.array([split.ratio for split in splits]).mean(axis=0)
    worst, which = int(np.argmax(mean)), f"all {len(splits)} splits"
    harder = np.array([split.ratio for split in moving]).mean(axis=0)
    vertical = {split.comparison.trial: float(split.ratio[VERTICAL]) for split in moving}
    figures = [
        *_absolute_rows(moving, data),
        Figure("unseen trials, RMSE identified / prior, 6 axes", data, float(mean.mean()), "", at_most(0.80),
               at_most(0.68), f"{which}; {_list_axes(mean)}"),
        Figure("  the same, moments about the pelvis", data, float(mean[MOMENTS].mean()), "", at_most(0.70),
               note=which),
        Figure(f"  the same, largest axis: {WRENCH_AXES[worst]}", data, float(mean[worst]), "", at_most(1.05),
               note=which),
        Figure("unseen moving trials, RMSE identified / prior, 6 axes", data, float(harder.mean()), "",
               at_most(RATIO_MUST), at_most(RATIO_AIM),
               f"without the split that leaves out {STATIC}; {_list_axes(harder)}; {_unweighted_note(moving)}"),
        Figure("  the same, vertical force, worst split", data, max(vertical.values()), "", at_most(VERTICAL_MUST),
               note=", ".join(f"{name} {value:.2f}" for name, value in vertical.items())),
    ]  # fmt: skip
    flights = [split.flight for split in moving if split.flight is not None]
    return figures + _flight_rows(flights, label) if flights else figures


def vertical_figure(splits: Sequence[Unseen], label: str) -> Figure:
    """Mean RMSE of the vertical force [N] over the moving trials."""
    ours, prior = _mean_rmse([split.comparison for split in splits if split.comparison.trial != STATIC])
    what, note = f"unseen moving trials, mean RMSE {WRENCH_AXES[VERTICAL]}", f"prior {prior[VERTICAL]:.3g}"
    return Figure(what, f"{_real()}, {label}", float(ours[VERTICAL]), "N", note=note)


def _list_axes(ratios: np.ndarray) -> str:
    return ", ".join(f"{axis} {value:.2f}" for axis, value in zip(WRENCH_AXES, ratios))


def _absolute_rows(splits: Sequence[Unseen], data: str) -> list[Figure]:
    """Mean RMSE of each axis over the splits [N, N m].

    What is measured has the filter's whole band, so that what the reconstruction leaves out counts as an error.
    """
    ours, prior = _mean_rmse([split.comparison for split in splits])
    unweighted, unweighted_prior = _mean_rmse([split.plain for split in splits])
    rows = [
        Figure(
            f"unseen moving trials, mean RMSE {name}", data, float(ours[axis]), _unit(name), at_most(RMSE_MUST[axis]),
            at_most(RMSE_AIM[axis]), f"prior {prior[axis]:.3g}; without frequency weights {unweighted[axis]:.3g}, "
            f"prior {unweighted_prior[axis]:.3g}",
        )
        for axis, name in enumerate(WRENCH_AXES)
    ]  # fmt: skip
    what = "the same, prior with its own frequency weights"
    return rows + [Figure(f"{what} {name}", data, float(prior[k]), _unit(name)) for k, name in enumerate(WRENCH_AXES)]


def _unit(axis: str) -> str:
    return "N" if axis[0] == "F" else "N m"


def _unweighted_note(splits: Sequence[Unseen]) -> str:
    """Mean ratios that the weights enter on one side or on none."""
    over_plain = np.mean([split.comparison.ratio_to_unweighted for split in splits])
    prior = np.mean([split.comparison.prior.rmse / split.comparison.unweighted_prior.rmse for split in splits])
    plain = np.mean([split.plain.ratio for split in splits])
    return (
        f"over the prior without frequency weights: identified {over_plain:.3f}, prior with its own {prior:.3f}; "
        f"both without {plain:.3f}"
    )


def _mean_rmse(comparisons: Sequence[Comparison]) -> tuple[np.ndarray, np.ndarray]:
    """Of the identified parameters and of the prior (6,), over trials."""
    ours = np.mean([comparison.identified.rmse for comparison in comparisons], axis=0)
    return ours, np.mean([comparison.prior.rmse for comparison in comparisons], axis=0)


def _flight_rows(flights: Sequence[FlightCheck], label: str) -> list[Figure]:
    """Errors in flight and their ratios to the prior's."""
    names = f"real, {', '.join(flight.trial for flight in flights)}"
    rows = (
        ("CoM acceleration error", [flight.acceleration for flight in flights], 100.0 / GRAVITY, "% of g", (6.5, 5.0)),
        ("rate of angular momentum", [flight.momentum_rate for flight in flights], 1.0, "N m", (8.5, 6.0)),
    )
    figures = []
    for what, errors, scale, unit, (must, aim) in rows:
        found, prior = scale * np.mean(errors, axis=0)
        note = f"prior {prior:.3g}; {label}"
        figures.append(Figure(f"unseen flights, {what}", names, float(found), unit, at_most(must), at_most(aim), note))
    ratios = (("CoM acceleration error", rows[0][1], 0.9, 0.8), ("angular momentum rate", rows[1][1], 0.7, 0.55))
    for what, errors, must, aim in ratios:
        values = [ours / prior for ours, prior in errors]
        note = ", ".join(f"{flight.trial} {value:.2f}" for flight, value in zip(flights, values))
        title = f"unseen flights, {what}, identified / prior; {label}"
        figures.append(Figure(title, names, float(np.mean(values)), "", at_most(must), at_most(aim), note))
    return figures


def split_lines(splits: Sequence[Unseen]) -> list[str]:
    """Errors of each split [N, N m] on three lines, then the ratios of each on one."""
    lines = [f"  {'left out':<12}{'RMSE':<18}{''.join(f'{axis:>7}' for axis in WRENCH_AXES)}"]
    for split in splits:
        one = split.comparison
        rows = (("prior, no weights", one.unweighted_prior), ("prior", one.prior), ("identified", one.identified))
        for place, (name, own) in enumerate(rows):
            cells = "".join(f"{value:7.2f}" for value in own.rmse)
            lines.append(f"  {one.trial if not place else '':<12}{name:<18}{cells}")
    lines.append(
        f"  {'left out':<12}{'identified / prior':<18}{''.join(f'{axis:>7}' for axis in WRENCH_AXES)}   mean  frames"
    )
    for split in splits:
        cells = "".join(f"{value:7.3f}" for value in split.ratio)
        lines.append(f"  {split.comparison.trial:<30}{cells}{split.ratio.mean():7.3f}{split.comparison.frames:8d}")
    return lines


def _real(trial: str = "") -> str:
    return f"real, {SUBJECT}" + (f" {trial}" if trial else "")
