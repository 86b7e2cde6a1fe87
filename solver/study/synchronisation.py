"""The step that synchronises plates and motion: the lag of each trial, and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..dynamics import predicted_wrench
from ..errors import InvalidValue
from ..options.plates import LAG, PlateOptions
from ..rig import Rig
from ..signals import FilterPreset, Lag, combine_lags, estimate_lag, trial_lags
from .plates.finding import VERTICAL_MOMENT, Action, Finding, compute_interval
from .preparation import FilteredTrial

MS_PER_S = 1e3


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """Lags of the plates behind the motion.

    Attributes:
        lag: over all trials; None if it was not estimated.
        lags: to remove, by trial.
        findings: of the lag.
        warnings: for the report.
    """

    lag: Lag | None = None
    lags: Mapping[str, Lag] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()


def estimate_lags(
    rig: Rig, trials: Sequence[FilteredTrial], preset: FilterPreset, plates: PlateOptions
) -> Synchronisation:
    """Estimate the lag of each trial with forces, given those of the others, and the lag over all trials.

    Args:
        rig: its prior, with the right total mass, predicts the wrenches of the motion.
        trials: with windows.
        preset: filter of both sides.
        plates: findings to override.
    """
    if all(trial.wrenches is None for trial in trials):
        return Synchronisation()
    found: dict[str, Lag] = {}
    for trial in trials:
        recorded = trial.recorded_wrenches
        if recorded is None or trial.windows is None or not trial.windows.counted.any():
            continue
        predicted = predicted_wrench(rig, trial.motion, rig.prior, 0, axes="world")
        predicted[:, 3:] += np.cross(trial.motion.q[:, :3], predicted[:, :3])
        measured = np.asarray(recorded.measured).all(axis=0)
        # Without the vertical moment: the sign of its free moment is only checked after the synchronisation.
        axes = tuple(int(axis) for axis in np.flatnonzero(measured) if axis != VERTICAL_MOMENT)
        try:
            found[trial.name] = estimate_lag(
                trial.motion.times,
                predicted[:, axes],
                recorded,
                preset=preset,
                counted=trial.windows.counted,
                axes=axes,
            )
        except InvalidValue:
            continue  # too short for a lag of its own: it gets the mean lag
    try:
        mean, own = combine_lags(list(found.values())), trial_lags(list(found.values()))
    except InvalidValue as error:
        return Synchronisation(warnings=(f"plates and motion were not synchronised: {error}",))
    by_trial = dict(zip(found, own))
    lags = {t.name: by_trial.get(t.name, mean) for t in trials if t.recorded_wrenches is not None}
    overridden = plates.only_reports(LAG)
    return Synchronisation(mean, {} if overridden else lags, (report_lag(mean, lags, overridden),))


def report_lag(lag: Lag, lags: Mapping[str, Lag], overridden: bool) -> Finding:
    """The finding of the lag over all trials, and of the trials' own ``lags`` if they differ."""
    seconds, std = MS_PER_S * lag.seconds, MS_PER_S * lag.std
    low, high = compute_interval(seconds, std)
    word = "lag" if seconds >= 0.0 else "lead"
    text = f"the plates {word} the motion by {abs(seconds):.1f} ms ({low:.1f} to {high:.1f}, 95 %)"
    if len({own.seconds for own in lags.values()}) > 1:
        listed = ", ".join(f"{name} {MS_PER_S * own.seconds:.1f}" for name, own in lags.items())
        text += f", with differences between trials: {listed} ms"
    return Finding(LAG, tuple(lags), seconds, (low, high), "ms", Action.TAKEN_OFF.unless(overridden), text)
