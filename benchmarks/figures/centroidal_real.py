"""Centroidal figures of real recordings: errors of every estimator on forces that it was not given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver.centroidal.complementary import complementary
from solver.centroidal.inputs import centroidal_data
from solver.centroidal.smoother import SmootherSettings, smooth_centroidal
from solver.centroidal.values import CentroidalData
from solver.identification.identify import identify_trials
from solver.signals import GRAVITY, is_still, low_pass, true_runs
from solver.study.values import StudyData
from solver.values.filter_presets import FilterPreset

from .centroidal_hidden import hidden_masks, kinematic_wrench, wrench_error
from .centroidal_learning import learn_momentum_blend
from .centroidal_noise import FIRST, FIRST_HALF, SECOND_HALF
from .figure import Figure, at_most
from .subject import identification_options

JUMPS = ("DJ1", "DJ2", "DJAsym1")
INNER = 0.25
"""Share of a hidden interval at each end that the inner part leaves out."""
SHORTEST = 0.05
"""[s] of a flight."""
EDGE = 0.03
"""[s] at each end of a flight that the sanity check leaves out: there the plates still feel the filter."""
STANCE = 0.1
"""[s] of measured stance from which a jump takes off."""
BELOW = FilterPreset("below 1 Hz", 3, 1.0)
SLOW = "squats1"
FALL = np.array([0.0, 0.0, -GRAVITY])


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trial's signals by inertials that were identified on the subject's other trials, and by the prior.

    Attributes:
        name: of the trial.
        data, prior: signals.
        settings: estimated on the half that the trial is not in.
    """

    name: str
    data: CentroidalData
    prior: CentroidalData
    settings: SmootherSettings


def collect_recordings(prepared: StudyData) -> list[Recorded]:
    """Every moving trial with forces; a subject's only trial is explained by inertials fitted to itself."""
    usable = [record for record in prepared.records if record.trial is not None and record.trial.counted.any()]
    rig = prepared.rig
    options = identification_options(prepared)
    found = []
    for record in usable:
        assert record.trial is not None
        if is_still(rig, record.trial.motion.q[record.trial.counted]):
            continue
        others = [other.trial for other in usable if other.trial is not None and other is not record]
        identified = identify_trials(rig, others or [record.trial], options)
        settings = SECOND_HALF if record.name in FIRST else FIRST_HALF
        data = centroidal_data(rig, record.trial, identified.parameters, identified.covariance_root)
        prior = centroidal_data(rig, record.trial, rig.prior)
        found.append(Recorded(record.name, data, prior, settings))
    return found


@dataclass(frozen=True, slots=True)
class Hidden:
    """Squared errors in hidden intervals of one kind: force [N^2] and moment [N^2 m^2], summed.

    Attributes:
        trial: its name.
        kinematic, spliced, ours: (2,) of the kinematics, of the kinematics put into the measured wrench, and of the
            estimate put there; what each leaves passes the 8 Hz filter.
        count: number of hidden intervals.
    """

    trial: str
    kinematic: np.ndarray
    spliced: np.ndarray
    ours: np.ndarray
    count: int

    def ratio(self, null: np.ndarray) -> np.ndarray:
        """(2,) root mean square error of force and moment over a null's."""
        return np.asarray(np.sqrt(self.ours / null))


def hide_wrenches(trial: Recorded, seconds: float, inner: float = 0.0) -> Hidden | None:
    """Stance intervals of a length, or flights (0), hidden from the estimator; None where the trial has none."""
    data, bare = trial.data, kinematic_wrench(trial.data)
    sums, count = np.zeros((3, 2)), 0
    for frames in hidden_masks(data, seconds):
        estimate = smooth_centroidal(data.without_wrench(frames), trial.settings).required_wrench
        judged = _inner(frames, inner)
        count += len(true_runs(frames))
        tried = bare, *(np.where(frames[:, None], wrench, data.wrench) for wrench in (bare, estimate))
        for row, wrench in enumerate(tried):
            error = wrench_error(data, wrench, judged) ** 2
            sums[row] += error[:, :3].sum(), error[:, 3:].sum()
    return Hidden(trial.name, sums[0], sums[1], sums[2], count) if sums.any() else None


