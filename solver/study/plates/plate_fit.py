"""Finds the errors of the plates of all trials, corrects what is certain, and reports the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...base.errors import InvalidValue
from ...options.plates import AS_SHOWN, FREE_MOMENT, IGNORE, LAG, REVERSED, PlateOptions
from ...signals import FilterPreset, Lag, resample
from ...signals.plate_errors import FREE_MOMENT as FREE_MOMENT_PARAMETER
from ...signals.plate_errors import PARAMETERS, PlateErrors
from ...signals.pooling import TWO_SIDED_STDS
from ...skeleton.rig import Rig
from ..preparation import FilteredTrial
from .finding import UNKNOWN_INTERVAL, Action, Finding, compute_interval
from .plate_model import (
    COMMON_LAG,
    SYNC,
    PlateEstimate,
    PlateHypothesis,
    PlateModel,
    body_root,
    find_causes,
    list_hypotheses,
    parameter_stds,
    sum_trial,
)

ROUNDS, SETTLED = 4, 0.001
"""Largest number of rounds in which the plates' time is corrected, and the change [s] that ends them: the model is
linear in a lag. Chosen on lags of 60 to 80 ms put into trials of subject_a and subject_c."""
LEAST_LAG_STD = 0.02
"""[s] A lag that is less certain is not known. Chosen on subject_a's quiet standing (4 ms)."""
USUAL_LAG = 0.02
"""[s] Longer lags are warned of: acquisition systems lag by milliseconds. Chosen on 17 trials of six people
(at most 18 ms)."""


@dataclass(frozen=True, slots=True)
class PlateFit:
    """Errors of the plates.

    Attributes:
        findings: of every cause.
        errors: to remove, by trial.
        tolerances: by trial, one standard deviation of each error that is not removed.
        lag: of the plates behind the motion, over all trials; None if no trial shows it.
    """

    findings: tuple[Finding, ...] = ()
    errors: Mapping[str, PlateErrors] = field(default_factory=dict)
    tolerances: Mapping[str, PlateErrors] = field(default_factory=dict)
    lag: Lag | None = None


def fit_plates(
    rig: Rig,
    trials: Sequence[FilteredTrial],
    preset: FilterPreset,
    options: PlateOptions,
    groups: Sequence[Sequence[str]],
) -> PlateFit:
    """Fit the plates of all trials together with the body.

    Args:
        rig: its prior, with the right total mass, predicts the wrenches of the motion.
        trials: with windows.
        preset: filter of both sides.
        options: findings to override, and known plates.
        groups: names of trials whose plates read the same mass.

    Raises:
        InvalidValue: no plate explains the forces of any trial.
    """
    recorded = {
        t.name: t.recorded_wrenches for t in trials if t.recorded_wrenches is not None and t.windows is not None
    }
    errors = {trial.name: _start(trial, options) for trial in trials if trial.name in recorded}
    if not recorded:
        return PlateFit()
    tolerances = parameter_stds(limits=False)
    stds = {name: np.tile(tolerances, (len(own.plates), 1)) for name, own in errors.items()}
    root = body_root(rig)
    for _ in range(ROUNDS):
        sums = []
        for trial in trials:
            if trial.name in recorded:
                own = errors[trial.name]
                wrenches = resample(own.remove_from(recorded[trial.name]), trial.motion.times, preset)
                summed = sum_trial(rig, root, trial, wrenches, own.start - own.lag)
                sums += [] if summed is None else [summed]
        if not sums:
            return PlateFit((), errors, _as_errors(stds, errors))
        estimates = _search(PlateModel(sums, len(root)), groups, options)
        times = [found for found, _ in estimates if found.hypothesis.cause.kind == LAG and _is_certain(found, errors)]
        for found in () if options.only_reports(LAG) else times:
            _correct(errors, found, found.sizes)
        if max((abs(found.sizes[0]) for found in times), default=0.0) < SETTLED or options.only_reports(LAG):
            break
    common = estimates[0][0]
    lag = Lag(float(np.mean([own.lag for own in errors.values()]) or common.sizes[0]), float(common.stds[0]))
    findings, left_out = [_report_time(lag, errors, options)], set()
    unexplained: set[str] = set()  # trials with a more likely cause that is not corrected
    for found, rival in sorted(estimates, key=lambda each: -each[0].evidence):
        if found.hypothesis.cause.kind == LAG or not found.notable.any():
            continue
        done, sizes = decide_action(found, rival, options)
        if done is Action.UNDONE and not unexplained.isdisjoint(found.hypothesis.trials):
            done, sizes = Action.REPORTED, np.zeros_like(sizes)
        unexplained |= set(found.hypothesis.trials) if done is Action.REPORTED else set()
        _correct(errors, found, sizes)
        _widen(stds, found, np.where(sizes == 0.0, np.abs(found.sizes), found.conditional_stds))
        if rival is not None:
            _widen(stds, rival, np.abs(rival.sizes))
        left_out |= set(found.hypothesis.trials) if done is Action.LEFT_OUT else set()
        findings.append(_report(found, rival, done))
    if left_out >= recorded.keys():
        text = "; ".join(finding.sentence for finding in findings if finding.done is Action.LEFT_OUT)
        raise InvalidValue(f"no plate explains the forces of any trial: {text}. Correct the files of the forces")
    return PlateFit(tuple(findings), errors, _as_errors(stds, errors), lag if lag.std < LEAST_LAG_STD else None)


