"""Checks whether forces and motion of a recording belong together, and finds the likely cause if they do not.

Forces that push more than the motion allows cannot belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ...options.plates import MISMATCH
from ...signals.hypotheses import HypothesisScore, find_best
from ...signals.pooling import LEAST_BLOCKS
from ...skeleton.rig import GRAVITY
from ...values.wrenches import Wrenches
from .finding import UNKNOWN_INTERVAL, Action, Finding, compute_interval
from .hypotheses import (
    MAX_RATIO_OWN_FRAMES,
    compute_changed_total,
    compute_mean_residual,
    compute_residual,
    evaluate,
    evaluate_on_own_frames,
    find_mean_centres,
    list_hypotheses,
)
from .plate_axes import find_plate_rotations
from .trial_wrenches import ForceMotionPair, TimeOffset, force_variation, is_loaded

EXCESS_FORCE = 0.3
"""Fraction of the weight by which the plates' force exceeds what the motion allows."""
MAX_IMPOSSIBLE_FRACTION = 0.3
"""Fraction of the loaded time above which forces count as impossible: hard landings and lost markers cause less."""
OTHER_RECORDING = "the forces are from another recording, or not synchronised"


def excess_force_fraction(item: ForceMotionPair, measured: np.ndarray, mass: float) -> float:
    """Fraction of the loaded time in which wrenches (N, 6) push harder than the motion allows.

    Support that was not measured can explain a missing force, but never an excess.
    """
    loaded = is_loaded(measured, mass)
    beyond = measured[loaded, 2] - item.predicted[loaded, 2] > EXCESS_FORCE * mass * GRAVITY
    return float(beyond.mean()) if loaded.any() else 0.0


MAX_LAG, MAX_TIME_OFFSET, TIME_OFFSET_STEP = 0.1, 2.0, 0.05
"""[s] Largest lag of plates that is corrected; range and step of the time offsets that are tried. Chosen
on lags put into trials of subject_a and subject_c."""
MAX_LAG_RATIO = 0.95
"""Largest ratio of the residuals with and without a lag at which the fit of the plates starts there. Chosen on
17 trials of six people."""
MIN_OVERLAP = 0.5
"""Fraction of the trial that must still have forces after a time offset."""
MIN_FORCE_VARIATION = 0.02
"""Smallest variation of forces, as a fraction of the weight, that shows their time offset or their recording."""
DISPLACEMENT, MAX_DISPLACEMENT = "displaced plates", 0.1
"""A cause that is no mismatch, and its limit [m]: `plate_fit` finds and corrects it up to there. By definition."""
MAX_STANDING_VARIATION = 0.08
"""Fraction of the weight by which one side must vary before a constant other side counts as a mismatch: tracked
standing has noise."""
MIN_SUPPORT = 0.8
"""Fraction of the required vertical force that the plates must measure; with less, unmeasured support may explain a
mismatch."""
MIN_BAND_RATIO = 0.1
"""Least fraction of the predicted force in the octave below the cut-off that plates must measure. In 16 trials of six
people it is 0.40 to 1.1; after a low-pass of 3 Hz 0.005 to 0.07. Chosen on these trials."""
MAX_BETTER_FRACTION = 0.05
"""Largest accepted fraction of time offsets at which forces fit better than without one."""


