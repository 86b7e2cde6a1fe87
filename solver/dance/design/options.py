"""Options of a dance, with presets for robots, for people and of bonnet2016."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import find_repeated
from ...contacts.schedule import FOOT_CONFIGURATIONS
from ...errors import InvalidValue, UnknownPreset
from ...identification.base_parameters import base_parameters
from ...identification.excitation.expected_deviations import DESIGN_NOISE, DESIGN_RATE, ExpectedDeviations
from ...identification.excitation.wrench_noise import MotionErrors, WrenchNoise
from ...options.checks import DANCE_CHECKS, REACH, CheckOptions
from ...rig import Rig
from ...trajectory.splines import DEFAULT_VIA_POINTS
from .named_poses import NamedPose
from .style import DURATION_FACTORS, Style

ROBOT_NOISE = WrenchNoise(
    DESIGN_NOISE, DESIGN_RATE, MotionErrors(position=0.0005, angle=0.0005, rate=200.0, cutoff=20.0)
)
"""Noise with a good force plate, joint encoders, and a root tracked by cameras."""
PERSON_NOISE = WrenchNoise(
    DESIGN_NOISE, DESIGN_RATE, MotionErrors(position=0.0005, angle=0.002, rate=100.0, cutoff=6.0)
)
"""Noise with a good force plate and a body tracked by markers."""
OBJECTIVES = ("sigma", "criterion")
SEARCH_TOLERANCE = 1e-7
"""[each check's unit] Rounding: a design keeps the limits, and leaves the tolerance of the checks to its edits."""


@dataclass(frozen=True, slots=True)
class DanceOptions:
    """Options of a dance; the defaults identify a robot's parameters best (`benchmarks/dance.py`).

    Attributes:
        postures: number per foot configuration; a configuration that is missing or zero is not danced.
        shortest: T_F [s], least duration of a transition; speed limits lengthen it (paper: 5 HOAP-3, 2 human).
        quickest_step: [s] least duration of a weight shift or a step.
        spacing: [s] between the knots of a transition. Closer knots let joints reverse more often, which excites more
            where speeds are limited. With 0.2 instead of 0.28 s and 60 postures, HOAP-3 has 80 instead of 77
            parameters below 10 % and deviations smaller by a seventh; with 12 postures and three seeds, the error
            identified from files is 0.29 instead of 0.32 of the prior's. A person's dance gives a fifth more
            information, and its feet slide by 5 cm in MuJoCo.
        hold: [s] for which each posture is held (paper, human: 5).
        shrink: fraction in [0, 1) by which the support polygon shrinks about its centre.
        friction: coefficient mu of (19).
        allowed_slip: [m] as in `CheckOptions`, for later edits and performances; the feet of the design do not slip.
        step: [m] by which the right foot is put forward (paper: 0.1 HOAP-3, 0.2 human); None: 0.8 sole lengths.
        speed: [rad/s] limit of every joint in addition to its own (paper: 1 HOAP-3, 4 human).
        emphasis: factor on a link's weight in (12).
        pairs: links that must not touch, as in `CheckOptions`.
        clearance: [m] between links.
        torque_reserve: fraction of every joint's torque limit that is left to a controller.
        balance_reserve: [m] distance of the zero-moment point from the shrunk polygon's edge, left to a controller.
        swing: [m] by which a lifted foot clears the floor, except where it leaves or meets it.
        objective: of the transitions: ``"sigma"``, the geometric mean of the expected standard deviations of all base
            parameters, with every free joint; or ``"criterion"``, (12) over the links of Table I.
        passes: odd number of times that each transition is danced, forth, back and forth again: three give three times
            the information without a further search.
        via: N_K, control values of each joint that a transition optimises (paper: 2); None: all of them.
        pool: feasible postures drawn per foot configuration.
        starts: of the multi-start choice among them.
        rounds: linear programs per transition. Four instead of six take a fifth less time; the deviations of HOAP-3's
            dances of 12 postures are 5 to 12 % larger, a person's 2 %.
        style: beats, motifs and skill; None: the dance that identifies best.
        poses: named by an animator; every posture is a variation of one of them. Empty: any posture.
        seed: of every random choice; the same seed gives the same dance with any number of workers.
        workers: number of processes.
    """

    postures: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(FOOT_CONFIGURATIONS, 15))
    shortest: float = 1.0
    quickest_step: float = 1.0
    spacing: float = 0.2
    hold: float = 0.2
    shrink: float = DANCE_CHECKS.shrink
    friction: float = DANCE_CHECKS.friction
    allowed_slip: float = DANCE_CHECKS.allowed_slip
    step: float | None = 0.1
    speed: float = np.inf
    emphasis: Mapping[str, float] = field(default_factory=dict)
    pairs: str | tuple[tuple[str, str], ...] = "all"
    clearance: float = 0.0
    torque_reserve: float = 0.1
    balance_reserve: float = 0.003
    swing: float = 0.02
    objective: str = "sigma"
    passes: int = 1
    via: int | None = None
    pool: int = 200
    starts: int = 4
    rounds: int = 6
    style: Style | None = None
    poses: tuple[NamedPose, ...] = ()
    seed: int = 0
    workers: int = 2

    def __post_init__(self) -> None:
        unknown = [name for name in self.postures if name not in FOOT_CONFIGURATIONS]
        if unknown:
            raise InvalidValue(f"no foot configuration {unknown[0]!r}; there are {', '.join(FOOT_CONFIGURATIONS)}")
        if not any(self.postures.values()) or min(self.postures.values()) < 0:
            raise InvalidValue("a dance needs at least one posture, and numbers of postures that are not negative")
        if self.objective not in OBJECTIVES:
            raise InvalidValue(f"no objective {self.objective!r}; there are {', '.join(OBJECTIVES)}")
        for name in ("shortest", "quickest_step", "spacing", "hold", "workers", "pool", "starts", "rounds"):
            if not 0 < getattr(self, name) < np.inf:
                raise InvalidValue(f"dance option {name!r} must be positive, got {getattr(self, name)!r}")
        if self.passes < 1 or self.passes % 2 == 0:
            raise InvalidValue(f"passes must be odd, so that each transition ends at its target: not {self.passes}")
        if self.seed < 0 or not self.speed > 0.0:
            raise InvalidValue(f"seed {self.seed} must not be negative, speed {self.speed} must be positive")
        if self.step is not None and not np.isfinite(self.step):
            raise InvalidValue(f"the step must be finite, got {self.step}")
        if twice := find_repeated([pose.name for pose in self.poses]):
            raise InvalidValue(f"several poses have the name {', '.join(sorted(twice))}: give each its own name")
        if self.style is not None:
            self.style.require_feasible_tempo(max(self.shortest, self.quickest_step))
        if self.via not in (None, DEFAULT_VIA_POINTS):
            raise InvalidValue(
                f"via must be {DEFAULT_VIA_POINTS} control values of each joint, or None for all: not {self.via!r}"
            )

    def for_configuration(self, configuration: str) -> DanceOptions:
        """The options for one foot configuration, with its factor on the shortest duration if there is a style."""
        return self if self.style is None else replace(self, shortest=DURATION_FACTORS[configuration] * self.shortest)

    @property
    def checks(self) -> CheckOptions:
        """Checks of the dance, from its verification on."""
        return CheckOptions(
            shrink=self.shrink,
            friction=self.friction,
            pairs=self.pairs,
            clearance=self.clearance,
            reach=self.clearance + REACH,
            allowed_slip=self.allowed_slip,
        )

    @property
    def search_checks(self) -> CheckOptions:
        """Checks of the search: without tolerance, feet do not slip, and reserves are left to a controller."""
        return replace(
            self.checks, allowed_slip=0.0, torque_reserve=self.torque_reserve, balance_reserve=self.balance_reserve,
            foot_clearance=self.swing, tolerance=SEARCH_TOLERANCE,
        )  # fmt: skip