def _is_certain(found: PlateEstimate, errors: Mapping[str, PlateErrors]) -> bool:
    """Whether a lag or clock is corrected; a lag of all trials unless it is small, unknown, or unusual and doubtful."""
    if found.hypothesis.concerns_all and found.hypothesis.cause is COMMON_LAG:
        total = abs(float(found.sizes[0] + np.mean([own.lag for own in errors.values()])))
        return bool(found.stds[0] < LEAST_LAG_STD and total > (3.0 * found.stds[0] if total > USUAL_LAG else SETTLED))
    return bool(found.notable.all())


def _start(trial: FilteredTrial, options: PlateOptions) -> PlateErrors:
    """What is known of a trial's plates before the fit."""
    recorded = trial.recorded_wrenches
    assert recorded is not None
    layout = None if options.known is None else options.known.layout(recorded.frames)
    plates = np.zeros((len(recorded.frames), PARAMETERS)) if layout is None else np.array(layout.errors)
    is_used = layout is None or layout.has_vertical_moment
    if options.free_moment != AS_SHOWN:
        plates[:, FREE_MOMENT_PARAMETER] = 2.0 * (options.free_moment == REVERSED)
        is_used = options.free_moment != IGNORE
    return PlateErrors(plates, trial.lag, 0.0, float(recorded.times[0]), is_used)


def _search(
    model: PlateModel, groups: Sequence[Sequence[str]], options: PlateOptions
) -> list[tuple[PlateEstimate, PlateEstimate | None]]:
    """The lag of all trials, and causes that they show; each with one that explains nearly as much."""

    def is_open(hypothesis: PlateHypothesis) -> bool:
        layouts = [trial.plates for index, trial in enumerate(model.trials) if index in hypothesis.columns]
        is_known = options.known is not None and any(options.known.layout(plates) for plates in layouts)
        if hypothesis.cause.kind == FREE_MOMENT and options.free_moment != AS_SHOWN:
            return False
        return not (is_known and hypothesis.cause.is_calibration)

    hypotheses = [each for each in list_hypotheses(model.trials, groups) if is_open(each)]
    common = next(each for each in hypotheses if each.cause is COMMON_LAG)
    return find_causes(model, common, [each for each in hypotheses if each is not common])


def decide_action(
    found: PlateEstimate, rival: PlateEstimate | None, options: PlateOptions
) -> tuple[Action, np.ndarray]:
    """What is done about a cause that another one (or None) rivals, and the sizes (k,) to remove."""
    cause, none = found.hypothesis.cause, np.zeros(len(found.sizes))
    sizes = np.where(found.notable, found.sizes, 0.0)
    limits = np.array([component.limit for component in cause.components])
    if options.only_reports(cause.kind):
        return Action.OVERRIDDEN, none
    if cause.is_sign:
        sizes = 2.0 * (sizes > 1.0)
    if rival is not None or not sizes.any():
        return Action.REPORTED, none
    return (Action.LEFT_OUT, none) if (np.abs(sizes) > limits).any() else (Action.UNDONE, sizes)