def _inner(frames: np.ndarray, share: float) -> np.ndarray:
    judged = np.zeros_like(frames)
    for start, stop in true_runs(frames):
        cut = round(share * (stop - start))
        judged[start + cut : stop - cut] = True
    return judged


def hidden_figures(trials: Sequence[Recorded], where: str) -> list[Figure]:
    """Flights and stance, hidden."""
    figures = []
    jumps, runs = [t for t in trials if t.name in JUMPS], [t for t in trials if t.name.startswith("run")]
    for label, chosen, must, aim in (("jumps", jumps, 0.80, 0.60), ("runs", runs, 0.70, 0.50)):
        found = [h for t in chosen if (h := hide_wrenches(t, 0.0))]
        if not found:
            continue
        mean = np.mean([h.ratio(h.kinematic) for h in found], axis=0)
        note = ", ".join(
            f"{h.trial} {h.ratio(h.kinematic)[0]:.2f} / {h.ratio(h.kinematic)[1]:.2f}"
            f" (splice {np.sqrt(h.spliced / h.kinematic)[0]:.2f} / {np.sqrt(h.spliced / h.kinematic)[1]:.2f})"
            for h in found
        )
        what = f"flights of {label}, forces withheld: CoM acceleration error over kinematics'"
        figures.append(Figure(what, where, float(mean[0]), "", at_most(must), at_most(aim), note))
        figures.append(Figure("  the same, momentum rate", where, float(mean[1]), "", at_most(1.0), at_most(0.72)))
    for seconds, inner, must, aim in ((0.1, 0.0, 0.70, 0.55), (0.2, 0.0, 0.85, 0.70), (0.2, INNER, 0.85, 0.70)):
        found = [h for t in trials if (h := hide_wrenches(t, seconds, inner))]
        if not found:
            continue
        mean = np.mean([h.ratio(h.kinematic) for h in found], axis=0)
        splice = np.mean([h.ratio(h.spliced) for h in found], axis=0)
        label = f"stance hidden for {1e3 * seconds:.0f} ms" + (", its inner half" if inner else "")
        each = (f"{h.trial} {h.ratio(h.kinematic)[0]:.2f} / {h.ratio(h.kinematic)[1]:.2f} ({h.count})" for h in found)
        note = f"force / moment, in brackets number of hidden intervals: {', '.join(each)}"
        what = f"{label}: force error over kinematics'"
        figures.append(Figure(what, where, float(mean[0]), "", at_most(must), at_most(aim), note))
        figures.append(Figure("  the same over the splice's", where, float(splice[0])))
        note = _reachable(trials, seconds, inner) if inner else ""
        what = f"{label}: moment error over kinematics'"
        figures.append(Figure(what, where, float(mean[1]), "", at_most(0.95), at_most(0.85), note))
        figures.append(Figure("  the same over the splice's", where, float(splice[1]), "", None, at_most(0.95)))
    return figures


def _reachable(trials: Sequence[Recorded], seconds: float, inner: float) -> str:
    """Note on the error with the momentum blend fitted on the same intervals that it is compared on."""
    own = [
        replace(t, settings=learn_momentum_blend([t.data], t.settings))
        for t in trials
        if hide_wrenches(t, seconds, inner)
    ]
    found = [h for t in own if (h := hide_wrenches(t, seconds, inner))]
    mean = np.mean([h.ratio(h.kinematic) for h in found], axis=0)
    listed = ", ".join(f"{h.trial} {h.ratio(h.kinematic)[1]:.2f}" for h in found)
    return f"with the blend fitted on each compared trial itself {mean[1]:.2f}: {listed}"