def human_options(**changes: object) -> DanceOptions:
    """Options for a person: transitions of at least 2 s, steps of 1 s, knots every 0.28 s, and at most 4 rad/s.

    Example:
        >>> import solver
        >>> solver.dance.human_options(seed=3).seed
        3
    """
    values: dict[str, object] = {
        "shortest": 2.0,
        "rounds": 4,
        "spacing": 0.28,
        "speed": 4.0,
        "step": 0.2,
        **changes,
    }
    return DanceOptions(**values)  # type: ignore[arg-type]


def paper_options(kind: str = "hoap3", **changes: object) -> DanceOptions:
    """Options of bonnet2016 for ``"hoap3"`` or ``"human"``: its criterion and durations, two via points.

    Raises:
        UnknownPreset: another kind.

    Example:
        >>> import solver
        >>> solver.dance.paper_options("hoap3").checks.shrink  # share of the support polygon
        0.4
    """
    exact: dict[str, object] = {"torque_reserve": 0.0, "balance_reserve": 0.0, "swing": 0.0}  # the paper has none
    paper: dict[str, dict[str, object]] = {
        "hoap3": {"shortest": 5.0, "quickest_step": 5.0, "hold": 1.0, "speed": 1.0, "step": 0.1},
        "human": {"shortest": 2.0, "quickest_step": 2.0, "hold": 5.0, "speed": 4.0, "step": 0.2},
    }
    if kind not in paper:
        raise UnknownPreset(kind, paper)
    values = {"objective": "criterion", "via": DEFAULT_VIA_POINTS, **exact, **paper[kind], **changes}
    return DanceOptions(**values)  # type: ignore[arg-type]


def sigma_objective(rig: Rig, options: DanceOptions) -> ExpectedDeviations | None:
    """The objective ``"sigma"`` over all base parameters; None with the paper's criterion."""
    if options.objective != "sigma":
        return None
    factors = np.array([options.emphasis.get(link, 1.0) for link in rig.links])
    return ExpectedDeviations(base_parameters(rig), rig.prior, factors, noise_model(rig))


def noise_model(rig: Rig) -> WrenchNoise:
    """The expected noise of recordings of a rig: a person's or a robot's."""
    return PERSON_NOISE if rig.is_person else ROBOT_NOISE
