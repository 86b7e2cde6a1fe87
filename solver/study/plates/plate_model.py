"""One model of every plate, estimated together with the body's inertial parameters from all trials.

Measured minus predicted wrenches are linear in three kinds of unknowns, each with its prior:

- changes of the inertial parameters, within the prior of the identification;
- errors of posture: displacements of the whole weight, and the size of the body's vertical acceleration;
- errors of each plate in each trial (`plate_errors`) and of its clock, within what makers and laboratories tolerate.

A body cannot explain a mean horizontal force, nor a mean vertical moment about itself: over a trial its momentum hardly
changes. That anchors the plates. Each cause of `CAUSES`, of one plate or of all and in one trial or in several, is
compared with plates within their tolerances by its Bayes factor. The best one is added to the model, and the others are
compared again. A cause is corrected if no other cause explains the trials nearly as well with other corrected forces;
otherwise both are reported. The residual's variance follows from each trial alone, with plates that may have any error,
so that an error of the plates is not taken for noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve

from ...base.so3 import to_matrix
from ...calibration.trial_mass import variance_inflation
from ...dynamics import predicted_wrench, regressor_pieces
from ...identification.identify import IdentifyOptions, consistent_options
from ...identification.posterior import covariance_root
from ...options.plates import CROSSTALK, FREE_MOMENT, LAG, MASS, POSITION
from ...signals import true_runs
from ...signals.plate_errors import COUPLE, DRIFT, MOMENT, OFFSET, PARAMETERS, VERTICAL_GAIN, error_wrenches, find_reach
from ...skeleton.rig import GRAVITY, Rig
from ...values.inertials import PER_LINK
from ...values.wrenches import Wrenches
from ..preparation import FilteredTrial

RATE, MAX_FRAMES, MIN_FRAMES = 25.0, 500, 20
"""[1/s] Frames per second of a trial that are used, the most, and the least: a low-pass of 8 Hz leaves no more
independent ones in 20 s. Chosen on 17 trials of six people."""
MAX_CAUSES = 12
"""Largest number of rounds in which causes are added and replaced. Chosen on 26 faults of two people's trials."""
MAX_SINGLE = 50
"""Most trials of which each is suspected by itself. Chosen on subject_a's trials cut into 50 pieces: 6 s."""
RARITY = 3.0
"""Logarithm of how much rarer an error of one plate is than of all alike: they share a session, a level and a file.
Chosen on 26 faults put into trials of subject_a and subject_c."""
LEAST_SCALE = 0.3
"""Least false fraction of a horizontal force or free moment that is reported: tracked bodies accelerate by others.
Chosen on 17 trials of six people."""
LEAST_SHARE, LEAST_UNLOADED = 0.02, 0.05
"""Least share of the load at which a plate's errors are estimated; least share of the time in which a plate must be
unloaded to show its zero. Chosen on 17 trials of six people."""
CLEAR_LEAD = 10.0
"""Lead of the logarithm of a cause's Bayes factor over another cause at which it is corrected: what errors of body and
tracking reach.
Chosen on 17 trials of six people."""
ALIKE = 0.8
"""Correlation of the errors that two causes explain above which both correct the forces alike. Chosen on
subject_a's squats, whose offset either plate may have."""
BODY_STD = np.array([0.01, 0.003])
"""[m] Standard deviations of a body's centre of mass above the feet, forwards and sideways, besides those of the
inertial parameters: with these, 15 and 7 mm, measured on five people."""
POSTURE_STD = np.array([0.008, 0.003])
"""[m] The same between trials of one person: leaning the trunk moves its error forwards. Chosen on
trials of five people."""
PLANAR_RANGE = 1e-6
"""[m] Largest sideways range of the root of a planar model, whose equations say nothing of that direction. Chosen on a
walk of Gait10dof (0 m) and on a person's quiet standing (1.3 mm)."""
DYNAMIC_STD = np.array([0.3, 0.3, 0.1])
"""Relative standard deviations of a tracked body's acceleration: horizontal ones are half of the measured force in
squats. Chosen on 17 trials of six people."""
SPEED_STD = 0.04
"""[m/s] Standard deviation of the change of a tracked body's velocity over a run of frames. Chosen on subject_a's
trials: mean horizontal forces of eleven runs are right within 1 N, vertical ones within 4 N in a second."""
CROSS_STD = 0.005
"""Standard deviation of the other entries of a plate's matrix. Chosen on 17 trials of six people."""
POSTURE, SYNC = 5, 2
"""Number of unknowns of a trial's posture, and of its time."""
LEAST_NOISE = 0.003 * np.array([1.0, 1.0, 1.0, 0.15, 0.15, 0.15])
"""[1, m] Least noise of forces and moments, over the weight, measured on subject_a's quiet standing."""
LEAST_FREEDOM = 0.2
"""Least share of the values that are counted as not explained by the unknowns. Chosen on
subject_a's walks, which are as short as 1.3 s."""
NOISE_ITERATIONS = 3
"""Iterations in which noise and residuals determine each other. Chosen on a simulated walk."""