def flight_figures(trials: Sequence[Recorded], where: str) -> list[Figure]:
    """Flights with forces given, and averages over flights of jumps whose forces are withheld."""
    given, turned, plates, papers = [], [], [], []
    jumps: list[tuple[float, float]] = []
    drops: list[tuple[float, float]] = []
    for trial in trials:
        data = trial.data
        for frames in hidden_masks(data, 0.0):
            whole, paper = smooth_centroidal(data, trial.settings), complementary(data)
            inside = _trimmed(frames, data.rate)
            if inside.any():
                spun = data.moment[inside] + np.cross(data.force[inside], data.com[inside])
                given.append(whole.acceleration[inside] - data.force_acceleration[inside])
                turned.append(whole.momentum_rate[inside] - spun)
                plates.append(data.force_acceleration[inside] - FALL)
                papers.append(paper.acceleration[inside] - FALL)
            if trial.name in JUMPS:
                withheld = smooth_centroidal(data.without_wrench(frames), trial.settings)
                for start, stop in true_runs(frames):
                    off = (withheld.acceleration[start:stop] - FALL).mean(axis=0)
                    spin = withheld.momentum_rate[start:stop].sum(axis=0) / data.rate
                    pair = 100.0 / GRAVITY * float(np.linalg.norm(off)), float(np.linalg.norm(spin))
                    (jumps if _jumped(data, start) else drops).append(pair)
    figures = []
    if given:
        share = 100.0 / GRAVITY
        printed = share * _rms(np.concatenate(papers))
        read = share * _rms(np.concatenate(plates))
        note = (
            f"RMS; the plates themselves read {read:.2g} % of g there; the paper's cut-offs are {printed:.2g} % off "
            f"gravity; {EDGE * 1e3:.0f} ms at both ends of each flight left out"
        )
        off = share * _rms(np.concatenate(given))
        what = "flights, forces given: CoM acceleration error against the forces"
        figures.append(Figure(what, where, off, "% of g", at_most(0.1), None, note))
        figures.append(Figure("  the same, momentum rate", where, _rms(np.concatenate(turned)), "N m", at_most(0.1)))
    if jumps:
        speed, spin = np.mean(jumps, axis=0).tolist()
        listed, dropped = (", ".join(f"{s:.2f} / {m:.2f}" for s, m in pairs) for pairs in (jumps, drops))
        figures.append(
            Figure(
                "flights of jumps, forces withheld: velocity change over time", where, speed, "% of g", at_most(0.85),
                at_most(0.65), f"% of g / N m s: {listed}; drops off an unmeasured box, which do not count: {dropped}",
            )
        )  # fmt: skip
        figures.append(Figure("  change of angular momentum", where, spin, "N m s", at_most(1.1), at_most(0.85)))
    return figures


def slow_figures(trials: Sequence[Recorded], where: str) -> list[Figure]:
    """The horizontal centre of mass against the wrench below 1 Hz, in squats."""
    figures = []
    for trial in trials:
        if trial.name != SLOW:
            continue
        rate = trial.data.momentum_rate
        ours = _beside_axis(trial.data, smooth_centroidal(trial.data, trial.settings).com, rate)
        identified = _beside_axis(trial.data, trial.data.com, rate)
        prior = _beside_axis(trial.prior, trial.prior.com, trial.prior.momentum_rate)
        for axis, name in enumerate("xy"):
            figures.append(
                Figure(
                    f"horizontal CoM against the wrench below 1 Hz, squats, {name}", where, ours[axis], "mm",
                    at_most(2.0), at_most(1.2),
                    f"kinematics alone: prior {prior[axis]:.1f}, identified on other trials {identified[axis]:.1f} mm",
                )
            )  # fmt: skip
    return figures


def _beside_axis(data: CentroidalData, com: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(2,) [mm] RMS of how far a centre of mass lies from where wrench and kinematic momentum rate want it."""
    rest = data.moment + np.cross(data.force, com) - rate
    square = np.sum(data.force**2, axis=1, keepdims=True)
    off = np.where(data.known[:, None], np.cross(rest, data.force) / np.maximum(square, 1.0), np.nan)
    slow = low_pass(off, data.rate, BELOW, longest_gap=0.0)
    return 1e3 * np.asarray(np.sqrt(np.nanmean(slow[:, :2] ** 2, axis=0)))


def _jumped(data: CentroidalData, start: int) -> bool:
    """Whether a flight begins on plates; a drop from a box begins on something unmeasured."""
    return bool(data.known[max(start - round(STANCE * data.rate), 0) : start].all())


def _trimmed(frames: np.ndarray, rate: float) -> np.ndarray:
    inside, cut = np.zeros_like(frames), round(EDGE * rate)
    for start, stop in true_runs(frames):
        inside[start + cut : stop - cut] = True
    return inside


def _rms(vectors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