def _correct(errors: dict[str, PlateErrors], found: PlateEstimate, sizes: np.ndarray) -> None:
    """Add sizes (k,) of a cause to the errors of its trials, by name; of all trials if it concerns every fitted one."""
    hypothesis = found.hypothesis
    for name in errors if hypothesis.concerns_all else hypothesis.trials:
        own = errors[name]
        plates, sync = own.plates.copy(), np.zeros(SYNC)
        for component, size in zip(hypothesis.cause.components, sizes):
            if component.parameter < 0:
                sync[component.parameter] += size
            else:
                plates[hypothesis.find_plates(component), component.parameter] += size
        errors[name] = replace(own, plates=plates, lag=own.lag + sync[0], clock=own.clock + sync[1])


def _widen(stds: dict[str, np.ndarray], found: PlateEstimate, sizes: np.ndarray) -> None:
    """Raise the standard deviations (K, 22 + 2) of a cause's trials, by name, to sizes (k,) that may be left."""
    hypothesis = found.hypothesis
    for name in stds if hypothesis.concerns_all else hypothesis.trials:
        for component, size in zip(hypothesis.cause.components, sizes):
            chosen = hypothesis.find_plates(component)
            own = stds[name][chosen, component.parameter]
            stds[name][chosen, component.parameter] = np.maximum(own, size)


def _as_errors(stds: Mapping[str, np.ndarray], errors: Mapping[str, PlateErrors]) -> dict[str, PlateErrors]:
    """Standard deviations (K, 22 + 2) as errors, on the time of the motion."""
    return {
        name: PlateErrors(own[:, :PARAMETERS], own[0, -2], own[0, -1], errors[name].start - errors[name].lag)
        for name, own in stds.items()
    }


def _describe(found: PlateEstimate) -> str:
    """A cause in words, with its certain sizes."""
    parts = [
        f"{c.factor * size:.3g} ± {TWO_SIDED_STDS * abs(c.factor) * std:.2g} {c.unit} {c.place}".rstrip()
        for c, size, std, notable in zip(found.hypothesis.cause.components, found.sizes, found.stds, found.notable)
        if notable
    ]
    plates = f" ({', '.join(found.hypothesis.plates)})" if found.hypothesis.plates else ""
    return f"{found.hypothesis.cause.text}{plates}: {' and '.join(parts)}"


def _report(found: PlateEstimate, rival: PlateEstimate | None, done: Action) -> Finding:
    hypothesis = found.hypothesis
    most = int(np.argmax(found.notable * np.abs(found.sizes) / found.stds))
    component = hypothesis.cause.components[most]
    value, std = component.factor * float(found.sizes[most]), abs(component.factor) * float(found.stds[most])
    text = _describe(found)
    if rival is not None:
        other = rival.hypothesis
        text += (
            f"; the motion does not distinguish it from another cause ({_describe(rival)}; {', '.join(other.trials)})"
        )
    unit = component.unit.split()[0]
    return Finding(hypothesis.cause.kind, hypothesis.trials, value, compute_interval(value, std), unit, done, text)


def _report_time(lag: Lag, errors: Mapping[str, PlateErrors], options: PlateOptions) -> Finding:
    """The finding of lag and clock of all trials."""
    if lag.std > LEAST_LAG_STD:
        text = "no trial shows the time lag between plates and motion"
        return Finding(LAG, tuple(errors), np.nan, UNKNOWN_INTERVAL, "ms", Action.UNCERTAIN, text)
    low, high = compute_interval(1e3 * lag.seconds, 1e3 * lag.std)
    word = "lag" if lag.seconds >= 0.0 else "lead"
    text = f"the plates {word} the motion by {1e3 * abs(lag.seconds):.1f} ms ({low:.1f} to {high:.1f}, 95 %)"
    if np.ptp([own.lag for own in errors.values()]) > SETTLED:
        listed = ", ".join(f"{name} {1e3 * own.lag:.1f}" for name, own in errors.items())
        text += f", with differences between trials: {listed} ms"
    if clocks := [f"{name} {100.0 * own.clock:.2f}" for name, own in errors.items() if own.clock]:
        text += f", and their clock is slow: {', '.join(clocks)} %"
    most = max(abs(own.lag) for own in errors.values())
    done = Action.UNDONE if clocks or most > USUAL_LAG else Action.TAKEN_OFF if most else Action.NOTHING
    return Finding(
        LAG, tuple(errors), 1e3 * lag.seconds, (low, high), "ms", done.unless(options.only_reports(LAG)), text
    )
