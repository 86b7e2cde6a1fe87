"""Values of a study of one subject or robot: its settings, its trials and its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from ..base.arrays import Array, ArrayValue, Times, abbreviate
from ..base.errors import InvalidValue, UnknownName
from ..base.notebook import HtmlResult, build_data_frame
from ..calibration.body_mass import MassEstimate
from ..calibration.calibration import Calibration
from ..identification.added_load import AddedLoad
from ..identification.flight import NullSpace
from ..identification.result import Identification
from ..options.plates import KnownPlates
from ..options.study import Settings
from ..signals.lag import Lag
from ..signals.trial import Recording, Trial
from ..signals.windows import Windows
from ..skeleton.rig import Rig
from ..tracking.motion_errors import MotionErrors
from ..tracking.track import TrackedMotion
from ..values.motion import Motion
from ..values.wrenches import WRENCH_AXES
from .plates.finding import Finding
from .plates.plate_errors import NO_ERRORS, PlateErrors, collect_known_plates
from .residuals import TrialResidual


def require_settings(settings: Settings | None) -> Settings:
    """The given settings, or the default ones.

    Raises:
        InvalidValue: neither settings nor None.
    """
    if settings is None:
        return Settings()
    if not isinstance(settings, Settings):
        raise InvalidValue(f"settings takes solver.Settings, not {settings!r}")
    return settings


@dataclass(frozen=True, slots=True)
class Poses(ArrayValue):
    """Configurations over time, before any filter: tracked from markers, or measured by a robot.

    Attributes:
        times: (N,) [s].
        q: (N, nq) configurations, Pinocchio's layout.
        known: (N,) False where the configuration is interpolated.
    """

    times: Annotated[np.ndarray, Times()]
    q: Annotated[np.ndarray, Array("N", None)]
    known: Annotated[np.ndarray, Array("N", mask=True)]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """Everything about one trial of a study.

    Attributes:
        recording: as read.
        tracked: joint trajectory and marker errors; None if the motion was given.
        trial: motion and wrenches ready for identification; None without forces or without a frame that counts.
        windows: which frames count, and why others do not; None without forces.
        motion: filtered motion; None if the recording could not be tracked.
        given: configurations that the recording itself contains; None if they are tracked from markers.
        plate_errors: of the plates, which were removed from the trial's wrenches.
        motion_errors: of the tracked motion, from the calibration; None: those of a person with usual markers.
    """

    recording: Recording
    tracked: TrackedMotion | None = None
    trial: Trial | None = None
    windows: Windows | None = None
    motion: Motion | None = None
    given: Poses | None = None
    plate_errors: PlateErrors = NO_ERRORS
    motion_errors: MotionErrors | None = None

    @property
    def name(self) -> str:
        """Name of the trial."""
        return self.recording.name

    @property
    def poses(self) -> Poses | None:
        """Configurations over time, tracked or given; None without either."""
        if self.tracked is None:
            return self.given
        return Poses(self.tracked.times, self.tracked.q, self.tracked.is_tracked)


@dataclass(frozen=True, slots=True)
class Flights:
    """Data of an identification from flight phases alone.

    Attributes:
        used: (trial, first, last) [s] of every flight used, its ends included.
        short: the same for flights that are too short to be used.
        null_space: what the equations of the flights determine without prior or bounds.
    """

    used: tuple[tuple[str, float, float], ...]
    short: tuple[tuple[str, float, float], ...]
    null_space: NullSpace

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the report."""
        is_determined = self.null_space.is_distinct and self.null_space.dimension == 1
        warnings = [] if is_determined else [f"{self.null_space.summary}; the prior supplied the rest"]
        if self.short:
            listed = ", ".join(f"{name} {first:.2f} to {last:.2f} s" for name, first, last in self.short)
            warnings.append(f"flights too short to use once the filter's reach is removed from both ends: {listed}")
        return tuple(warnings)


@dataclass(frozen=True, slots=True, repr=False)
class Study(HtmlResult):
    """Result of the main job.

    Attributes:
        rig: calibrated, with the prior scaled to the measured mass.
        settings: of the study.
        records: one per recording, in the order given.
        calibration: None if the rig was given.
        mass: body mass and the evidence for it; None if no plate weighs the body.
        identification: None if the study only tracked.
        warnings: what the reader must know, in plain sentences.
        lag: lag of the plates behind the motion, over all trials; None if it was not estimated.
        seconds: [s] wall time per stage.
        assumptions: what was estimated or assumed because it was not specified, in plain sentences.
        load: load added between two sets of recordings; None if none was searched for.
        findings: results of the plate checks, and what was done about them.
        flights: data of an identification from flight phases alone; None for one with forces.
        residuals: of the trials that the identification was fitted to.
    """

    rig: Rig
    settings: Settings
    records: tuple[TrialRecord, ...]
    calibration: Calibration | None = None
    mass: MassEstimate | None = None
    identification: Identification | None = None
    lag: Lag | None = None
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    load: AddedLoad | None = None
    findings: tuple[Finding, ...] = ()
    flights: Flights | None = None
    residuals: tuple[TrialResidual, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", MappingProxyType(dict(self.seconds)))

    def __repr__(self) -> str:
        mass = "" if self.mass is None else f", {self.mass.mass:.2f} ± {self.mass.half_width:.2f} kg"
        found = "nothing identified" if self.identification is None else repr(self.identification).splitlines()[0]
        counted = [f"{r.name} ({int(r.trial.counted.sum())} frames count)" for r in self.records if r.trial is not None]
        others = [r.name for r in self.records if r.trial is None]
        return (
            f"Study of {self.rig.name}{mass}; {len(self.warnings)} warnings\n"
            f"  trials: {abbreviate([*counted, *others])}\n"
            f"  {found}"
        )

    def __iter__(self) -> Iterator[TrialRecord]:
        """The recordings, in the order given."""
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def to_dataframe(self) -> Any:
        """Errors of reconstructed wrenches as a pandas ``DataFrame``, one row per trial and axis, SI units.

        Columns: trial, used, axis, rmse_identified, rmse_prior and rmse_prior_unweighted [N], [N m].

        Raises:
            SolverError: pandas is not installed.
        """
        found = () if self.identification is None else self.identification.comparisons
        rows = [(fit, axis) for fit in found for axis in range(len(WRENCH_AXES))]
        return build_data_frame(
            {
                "trial": [fit.trial for fit, _ in rows],
                "used": [fit.used for fit, _ in rows],
                "axis": [WRENCH_AXES[axis] for _, axis in rows],
                "rmse_identified": [float(fit.identified.rmse[axis]) for fit, axis in rows],
                "rmse_prior": [float(fit.prior.rmse[axis]) for fit, axis in rows],
                "rmse_prior_unweighted": [float(fit.unweighted_prior.rmse[axis]) for fit, axis in rows],
            }
        )

    @property
    def known_plates(self) -> KnownPlates:
        """Calibrations of the plates that further trials on the same plates should use."""
        return collect_known_plates([(r.trial.wrenches.frames, r.plate_errors) for r in self.records if r.trial])

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials ready for identification."""
        return tuple(record.trial for record in self.records if record.trial is not None)

    def record(self, name: str) -> TrialRecord:
        """One trial's record.

        Raises:
            UnknownName: no such trial.
        """
        for record in self.records:
            if record.name == name:
                return record
        raise UnknownName(name, [record.name for record in self.records])