def check_mismatch(
    pairs: Sequence[ForceMotionPair],
    mass: float,
    cutoff: float,
    overridden: bool,
    joint_causes: Mapping[str, tuple[str, HypothesisScore]] = MappingProxyType({}),
) -> list[Finding]:
    """Find trials whose forces do not belong to their motion, each with the most likely cause.

    Args:
        pairs: trials with motion and forces.
        mass: [kg] of the body, roughly.
        cutoff: [Hz] of the low-pass of both sides.
        overridden: True: leave no trial out.
        joint_causes: likely errors of recorded joint coordinates, by trial.
    """
    rotations = find_plate_rotations(pairs, mass)
    found = []
    for item in pairs:
        others = {other.name: other.wrenches for other in pairs if other is not item}
        rotation = rotations.get(item.name)
        causes = [(rotation.text, rotation.evaluation)] if rotation is not None else []
        causes += [joint_causes[item.name]] if item.name in joint_causes else []
        if (mismatch := _find_mismatch(item, mass, cutoff, others, causes)) is not None:
            evidence, interval, text, is_error = mismatch
            done = Action.LEFT_OUT.unless(overridden) if is_error else Action.REPORTED
            found.append(Finding(MISMATCH, (item.name,), evidence, interval, "", done, text))
    return found


def _find_mismatch(
    item: ForceMotionPair,
    mass: float,
    cutoff: float,
    others: Mapping[str, Wrenches],
    causes: Sequence[tuple[str, HypothesisScore]],
) -> tuple[float, tuple[float, float], str, bool] | None:
    """Evidence with its interval, a sentence, and whether the trial must be left out; None without a mismatch."""
    if not is_loaded(item.measured, mass).any() and is_loaded(item.predicted, mass).mean() > MAX_IMPOSSIBLE_FRACTION:
        text = "the plates never carry anything: nobody stepped on them, or the forces are from another time"
        return 0.0, UNKNOWN_INTERVAL, text, False
    best = find_best_hypothesis(item, others, mass)
    if known := [cause for cause in (best, *causes) if cause is not None]:
        text, evaluation = min(known, key=lambda cause: cause[1].ratio)
        text = f"{text}; this reduces the mean squared residual to {evaluation.ratio:.2f} of its value"
        return evaluation.ratio, compute_interval(evaluation.ratio, evaluation.std), text, True
    if (share := excess_force_fraction(item, item.measured, mass)) > MAX_IMPOSSIBLE_FRACTION:
        text = f"the plates push harder than the motion allows, in {100.0 * share:.0f} % of the loaded time"
        return share, UNKNOWN_INTERVAL, f"{text}: {OTHER_RECORDING}", True
    share, text = find_unrelated_forces(item, mass)
    if share > MAX_BETTER_FRACTION:
        return share, UNKNOWN_INTERVAL, f"{text}: {OTHER_RECORDING}", True
    if (ratio := compute_band_ratio(item, cutoff)) < MIN_BAND_RATIO:
        band = f"from {0.5 * cutoff:g} to {cutoff:g} Hz"
        text = f"the forces are smoothed: {band} they contain {100.0 * ratio:.0f} % of what the motion needs; "
        return ratio, UNKNOWN_INTERVAL, f"{text}export them with a higher low-pass, or without one", True
    return None


def compute_band_ratio(item: ForceMotionPair, cutoff: float) -> float:
    """Vertical force in the octave below a cut-off [Hz], measured over predicted; 1 for a body that hardly moves."""
    known = np.isfinite(item.measured[:, 2])
    forces = np.stack([item.measured[known, 2], item.predicted[known, 2]])
    weight = float(np.mean(forces[1])) if known.any() else 0.0
    if not np.std(forces[0]) > MIN_FORCE_VARIATION * weight:
        return 1.0
    rate = (len(item.times) - 1) / (item.times[-1] - item.times[0])
    power = np.abs(np.fft.rfft((forces - forces.mean(axis=1, keepdims=True)) * np.hanning(known.sum()))) ** 2
    frequency = np.fft.rfftfreq(known.sum(), 1.0 / rate)
    measured, predicted = power[:, (frequency > 0.5 * cutoff) & (frequency < cutoff)].sum(axis=1)
    return float(np.sqrt(measured / max(predicted, np.finfo(float).tiny)))


