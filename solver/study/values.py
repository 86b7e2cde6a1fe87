"""Values of a study of one subject or robot: its settings, its trials and its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Times, abbreviate
from ..base.errors import InvalidValue, UnknownName
from ..calibration.body_mass import MassEstimate
from ..calibration.calibration import Calibration
from ..identification.added_load import AddedLoad
from ..identification.flight import NullSpace
from ..identification.result import Identification
from ..options.plates import KnownPlates
from ..options.study import Settings
from ..signals.plate_errors import NO_ERRORS, PlateErrors, collect_known_plates
from ..signals.resampling import Lag
from ..signals.trial import Recording, Trial
from ..signals.windows import Windows
from ..skeleton.rig import Rig
from ..storage.codec import FileKind
from ..tracking.motion_errors import MotionErrors
from ..tracking.track import TrackedMotion
from ..values.motion import Motion
from .plates.finding import Finding
from .residuals import TrialResidual


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
    def filtered_trial(self) -> Trial:
        """The trial with wrenches through the filter of its motion.

        Raises:
            InvalidValue: the trial has no forces.
        """
        if self.trial is None:
            raise InvalidValue(f"trial {self.name!r} has no forces")
        return replace(self.trial, wrenches=self.trial.filtered_wrenches, preset=None)

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
        """Warnings of flights that were not used."""
        if not self.short:
            return ()
        listed = ", ".join(f"{name} {first:.2f} to {last:.2f} s" for name, first, last in self.short)
        return (f"flights too short to use once the filter's reach is removed from both ends: {listed}",)


@dataclass(frozen=True, slots=True, repr=False)
class StudyData:
    """What a study consists of; `workflow.Study` describes it and adds what can be done with it."""

    rig: Rig
    settings: Settings
    records: tuple[TrialRecord, ...]
    calibration: Calibration | None = None
    mass: MassEstimate | None = None
    identified: Identification | None = None
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
        found = "nothing identified" if self.identified is None else repr(self.identified).splitlines()[0]
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

    @property
    def identification(self) -> Identification:
        """The result of the identification.

        Raises:
            InvalidValue: the study only tracked.
        """
        if self.identified is None:
            raise InvalidValue(f"the study of {self.rig.name} has no identification: none of its recordings has forces")
        return self.identified

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


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """What ``study.npz`` holds.

    Attributes:
        data: the study without its records.
        trials: names of the records, in order; each is in a file of its own.
    """

    data: StudyData
    trials: tuple[str, ...]


REMEDY = "Identify or track the recordings again"
STUDY = FileKind(StoredStudy, "exciting dance study", remedy=REMEDY)
"""The file of a study without its records."""
TRIAL = FileKind(TrialRecord, "exciting dance trial", remedy=REMEDY)
"""The file of a record."""
