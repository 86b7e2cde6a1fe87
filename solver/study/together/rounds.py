"""Motion, plates' errors and inertials of one subject, each from the others in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...calibration.calibrated import Calibration
from ...dynamics.wrench_slopes import wrench_slopes
from ...errors import InvalidValue
from ...identification.equations import measured_wrench, reconstructed_wrench, usable
from ...identification.identify import IdentifyOptions, identify
from ...identification.result import Identification
from ...rig import Rig
from ...signals import GRAVITY, FilterPreset, rate_of_grid
from ...so3 import to_matrix
from ...trial import Trial
from ..preparation import Prepared
from ..residuals import body_height
from ..values import TrialRecord
from .bending import Asked, Spline, bent
from .following import Followed, led_aside


@dataclass(frozen=True, slots=True)
class TogetherOptions:
    """How far each measurement is believed when all are estimated together.

    Attributes:
        spacing: [s] between the knots of the bend.
        remembered: [s] over which the errors of a marker on its skin stay the same.
        force: share of the body's weight that is left of a force, standard deviation.
        moment: share of weight times height that is left of a moment.
        rounds: of motion, plates and inertials.
    """

    spacing: float = 0.05
    remembered: float = 0.2
    force: float = 0.01
    moment: float = 0.003
    rounds: int = 3

    def __post_init__(self) -> None:
        if not min(self.spacing, self.remembered, self.force, self.moment) > 0.0 or self.rounds < 1:
            raise InvalidValue("spacing, memory and spreads of a joint estimate must be positive, rounds at least one")


@dataclass(frozen=True, slots=True)
class Work:
    """Recordings of one person, and how trials are made of them.

    Attributes:
        calibration: with which the records were tracked.
        records: tracked.
        prepared: makes trials of records: plates' offsets, places, gains and lags are found with their motions.
        options: of identification.
        preset: low-pass of the equations.
        choices: see there.
    """

    calibration: Calibration
    records: tuple[TrialRecord, ...]
    prepared: Callable[[Sequence[TrialRecord]], Prepared]
    options: IdentifyOptions
    preset: FilterPreset
    choices: TogetherOptions = field(default_factory=TogetherOptions)

    def identified(self, prepared: Prepared, trials: Sequence[Trial] | None = None) -> Identification:
        """By some of the prepared trials alone; all of them by default."""
        chosen = [r.trial for r in prepared.records if r.trial is not None] if trials is None else trials
        total = self.options.total_mass if prepared.mass is None else prepared.mass.mass
        options = replace(self.options, total_mass=total, bootstrap=0, cross_validate=False)
        return identify(prepared.rig, chosen, options)

    def followed(self, names: Collection[str]) -> Mapping[str, Followed]:
        """The markers of trials."""
        return {
            r.name: Followed.of(self.calibration, r)
            for r in self.records
            if r.name in names and r.tracked is not None and r.tracked.pulls is not None
        }


def together(work: Work) -> tuple[Prepared, Identification]:
    """Trials whose motions were led towards the plates, which were corrected with them, and what they identify.

    In turn the motion of every trial is bent by one step of Gauss and Newton towards what the plates measured, as far
    as its markers let it (`bending`); the plates' errors are found anew with it; and consistent inertials with both.
    """
    prepared = work.prepared(work.records)
    identification = work.identified(prepared)
    followed = work.followed({r.name for r in prepared.records if r.trial is not None})
    bends = {name: still(one, work.choices) for name, one in followed.items()}
    for _ in range(work.choices.rounds):
        rig = prepared.rig.with_prior(identification.parameters)
        trials = {r.name: r.trial for r in prepared.records if r.trial is not None}
        records = []
        for record in work.records:
            if record.name not in followed or record.name not in trials:
                records.append(record)
                continue
            one, (spline, now) = followed[record.name], bends[record.name]
            now = bent(spline, now, asked(rig, trials[record.name], one, work.choices))
            bends[record.name] = spline, now
            records.append(led_aside(work.calibration, record, spline.values(one.times, now)))
        prepared = work.prepared(records)
        identification = work.identified(prepared)
    return prepared, identification


def still(followed: Followed, choices: TogetherOptions) -> tuple[Spline, np.ndarray]:
    """A bend of nothing."""
    spline = Spline.over(float(followed.times[0]), float(followed.times[-1]), choices.spacing)
    return spline, np.zeros((spline.unknowns, followed.stiffness.shape[2]))


def asked(rig: Rig, trial: Trial, followed: Followed, choices: TogetherOptions) -> Asked:
    """What the frames of a trial ask of its bend.

    Args:
        rig: with the inertials of its prior.
        trial: with the motion as it is bent now.
        followed: its markers.
        choices: in shares of the body's weight, and of weight times height.
    """
    motion = trial.motion
    left = measured_wrench(rig, trial) - reconstructed_wrench(rig, trial, rig.prior)
    turn = to_matrix(motion.q[:, 3:7])
    local = np.concatenate([np.einsum("nji,nj->ni", turn, part) for part in (left[:, :3], left[:, 3:])], axis=1)
    known = usable(trial, "link").all(axis=1) & np.isfinite(local).all(axis=1)
    weight = rig.prior.total_mass * GRAVITY
    spread = np.repeat([choices.force * weight, choices.moment * weight * body_height(rig)], 3)
    rate = rate_of_grid(motion.times)
    independent = 1.0 if trial.preset is None else min(1.0, 2.0 * trial.preset.cutoff / rate)
    weights = np.where(known[:, None], independent / spread**2, 0.0)
    remembered = max(1.0, choices.remembered * rate)
    near = np.clip(np.searchsorted(followed.times, motion.times), 0, len(followed.times) - 1)
    stiffness = followed.stiffness[near] / (followed.spread**2 * remembered)
    stiffness[:, np.arange(rig.nv), np.arange(rig.nv)] += followed.prices / remembered
    slopes = wrench_slopes(rig, motion, np.nan_to_num(trial.wrenches.total))
    return Asked(motion.times, stiffness, slopes, np.where(known[:, None], local, 0.0), weights)