def find_best_hypothesis(
    item: ForceMotionPair, others: Mapping[str, Wrenches], mass: float
) -> tuple[str, HypothesisScore] | None:
    """The cause, in words, that explains a trial's forces best; None if no cause is certain.

    Args:
        item: the trial.
        others: forces of the other trials, by name.
        mass: [kg] of the body, roughly.
    """
    as_it_is = compute_residual(item, item.measured, mass)
    # If a hypothesis leaves impossible forces, its smaller residual proves nothing.
    candidates = [
        (text, evaluate(item.times, as_it_is, compute_residual(item, corrected, mass)))
        for text, corrected in _iterate_hypotheses(item, others, mass)
        if excess_force_fraction(item, corrected, mass) <= MAX_IMPOSSIBLE_FRACTION
    ]
    if not item.lag:  # else it is what fits best of all
        candidates[:0] = [
            (_describe_time_offset(offset.seconds), offset.evaluation)
            for offset in item.time_offsets
            if abs(offset.seconds) > MAX_LAG
        ]
    best = find_best(candidates)
    return None if best is None or best[0] == DISPLACEMENT else best


def _iterate_hypotheses(
    item: ForceMotionPair, others: Mapping[str, Wrenches], mass: float
) -> Iterator[tuple[str, np.ndarray]]:
    """Yields causes in words, each with a trial's total wrenches (N, 6) as they would be without the error."""
    centres = find_mean_centres(item.wrenches)
    for text, change in list_hypotheses(item.wrenches.frames).items():
        changed = compute_changed_total(change, item.wrenches, centres)
        yield text, np.where(np.isfinite(item.measured), changed, np.nan)
    moved = item.measured
    moved[:, 3:] += np.cross(_estimate_plate_displacement(item), moved[:, :3])
    yield DISPLACEMENT, moved
    if force_variation(item.predicted, mass) > MIN_FORCE_VARIATION:
        for name, wrenches in others.items():
            if force_variation(wrenches.total, mass) > MIN_FORCE_VARIATION:
                cause = f"the forces are from another trial (those of {name} fit better); specify the right file"
                yield cause, _align_frames(item, wrenches)


def find_unrelated_forces(item: ForceMotionPair, mass: float) -> tuple[float, str]:
    """Fraction of time offsets at which forces fit better, with a text; 0 if the forces follow the motion.

    Forces that belong to a moving body fit its motion best without a time offset. If a lag was removed from them, they
    must follow the motion: a constant force may not explain them better. Plates that carry only a part of the body are
    not checked, because unmeasured support may balance any change.
    """
    loaded = is_loaded(item.measured, mass)
    needed, pushed = item.predicted[loaded], item.measured[loaded]
    if loaded.sum() < LEAST_BLOCKS or pushed[:, 2].sum() < MIN_SUPPORT * needed[:, 2].sum():
        return 0.0, ""
    motion, plates = force_variation(needed, mass), force_variation(pushed, mass)
    if min(motion, plates) < MIN_FORCE_VARIATION and max(motion, plates) > MAX_STANDING_VARIATION:
        what = "vary while the body stands" if motion < plates else "are constant while the body moves"
        return 1.0, f"the forces {what}"
    if item.lag and np.var(pushed[:, 2] - needed[:, 2]) > np.var(pushed[:, 2]):
        return 1.0, f"the forces fit best with a lag of {1e3 * item.lag:.0f} ms, but do not follow the motion even so"
    own = compute_mean_residual(item, mass)
    other = np.array([each.residual for each in item.time_offsets if abs(each.seconds - item.lag) > MAX_LAG])
    if min(motion, plates) < MIN_FORCE_VARIATION or not len(other):
        return 0.0, ""
    share = float((other < own).mean()) if own > MAX_RATIO_OWN_FRAMES * float(np.median(other)) else 0.0
    return share, f"the forces fit the motion better at {100.0 * share:.0f} % of other time offsets"