@dataclass(frozen=True, slots=True)
class Component:
    """One size of a cause.

    Attributes:
        parameter: of a plate (`plate_errors.PlateErrors`); negative ones are the plates' lag and clock.
        tolerance: standard deviation that makers and laboratories tolerate.
        limit: largest error that a laboratory may have: two standard deviations of a faulty plate.
        factor, unit, place: of the size in texts.
        plate: index; None: of all plates concerned, alike.
    """

    parameter: int
    tolerance: float
    limit: float
    factor: float
    unit: str
    place: str = ""
    plate: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of error.

    Attributes:
        kind: of the finding.
        text: in words.
        components: sizes that are estimated together.
        least_evidence: least logarithm of the Bayes factor against plates within their tolerances at which it counts:
            half more than in any of 17 trials of six people without this fault. Errors of body and tracking reach
            13 for a drift in a jump, 11 for a scale, 8 for offsets, and 4 for what a body can hardly cause.
        is_calibration: a property of the plates that earlier trials on them show too.
        is_common: it is the same in all trials on the same plates.
        is_sign: only a wrong sign is corrected, other sizes are reported.
        is_each: every plate has sizes of its own, which are estimated together.
    """

    kind: str
    text: str
    components: tuple[Component, ...]
    least_evidence: float
    is_calibration: bool = True
    is_common: bool = False
    is_sign: bool = False
    is_each: bool = False

    def of_each(self, plates: Mapping[int, str]) -> Cause:
        """The cause with components of each of some plates, by index, with their names."""
        own = [
            replace(c, plate=k, place=f"{c.place} ({name})".strip())
            for k, name in plates.items()
            for c in self.components
        ]
        return replace(self, components=tuple(own))


COMMON_LAG = Cause(LAG, "the plates lag the motion", (Component(-2, 0.0005, 0.1, 1e3, "ms"),), 3.0, False)
"""A trial that is started by itself has another lag than the others if it shows one: two real runs of one person
(subject_e) differ by 5 ms, with evidence 17; no trial of subject_a, whose lags are alike, has more than 0."""
CAUSES = (
    Cause(CROSSTALK, "crosstalk of the vertical force, or plates that are not level", (
        Component(2, 0.003, 0.1, 100.0, "%", "along x"), Component(5, 0.003, 0.1, 100.0, "%", "along y"),
        Component(COUPLE, 0.002, 0.03, 1e3, "mm", "as a moment about the vertical")), 6.0, is_common=True),
    Cause(POSITION, "the plates are not at their location in the file", (
        Component(15, 0.003, 0.1, -1e3, "mm", "along x"),
        Component(16, 0.003, 0.1, -1e3, "mm", "along y")), 6.0, is_common=True),
    Cause(FREE_MOMENT, "the free moment has the wrong sign or scale", (
        Component(18, 0.3, 3.0, 100.0, "% too much"),), 6.0, is_sign=True),
    Cause(MASS, "a drift of each plate", (
        Component(12, 0.05, 6.0, 1.0, "N/s", "along x"), Component(13, 0.05, 6.0, 1.0, "N/s", "along y"),
        Component(14, 0.05, 6.0, 1.0, "N/s", "upwards")), 20.0, False),
    Cause(MASS, "a vertical offset or gain of each plate, or an unmeasured support", (
        Component(11, 2.0, 60.0, 1.0, "N"),), 15.0, False),
    Cause(MASS, "a horizontal offset of each plate", (
        Component(9, 1.0, 60.0, 1.0, "N", "along x"),
        Component(10, 1.0, 60.0, 1.0, "N", "along y")), 15.0, False),
    Cause(MASS, "a vertical offset of each plate, zeroed under load", (
        Component(11, 2.0, 60.0, 1.0, "N"),), 15.0, False, is_each=True),
    Cause(MASS, "an offset of each plate's moments, zeroed under load", (
        Component(19, 0.3, 20.0, 1.0, "N m", "about x"), Component(20, 0.3, 20.0, 1.0, "N m", "about y"),
        Component(21, 0.3, 20.0, 1.0, "N m", "about z")), 15.0, False, is_each=True),
    Cause(MASS, "another gain than stated, or an unmeasured support", (
        Component(VERTICAL_GAIN, 0.005, 0.2, 100.0, "% too much"),), 15.0),
    Cause(CROSSTALK, "horizontal forces of the wrong sign or scale", (
        Component(0, 0.02, 3.0, 100.0, "% too much", "along x"),
        Component(4, 0.02, 3.0, 100.0, "% too much", "along y")), 16.0, is_sign=True),
    COMMON_LAG,
    Cause(LAG, "the plates' clock is slow", (Component(-1, 2e-4, 0.03, 100.0, "%"),), 15.0, False),
)  # fmt: skip
"""Errors that are searched for. Makers state crosstalk below 0.5 to 2 %, linearity within 0.2 to 0.5 %, centres of
pressure within 1 to 3 mm (data sheets of AMTI, Bertec and Kistler). Four mounted plates had centres of pressure wrong
by 2 to 14 mm and forces by 3 to 5 N (Cappello et al. 2011, Gait Posture 33:724); what mounting adds is in Collins et
al. 2009, Gait Posture 29:59. The mean horizontal force of ten clean trials is 0.03 to 0.75 % of the vertical one."""


@dataclass(frozen=True, slots=True, eq=False)
class PlateHypothesis:
    """A cause in some plates and trials.

    Attributes:
        cause: of the error.
        trials, plates: names; no plates: all.
        layout: names of all plates of the trials; empty if they differ.
        columns: by index of a trial (C, k), its unknowns that the k components change, in half limits.
        concerns_all: whether every trial is one of them.
    """

    cause: Cause
    trials: tuple[str, ...]
    plates: tuple[str, ...]
    layout: tuple[str, ...]
    columns: Mapping[int, np.ndarray]
    concerns_all: bool

    def find_plates(self, component: Component) -> list[int] | slice:
        """Indices of the plates that have this component."""
        if component.plate is not None:
            return [component.plate]
        return [k for k, plate in enumerate(self.layout) if plate in self.plates] or slice(None)

    @property
    def own_plates(self) -> int:
        """Number of plates that have an error of their own; 0 if all have the same."""
        return len({c.plate for c in self.cause.components} - {None}) or len(self.plates)

    @property
    def scale(self) -> np.ndarray:
        """(k,) half limits: standard deviations of plates with this fault."""
        return np.array([component.limit / 2.0 for component in self.cause.components])


@dataclass(frozen=True, slots=True)
class PlateEstimate:
    """A hypothesis with its sizes (k,), their covariance (k, k), and the logarithm of its Bayes factor."""

    hypothesis: PlateHypothesis
    sizes: np.ndarray
    covariance: np.ndarray
    evidence: float

    @property
    def stds(self) -> np.ndarray:
        """(k,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def conditional_stds(self) -> np.ndarray:
        """(k,) of each size if the others are right: what the wrenches may still be off once all are removed."""
        return np.diag(np.linalg.inv(self.covariance)) ** -0.5

    @property
    def notable(self) -> np.ndarray:
        """(k,) True where a size is certain and more than tolerances allow; what each plate has is certain together."""
        cause = self.hypothesis.cause
        least = np.array(
            [LEAST_SCALE if cause.is_sign else 2.0 * component.tolerance for component in cause.components]
        )
        return (np.abs(self.sizes) > least) & (cause.is_each | (np.abs(self.sizes) > 3.0 * self.stds))


@dataclass(frozen=True, slots=True)
class TrialSums:
    """Normal equations of one trial, weighted by its own noise.

    Attributes:
        name: of the trial.
        plates: names of its K plates.
        loaded: (K,) True for plates that carry enough.
        normal, right: (B + C, B + C) and (B + C,), of B unknowns of the body and C of the trial.
        precision: (C,) of the trial's unknowns within their tolerances.
    """

    name: str
    plates: tuple[str, ...]
    loaded: np.ndarray
    normal: np.ndarray
    right: np.ndarray
    precision: np.ndarray

    def columns(self, cause: Cause, plates: Sequence[int] | np.ndarray) -> np.ndarray:
        """(C, k) unknowns that a cause changes in some of the plates, in half limits."""
        result = np.zeros((len(self.precision), len(cause.components)))
        for place, component in enumerate(cause.components):
            chosen = plates if component.plate is None else [component.plate]
            first = POSTURE + PARAMETERS * np.array(chosen, int)
            result[first + component.parameter if component.parameter >= 0 else component.parameter, place] = 1.0
        return result * [component.limit / 2.0 for component in cause.components]

    def shows(self, columns: np.ndarray) -> bool:
        """Whether these unknowns (C, k) change the trial's wrenches."""
        local = slice(len(self.normal) - len(columns), None)
        return bool((self.normal[local, local] @ columns).any())


def body_root(rig: Rig) -> np.ndarray:
    """(M, L, 10) changes of the inertial parameters whose squares sum to the prior's covariance."""
    options = consistent_options(rig, IdentifyOptions(total_mass=rig.prior.total_mass))
    return covariance_root(np.zeros((0, PER_LINK * len(rig.links))), rig.prior, rig.prior, rig, options)


def sum_trial(rig: Rig, root: np.ndarray, trial: FilteredTrial, wrenches: Wrenches, start: float) -> TrialSums | None:
    """Normal equations of a trial's measured minus predicted wrenches; None if too few frames count.

    Args:
        rig: its prior predicts the wrenches.
        root: see `body_root`.
        trial: with windows.
        wrenches: at the times of its motion, through the same filter.
        start: [s] of the recording, when drift and clock begin.
    """
    assert trial.windows is not None
    motion, total = trial.motion, wrenches.total
    counted = trial.windows.counted & np.isfinite(total).all(axis=1)
    frames = np.flatnonzero(counted)
    frames = frames[:: max(round(motion.rate / RATE), len(frames) // MAX_FRAMES, 1)]
    if len(frames) < MIN_FRAMES:
        return None
    own, measured = motion.frames(frames), np.asarray(wrenches.measured)[frames]
    seen, origin = Wrenches(own.times, wrenches.frames, wrenches.values[frames], measured), own.q[:, :3]
    predicted = predicted_wrench(rig, own, rig.prior, 0, axes="world")
    load = seen.values[:, :, 2].mean(axis=0)
    loaded = load > LEAST_SHARE * load.sum()
    size, first = len(root), len(root) + len(BODY_STD) + POSTURE
    columns = np.zeros((len(frames), 6, first + len(load) * PARAMETERS + SYNC))
    for piece in regressor_pieces(rig, own, 0, "world"):
        columns[piece.frames, :3, :size] = np.einsum("apln,mlp->nam", piece.force, root[:, :, :4], optimize=True)
        columns[piece.frames, 3:, :size] = np.einsum("apln,mlp->nam", piece.moment, root, optimize=True)
    heading = _compute_heading(own.q)
    for axis, direction in enumerate(heading):
        moment = np.cross(direction, seen.total[:, :3])
        columns[:, 3:, size + axis] = columns[:, 3:, size + len(BODY_STD) + axis] = moment
        columns[:, axis, first - 3 + axis] = seen.total[:, axis]  # acts near the root
    about, weight = seen.about(origin), rig.prior.total_mass * GRAVITY
    columns[:, 2, first - 1] = predicted[:, 2] - weight
    # acts where the ground pushes
    columns[:, 3:5, first - 1] = about[:, 3:5] * (predicted[:, 2] / weight - 1.0)[:, None]
    for plate in np.flatnonzero(loaded):
        at = first + plate * PARAMETERS
        columns[:, :, at : at + PARAMETERS] = error_wrenches(
            seen, plate, range(PARAMETERS), start, find_reach(seen, plate)
        )
        if np.mean(seen.loaded[:, plate]) < 1.0 - LEAST_UNLOADED:
            columns[:, :, at + OFFSET : at + DRIFT] = 0.0
            columns[:, :, at + MOMENT : at + PARAMETERS] = 0.0  # an offset would show while nothing touches it
        else:
            columns[:, :, at + VERTICAL_GAIN] = 0.0  # the same as an offset, to within the error of accelerations
    columns[:, 3:, first:] -= np.cross(origin[:, :, None], columns[:, :3, first:], axis=1)
    # other components depend on where the masses are, and errors of the body and of tracking resemble a lag there
    rates = np.gradient(total[:, 2], wrenches.times)[frames]
    columns[:, 2, -2], columns[:, 2, -1] = -rates, -rates * (own.times - start)
    residual = (about - predicted) * measured
    columns *= measured[:, :, None]
    posture = np.array([*POSTURE_STD, *DYNAMIC_STD])
    if np.ptp(motion.q[:, :3] @ heading[1]) < PLANAR_RANGE < np.ptp(motion.q[:, :3], axis=0).max():
        planar = np.array(
            [np.outer(heading[0], heading[0]) + np.diag([0.0, 0.0, 1.0]), np.outer(heading[1], heading[1])]
        )
        columns, residual = block_diag(*planar) @ columns, residual @ block_diag(*planar)
    tolerances, limits = (
        np.concatenate([posture, np.tile(stds[:-SYNC], len(load)), stds[-SYNC:]])
        for stds in (parameter_stds(limits=False), parameter_stds(limits=True))
    )
    least = LEAST_NOISE * weight
    noise = _estimate_noise(columns, residual, np.concatenate([np.ones(size), BODY_STD, limits]), least)
    parts, values = [(columns / noise[:, None]).reshape(-1, columns.shape[2])], [(residual / noise).reshape(-1)]
    for run_start, run_stop in true_runs(counted):
        inside = (frames >= run_start) & (frames < run_stop)
        if inside.sum() >= MIN_FRAMES:
            # the mean force of a run is the change of momentum, which tracking knows better than single forces
            seconds = (run_stop - run_start) / motion.rate
            std = np.maximum(least[:3], rig.prior.total_mass * SPEED_STD / seconds)
            parts.append(columns[inside, :3].mean(axis=0) / std[:, None])
            values.append(residual[inside, :3].mean(axis=0) / std)
    weighted = np.concatenate(parts)
    right = weighted.T @ np.concatenate(values)
    return TrialSums(trial.name, wrenches.frames, loaded, weighted.T @ weighted, right, tolerances**-2.0)


def _compute_heading(q: np.ndarray) -> np.ndarray:
    """Level forward and left directions (2, 3) of the root link, world, mean over configurations (N, nq)."""
    forward = to_matrix(q[:, 3:7])[:, :2, 0].mean(axis=0)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-9)
    return np.array([[*forward, 0.0], [-forward[1], forward[0], 0.0]])


def _estimate_noise(columns: np.ndarray, residual: np.ndarray, stds: np.ndarray, least: np.ndarray) -> np.ndarray:
    """(6,) standard deviations of residuals (N, 6) that no unknown (N, 6, U) of these stds (U,) explains.

    Correlated residuals count as fewer.
    """
    noise = least  # starts low: what faulty plates can explain is no noise
    for _ in range(NOISE_ITERATIONS):
        weighted = (columns / noise[:, None]).reshape(-1, columns.shape[2])
        normal = weighted.T @ weighted + np.diag(stds**-2.0)
        covariance = np.linalg.inv(normal)
        rest = residual - columns @ (covariance @ (weighted.T @ (residual / noise).reshape(-1)))
        spent = (len(stds) - float(np.diag(covariance) @ stds**-2.0)) / residual.size
        inflation = np.array([variance_inflation(own) for own in rest.T]) / max(1.0 - spent, LEAST_FREEDOM)
        noise = np.maximum(np.sqrt(np.mean(rest**2, axis=0) * inflation), least)
    return noise


def parameter_stds(*, limits: bool) -> np.ndarray:
    """(22 + 2,) standard deviations of a plate's parameters and of its time: by tolerances, or of faulty plates."""
    result = np.full(PARAMETERS + SYNC, CROSS_STD)
    for cause in CAUSES:
        for component in cause.components:
            faulty = limits and not cause.is_sign
            result[component.parameter] = component.limit / 2.0 if faulty else component.tolerance
    return result


class PlateModel:
    """The joint model of all trials, with some causes whose sizes are estimated.

    Args:
        trials: their normal equations.
        size: number of the body's unknowns.
        added: causes in the model.
    """

    def __init__(self, trials: Sequence[TrialSums], size: int, added: Sequence[PlateHypothesis] = ()) -> None:
        self.trials, self.size, self.added = trials, size, tuple(added)
        self._eliminate()

    def with_causes(self, added: Sequence[PlateHypothesis]) -> PlateModel:
        """The model with other causes."""
        return PlateModel(self.trials, self.size, added)

    def _eliminate(self) -> None:
        """Eliminate the trials' own unknowns; what remains are the body's, and the sizes of the causes."""
        sizes = [len(hypothesis.scale) for hypothesis in self.added]
        normal = np.diag(np.concatenate([np.ones(self.size), BODY_STD**-2.0, np.ones(sum(sizes))]))
        body, right = self.size + len(BODY_STD), np.zeros(len(normal))
        self.across, self.own, self.rest = [], [], []
        for index, trial in enumerate(self.trials):
            shared = [h.columns.get(index, np.zeros((len(trial.precision), k))) for h, k in zip(self.added, sizes)]
            lift = block_diag(np.eye(body), np.hstack([np.zeros((len(trial.precision), 0)), *shared]))
            whole, local = lift.T @ trial.normal, slice(body, None)
            factor = cho_factor(trial.normal[local, local] + np.diag(trial.precision))
            across, own = whole[:, local], trial.normal[local, local]
            normal += whole @ lift - across @ cho_solve(factor, across.T)
            right += lift.T @ trial.right - across @ cho_solve(factor, trial.right[local])
            self.across.append(across - across @ cho_solve(factor, own))
            self.own.append(own - own @ cho_solve(factor, own))
            self.rest.append(trial.right[local] - own @ cho_solve(factor, trial.right[local]))
        self.factor, self.right = cho_factor(normal), right
        self.mean = cho_solve(self.factor, right)

    def estimate(self, hypothesis: PlateHypothesis) -> PlateEstimate:
        """Sizes of a cause that is not in the model, and the Bayes factor of plates with it against those without."""
        normal = sum(own.T @ self.own[trial] @ own for trial, own in hypothesis.columns.items())
        right = sum(own.T @ self.rest[trial] for trial, own in hypothesis.columns.items())
        across = self._across(hypothesis.columns)
        normal = normal - across.T @ cho_solve(self.factor, across) + np.eye(len(right))
        right = right - across.T @ self.mean
        covariance = np.linalg.inv(normal)
        sizes = covariance @ right
        evidence = 0.5 * float(right @ sizes - np.linalg.slogdet(normal)[1]) - RARITY * hypothesis.own_plates
        scale = hypothesis.scale
        return PlateEstimate(hypothesis, scale * sizes, np.outer(scale, scale) * covariance, evidence)

    def final(self) -> list[PlateEstimate]:
        """All causes in the model, with their sizes given each other."""
        covariance = cho_solve(self.factor, np.eye(len(self.right)))
        found, start = [], self.size + len(BODY_STD)
        for hypothesis in self.added:
            part = slice(start, start + len(hypothesis.scale))
            own = np.outer(hypothesis.scale, hypothesis.scale) * covariance[part, part]
            found.append(PlateEstimate(hypothesis, hypothesis.scale * self.mean[part], own, np.inf))
            start = part.stop
        return found

    def are_alike(self, one: PlateEstimate, two: PlateEstimate) -> bool:
        """Whether two causes explain the same errors of the wrenches, so that it does not matter which is corrected."""
        sides = [
            {trial: own @ (side.sizes / side.hypothesis.scale) for trial, own in side.hypothesis.columns.items()}
            for side in (one, two)
        ]

        def multiply(a: Mapping[int, np.ndarray], b: Mapping[int, np.ndarray]) -> float:
            shared = sum(a[trial] @ self.own[trial] @ b[trial] for trial in a.keys() & b.keys())
            return float(shared - self._across(a) @ cho_solve(self.factor, self._across(b)))

        return multiply(*sides) > ALIKE * np.sqrt(multiply(sides[0], sides[0]) * multiply(sides[1], sides[1]))

    def _across(self, columns: Mapping[int, np.ndarray]) -> np.ndarray:
        return np.asarray(sum(self.across[trial] @ own for trial, own in columns.items()))


def list_hypotheses(trials: Sequence[TrialSums], groups: Sequence[Sequence[str]]) -> list[PlateHypothesis]:
    """Each cause in all plates and in single ones, in all trials of a layout or of a group, and in single trials.

    Args:
        trials: of the model.
        groups: names of trials whose plates read alike.
    """
    layouts: dict[tuple[str, ...], list[int]] = {}
    for index, trial in enumerate(trials):
        layouts.setdefault(trial.plates, []).append(index)
    single = range(len(trials)) if len(trials) <= MAX_SINGLE else ()
    chosen = [range(len(trials)), *layouts.values(), *([index] for index in single)]
    chosen += [[i for i, trial in enumerate(trials) if trial.name in group] for group in groups]
    found: dict[tuple[object, ...], PlateHypothesis] = {}
    for indices in (tuple(own) for own in chosen if len(own)):
        kinds = {trials[i].plates for i in indices}
        layout = kinds.pop() if len(kinds) == 1 else ()
        active = [k for k in range(len(layout)) if any(trials[i].loaded[k] for i in indices)]
        for cause, plate in product(CAUSES, [None, *(active if len(active) > 1 else ())]):
            if cause.is_each:
                if plate is not None or not active:
                    continue
                cause = cause.of_each({k: layout[k] for k in active})
            columns = {
                i: trials[i].columns(cause, np.flatnonzero(trials[i].loaded) if plate is None else [plate])
                for i in indices
            }
            columns = {i: own for i, own in columns.items() if trials[i].shows(own)}
            is_whole = len(indices) == len(trials) or indices in map(tuple, layouts.values())
            if columns and (plate is None or cause.kind != LAG) and (is_whole or not cause.is_common):
                names = tuple(trials[i].name for i in columns)
                plates = () if plate is None else (layout[plate],)
                own = PlateHypothesis(cause, names, plates, layout, columns, len(columns) == len(trials))
                found.setdefault((cause.text, names, plates), own)
    return list(found.values())


def find_causes(
    model: PlateModel, always: PlateHypothesis, hypotheses: Sequence[PlateHypothesis]
) -> list[tuple[PlateEstimate, PlateEstimate | None]]:
    """The causes that the trials show, with their sizes given each other.

    The most likely cause is added to the others, and each is replaced by a more likely one, until nothing changes.

    Args:
        model: of the trials.
        always: a cause that is always in the model.
        hypotheses: the others.

    Returns:
        each cause, and another one that explains the trials nearly as well by other errors of the wrenches, or None.
    """
    chosen = [always]
    for _ in range(MAX_CAUSES):
        before = tuple(chosen)
        for place in range(len(chosen), 0, -1):
            others = chosen[:place] + chosen[place + 1 :]
            notable = _rank(model.with_causes(others), [each for each in hypotheses if each not in others])
            chosen = [*chosen[:place], *(found.hypothesis for found in notable[:1]), *chosen[place + 1 :]]
        if tuple(chosen) == before:
            break
    result: list[tuple[PlateEstimate, PlateEstimate | None]] = []
    for found in model.with_causes(chosen).final():
        without = model.with_causes([each for each in chosen if each is not found.hypothesis])
        own = without.estimate(found.hypothesis)
        others = [each for each in hypotheses if found.hypothesis is not always and each not in chosen]
        rivals = (
            other
            for other in _rank(without, others)
            if other.evidence > own.evidence - CLEAR_LEAD and not without.are_alike(own, other)
        )
        result.append((replace(found, evidence=own.evidence), next(rivals, None)))
    return result


def _rank(model: PlateModel, hypotheses: Sequence[PlateHypothesis]) -> list[PlateEstimate]:
    """The causes that the trials show, the most likely first."""
    found = (model.estimate(hypothesis) for hypothesis in hypotheses)
    notable = [each for each in found if each.evidence > each.hypothesis.cause.least_evidence and each.notable.any()]
    return sorted(notable, key=lambda each: -each.evidence)
