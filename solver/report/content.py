"""Content of a report as plain values: built from a study, or read from a folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times, frozen
from ..base.errors import InvalidValue
from ..calibration.body_mass import MassEstimate
from ..identification.added_load import AddedLoad
from ..identification.comparison import Comparison, FlightCheck
from ..scene.determined import MASS_KIND, DeterminedQuantity
from ..storage.codec import FileKind
from ..study.plates.finding import Finding
from ..study.residuals import TrialResidual
from ..values.inertials import PER_LINK, InertialParameters


@dataclass(frozen=True, slots=True)
class Signals(ArrayValue):
    """Wrench of one trial over time, base link's origin, world axes.

    Attributes:
        trial: its name.
        times: (N,) [s].
        measured, identified, prior: (N, 6) [N, N m]; NaN where unknown.
        counted: (N,) True where a frame counts.
        states: (N,) index into `state_names` of each frame.
        state_names: reasons why a frame counts or does not.
        lag: lag of the plates behind the motion that was removed [s]; NaN if none was estimated.
    """

    trial: str
    times: Annotated[np.ndarray, Times()]
    measured: Annotated[np.ndarray, Array("N", 6, finite=False)]
    identified: Annotated[np.ndarray, Array("N", 6, finite=False)]
    prior: Annotated[np.ndarray, Array("N", 6, finite=False)]
    counted: Annotated[np.ndarray, Array("N", mask=True)]
    states: np.ndarray
    state_names: tuple[str, ...]
    lag: float

    def require_consistent(self) -> None:
        states = np.array(self.states)
        if not len(self.times) or states.shape != self.times.shape or states.dtype.kind not in "iu":
            raise InvalidValue(
                f"the signals of {self.trial!r} have {len(self.times)} frames and states of shape {states.shape}"
            )
        if not 0 <= states.min() <= states.max() < len(self.state_names):
            raise InvalidValue(f"the signals of {self.trial!r} have a state that has no name")
        object.__setattr__(self, "states", states)


@dataclass(frozen=True, slots=True)
class TrackingErrors(ArrayValue):
    """Distance of measured markers from the tracked body, one trial.

    Attributes:
        trial: its name.
        markers: M names.
        rmse: (M,) [m] over frames.
        visible_fraction: (M,) fraction of frames in which the marker was visible.
        total: RMSE over markers and frames [m].
    """

    trial: str
    markers: Annotated[tuple[str, ...], Names("M")]
    rmse: Annotated[np.ndarray, Array("M", finite=False)]
    visible_fraction: Annotated[np.ndarray, Array("M", finite=False)]
    total: float


@dataclass(frozen=True, slots=True)
class TrialAngles(ArrayValue):
    """Anatomical joint angles of one trial, see `joint_angles`.

    Attributes:
        trial: its name.
        times: (N,) [s].
        names: C; angles that the rig's joints cannot change are left out.
        values: (N, C) [degrees].
        cycles: start and stop (K, 2) [s] of gait cycles of each side, see `find_gait_cycles`.
    """

    trial: str
    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("C")]
    values: Annotated[np.ndarray, Array("N", "C")]
    cycles: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class FlightIdentification:
    """Identification from flight phases, without forces.

    Attributes:
        spans: (trial, first, last [s], whether it was long enough to be used) of every flight.
        dimension: of the null space of their equations.
        summary: one sentence on what flight alone determined.
    """

    spans: tuple[tuple[str, float, float, bool], ...]
    dimension: int
    summary: str


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a report.

    Attributes:
        title: of the page.
        subject: the rig's name.
        simulated: True if the recordings are simulated; the page's header says so.
        method: name of the identification method.
        satisfies: physical consistency of the result, in words.
        identified, prior: parameters per link.
        half_widths: (L, 10) half of the 95 % intervals of mass [kg], centre of mass [m], and inertia about it
            [kg m^2]; NaN if there are none.
        determined: what the data determine, in classes.
        prior_source: what the prior was taken from, in words.
        on_bounds: names of bounds that parameters ended on.
        truth: the known parameters of a simulation, or None.
        comparisons: with the prior, trials used and unused.
        weighing: body mass that the plates measured; None if no plate weighs the body.
        residuals, signals, tracking, angles, findings, flights: sections; empty if there is nothing to show.
        from_flight: data of an identification from flight phases alone; None for one with forces.
        load: added between two sets of recordings; None without a search.
        methods: rows (title, text) of the method section.
        undecided_reason: sentence that says why the recordings do not decide the masses; empty if they do.
        warnings, notes: plain sentences.
    """

    title: str
    subject: str
    simulated: bool
    method: str
    satisfies: str
    identified: InertialParameters
    prior: InertialParameters
    half_widths: np.ndarray
    determined: tuple[DeterminedQuantity, ...]
    prior_source: str
    on_bounds: tuple[str, ...]
    truth: InertialParameters | None = None
    comparisons: tuple[Comparison, ...] = ()
    signals: tuple[Signals, ...] = ()
    tracking: tuple[TrackingErrors, ...] = ()
    angles: tuple[TrialAngles, ...] = ()
    weighing: MassEstimate | None = None
    findings: tuple[Finding, ...] = ()
    residuals: tuple[TrialResidual, ...] = ()
    flights: tuple[FlightCheck, ...] = ()
    from_flight: FlightIdentification | None = None
    load: AddedLoad | None = None
    methods: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    undecided_reason: str = ""

    def __post_init__(self) -> None:
        links = self.identified.links
        if self.prior.links != links or (self.truth is not None and self.truth.links != links):
            raise InvalidValue("identified, prior and true parameters are of different links")
        for parameters in (self.identified, self.prior, *([] if self.truth is None else [self.truth])):
            if not np.isfinite(parameters.inertias_at_com).all():
                raise InvalidValue("an inertia about a centre of mass is not a finite number")
        object.__setattr__(
            self, "half_widths", frozen("half widths", self.half_widths, (len(links), PER_LINK), finite=False)
        )

    @property
    def limbs(self) -> tuple[DeterminedQuantity, ...]:
        """Masses of limbs and trunk, each of several links."""
        several = range(2, len(self.identified.links))
        return tuple(one for one in self.determined if one.kind == MASS_KIND and len(one.links) in several)

    @property
    def mass(self) -> float:
        """Body mass [kg]: as measured by the plates, or the sum of the identified masses."""
        return self.identified.total_mass if self.weighing is None else self.weighing.mass

    @property
    def mass_half_width(self) -> float:
        """Half of the 95 % interval of the body mass [kg]; NaN if no plate weighs the body."""
        return np.nan if self.weighing is None else self.weighing.half_width


CONTENT = FileKind(Content, "exciting dance report", remedy="Identify again")
"""The file from which a cohort's page is made without identifying its subjects again."""