def search_time_offsets(item: ForceMotionPair, mass: float) -> tuple[TimeOffset, ...]:
    """The forces of a trial that moves, at time offsets up to `MAX_TIME_OFFSET` either way, in order.

    Args:
        item: the trial.
        mass: [kg] of the body, roughly.
    """
    measured, count, found = item.measured, len(item.times), []
    rate, as_it_is = (count - 1) / (item.times[-1] - item.times[0]), compute_residual(item, measured, mass)
    most = round(MAX_TIME_OFFSET / TIME_OFFSET_STEP) + 1  # so that the largest offset has a neighbour on either side
    for seconds in TIME_OFFSET_STEP * np.arange(-most, most + 1):
        steps = round(abs(seconds) * rate)
        moved = np.full_like(measured, np.nan)
        if seconds > 0.0:
            moved[: max(count - steps, 0)] = measured[steps:]
        else:
            moved[steps:] = measured[: max(count - steps, 0)]
        if np.isfinite(moved[:, :3]).all(axis=1).mean() > MIN_OVERLAP:
            own = compute_residual(item, moved, mass)
            score = evaluate_on_own_frames(item.times, as_it_is, own)
            found.append(TimeOffset(float(seconds), score, float(np.nanmean(own.square))))
    return tuple(found) if force_variation(item.predicted, mass) > MIN_FORCE_VARIATION else ()


def find_lag(offsets: Sequence[TimeOffset], as_it_is: float) -> float:
    """Lag [s] at which a trial's forces fit its motion best, between steps by a parabola; `plate_fit` refines it.

    Args:
        offsets: see `search_time_offsets`.
        as_it_is: mean squared residual of the forces as they are.
    """
    likely = [
        k
        for k in range(1, len(offsets) - 1)
        if offsets[k].residual <= min(offsets[k - 1].residual, offsets[k + 1].residual)
        and (
            offsets[k].evaluation.is_certain
            or (abs(offsets[k].seconds) <= MAX_LAG and offsets[k].residual < MAX_LAG_RATIO * as_it_is)
        )
    ]
    if not likely:
        return 0.0
    least = min(offsets[k].residual for k in likely) / MAX_RATIO_OWN_FRAMES
    # strides repeat: of offsets that fit nearly as well the smallest
    best = min((k for k in likely if offsets[k].residual < least), key=lambda k: abs(offsets[k].seconds))
    before, own, after = (offset.residual for offset in offsets[best - 1 : best + 2])
    curvature = before - 2.0 * own + after
    between = 0.5 * (before - after) / curvature if curvature > 0.0 else 0.0
    return offsets[best].seconds + TIME_OFFSET_STEP * float(np.clip(between, -0.5, 0.5))


def _align_frames(item: ForceMotionPair, wrenches: Wrenches) -> np.ndarray:
    """Another trial's total (N, 6) frame by frame, NaN after its end."""
    other = np.where(np.asarray(wrenches.measured), wrenches.total, np.nan)[: len(item.times)]
    return np.pad(other, ((0, len(item.times) - len(other)), (0, 0)), constant_values=np.nan)


def _estimate_plate_displacement(item: ForceMotionPair) -> np.ndarray:
    """Displacement (3,) [m] of all plates, up to `MAX_DISPLACEMENT`, that explains the level moments best."""
    measured = item.measured
    known = np.isfinite(measured).all(axis=1)
    if not known.any():
        return np.zeros(3)
    force = measured[known, :3]
    missing = item.predicted[known, 3:] - (measured[known, 3:] - np.cross(item.root_positions[known], force))
    square = float(force[:, 2] @ force[:, 2])
    found = np.array([-missing[:, 1] @ force[:, 2], missing[:, 0] @ force[:, 2], 0.0]) / max(square, 1.0)
    return np.clip(found, -MAX_DISPLACEMENT, MAX_DISPLACEMENT)


def _describe_time_offset(seconds: float) -> str:
    word = "late" if seconds > 0.0 else "early"
    return f"the forces are {abs(seconds):.2f} s too {word}; export both with one clock"
