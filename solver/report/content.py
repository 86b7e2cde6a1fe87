"""Content of a report as plain values: built from a study, or read from a folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import frozen, frozen_mask, frozen_times
from ..errors import InvalidValue
from ..inertials import PER_LINK, InertialParameters
from ..storage.codec import FileKind


@dataclass(frozen=True, slots=True)
class TrialErrors:
    """Errors of the reconstructed wrench of one trial, per axis Fx Fy Fz Mx My Mz.

    Attributes:
        trial: its name.
        used: True if the parameters were fitted to it.
        frames: number of frames compared.
        identified_rmse, prior_rmse: (6,) [N, N m], each with frequency weights of its own.
        identified_correlation, prior_correlation: (6,) Pearson.
        unweighted_rmse, unweighted_correlation: (6,) of the prior without frequency weights; NaN if a file of an
            earlier version has none.
    """

    trial: str
    used: bool
    frames: int
    identified_rmse: np.ndarray
    prior_rmse: np.ndarray
    identified_correlation: np.ndarray
    prior_correlation: np.ndarray
    unweighted_rmse: np.ndarray = field(default_factory=lambda: np.full(6, np.nan))
    unweighted_correlation: np.ndarray = field(default_factory=lambda: np.full(6, np.nan))

    def __post_init__(self) -> None:
        for body in ("identified", "prior", "unweighted"):
            for name in (f"{body}_rmse", f"{body}_correlation"):
                object.__setattr__(self, name, frozen(name, getattr(self, name), (6,), finite=False))


@dataclass(frozen=True, slots=True)
class Signals:
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
    times: np.ndarray
    measured: np.ndarray
    identified: np.ndarray
    prior: np.ndarray
    counted: np.ndarray
    states: np.ndarray
    state_names: tuple[str, ...]
    lag: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        frames = len(self.times)
        for name in ("measured", "identified", "prior"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (frames, 6), finite=False))
        object.__setattr__(self, "counted", frozen_mask("counted", self.counted, (frames,)))
        states = np.array(self.states)
        if not frames or states.shape != (frames,) or states.dtype.kind not in "iu":
            raise InvalidValue(f"the signals of {self.trial!r} have {frames} frames and states of shape {states.shape}")
        if not 0 <= states.min() <= states.max() < len(self.state_names):
            raise InvalidValue(f"the signals of {self.trial!r} have a state that has no name")
        object.__setattr__(self, "states", states)


@dataclass(frozen=True, slots=True)
class TrackingErrors:
    """Distance of measured markers from the tracked body, one trial.

    Attributes:
        trial: its name.
        markers: M names.
        rmse: (M,) [m] over frames.
        visible_fraction: (M,) fraction of frames in which the marker was visible.
        total: RMSE over markers and frames [m].
    """

    trial: str
    markers: tuple[str, ...]
    rmse: np.ndarray
    visible_fraction: np.ndarray
    total: float

    def __post_init__(self) -> None:
        for name in ("rmse", "visible_fraction"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (len(self.markers),), finite=False))


@dataclass(frozen=True, slots=True)
class Weighing:
    """One trial's contribution to the body mass.

    Attributes:
        trial: its name.
        group: number of the group of trials that share a plate bias, from 1.
        reading: mass from its forces alone [kg].
        std: of the reading [kg].
        seconds: duration of the frames that count [s].
        unloaded: True if the plates are unloaded at some time, which shows any offset.
        bias: (6,) constant wrench removed from the group [N, N m]; zeros if there is none.
    """

    trial: str
    group: int
    reading: float
    std: float
    seconds: float
    unloaded: bool
    bias: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "bias", frozen("plate bias", self.bias, (6,), finite=False))


@dataclass(frozen=True, slots=True)
class ResidualSummary:
    """Residual force and moment of one trial that was fitted, in the field's usual measures.

    Attributes:
        trial: its name.
        force_weights: root mean square of the residual force, identified and prior, in body weights.
        moment_weights: the same for the moment, in body weights times heights; NaN if the height is unknown.
        force_share: root mean square and peak of the residual force, as fractions of the peak measured force.
        moment_share: of the residual moment, as fractions of the centre of mass's mean height times that peak.
        meets: whether all of these fractions are within the usual thresholds.
    """

    trial: str
    force_weights: tuple[float, float]
    moment_weights: tuple[float, float]
    force_share: tuple[float, float]
    moment_share: tuple[float, float]
    meets: bool


@dataclass(frozen=True, slots=True)
class PlateFinding:
    """Finding of one plate check.

    Attributes:
        check: what was checked, in words.
        trials: names.
        evidence, low, high: the number that decides, and its 95 % interval; NaN if there is none.
        unit: of these.
        done: what was done about it, in words.
        text: the finding in words.
        is_warning: whether the reader must be warned.
    """

    check: str
    trials: tuple[str, ...]
    evidence: float
    low: float
    high: float
    unit: str
    done: str
    text: str
    is_warning: bool


@dataclass(frozen=True, slots=True)
class MomentSummary:
    """Joint moments of one trial, see `moments.JointMoments`.

    Attributes:
        trial: its name.
        names: C coordinates.
        meanings: C; anatomical name of the direction in which a coordinate increases, empty if it has none.
        peaks: (C, 2) [N m/kg] or [N/kg] least and greatest; NaN if unknown.
        residual_rms, residual_peak: (2,) residual force [N] and moment [N m] at the root.
        notes: plain sentences.
    """

    trial: str
    names: tuple[str, ...]
    meanings: tuple[str, ...]
    peaks: np.ndarray
    residual_rms: np.ndarray
    residual_peak: np.ndarray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "peaks", frozen("peaks", self.peaks, (len(self.names), 2), finite=False))
        for name in ("residual_rms", "residual_peak"):
            object.__setattr__(self, name, frozen(name, getattr(self, name), (2,), finite=False))


@dataclass(frozen=True, slots=True)
class FlightCheck:
    """Check in flight: RMS of (CoM acceleration - gravity) [m/s^2] and of the rate of angular momentum [N m]."""

    trial: str
    frames: int
    identified_acceleration: float
    prior_acceleration: float
    identified_momentum_rate: float
    prior_momentum_rate: float


@dataclass(frozen=True, slots=True)
class FlightIdentification:
    """Identification from flight phases, without forces.

    Attributes:
        spans: (trial, first, last [s], whether it was long enough to be used) of every flight.
        dimension: of the null space of their equations.
        gap: ratio of the singular values that separate the null space from the rest.
        summary: one sentence on what flight alone determined.
    """

    spans: tuple[tuple[str, float, float, bool], ...]
    dimension: int
    gap: float
    summary: str


@dataclass(frozen=True, slots=True)
class BaseParameter:
    """One combination of parameters that the motion determines: value and relative standard deviation."""

    name: str
    value: float
    relative_std: float


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """One load that was found; without a link: no load was found.

    Attributes:
        link: that carries it; empty if no load was found.
        mass, mass_std: [kg] and its standard deviation from the residuals.
        com: (3,) [m] of the load, link frame.
        alternatives: other links, or sets of links, that the data do not exclude as carriers of the whole load.
        probability: of this link, if a single link carries all; NaN if unknown.
    """

    link: str
    mass: float
    mass_std: float
    com: np.ndarray
    alternatives: tuple[str, ...]
    probability: float = np.nan

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", frozen("centre of mass", self.com, (3,), finite=False))


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a report.

    Attributes:
        title: of the page.
        subject: the rig's name.
        simulated: True if the recordings are simulated; the page's header says so.
        method: name of the identification method.
        satisfies: physical consistency of the result, in words.
        mass, mass_std: [kg] body mass and its standard deviation; NaN if it was not estimated.
        identified, prior: parameters per link.
        std: (L, 10) standard deviations; NaN if there are none.
        com_std: (L, 3) [m] of the centres of mass.
        std_by_source: (L, 10) standard deviations by cause, whose squares sum to those of ``std``; empty if unknown.
        determined: (L, 10) share that the data determined.
        on_bounds: names of bounds that parameters ended on.
        singular_values: of the scaled regressor, descending.
        rank: numerical rank.
        truth: the known parameters of a simulation, or None.
        errors: per trial, used and unused.
        residuals, signals, tracking, weighings, plate_findings, moments, flights, base: sections; empty if there is
            nothing to show.
        from_flight: data of an identification from flight phases alone; None for one with forces.
        loads: added between two sets of recordings; one without a link if none was found; empty without a search.
        methods: rows (title, text) of the method section.
        undecided_reason: sentence that says why the recordings do not decide the masses; empty if they do.
        warnings, notes: plain sentences.
    """

    title: str
    subject: str
    simulated: bool
    method: str
    satisfies: str
    mass: float
    mass_std: float
    identified: InertialParameters
    prior: InertialParameters
    std: np.ndarray
    com_std: np.ndarray
    determined: np.ndarray
    on_bounds: tuple[str, ...]
    singular_values: np.ndarray
    rank: int
    truth: InertialParameters | None = None
    errors: tuple[TrialErrors, ...] = ()
    signals: tuple[Signals, ...] = ()
    tracking: tuple[TrackingErrors, ...] = ()
    weighings: tuple[Weighing, ...] = ()
    plate_findings: tuple[PlateFinding, ...] = ()
    residuals: tuple[ResidualSummary, ...] = ()
    moments: tuple[MomentSummary, ...] = ()
    flights: tuple[FlightCheck, ...] = ()
    from_flight: FlightIdentification | None = None
    base: tuple[BaseParameter, ...] = ()
    loads: tuple[LoadSummary, ...] = ()
    methods: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    std_by_source: Mapping[str, np.ndarray] = field(default_factory=dict)
    undecided_reason: str = ""

    def __post_init__(self) -> None:
        links = self.identified.links
        if self.prior.links != links or (self.truth is not None and self.truth.links != links):
            raise InvalidValue("identified, prior and true parameters are of different links")
        for parameters in (self.identified, self.prior, *([] if self.truth is None else [self.truth])):
            if not np.isfinite(parameters.inertias_at_com).all():
                raise InvalidValue("an inertia about a centre of mass is not a finite number")
        for name, columns in (("std", PER_LINK), ("com_std", 3), ("determined", PER_LINK)):
            shape = (len(links), columns)
            object.__setattr__(self, name, frozen(name, getattr(self, name), shape, finite=False))
        object.__setattr__(self, "singular_values", frozen("singular values", self.singular_values, (None,)))
        if not 0 <= self.rank <= len(self.singular_values):
            raise InvalidValue(
                f"the rank {self.rank} is not between 0 and the {len(self.singular_values)} singular values"
            )


CONTENT = FileKind(
    Content, "exciting dance report", remedy="Specify the report.npz that identify wrote next to its report.html"
)
"""The file from which a page can be rendered again without the recordings."""
