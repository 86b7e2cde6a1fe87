"""Options of designing dances, with presets for robots, for people and of bonnet2016."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf
from typing import Annotated, Any, Self

from ..errors import InvalidValue, UnknownPreset
from .checks import DANCE_CHECKS, CheckOptions
from .declared import ANY, COUNT, LIMIT, NATURAL, NOT_NEGATIVE, PART, POSITIVE, SEED, Option, Options, Range

FOOT_CONFIGURATIONS = ("both", "right_forward", "right", "left")
"""The four stances of bonnet2016 Fig. 2.c, in the paper's order."""
DURATION_FACTORS = {"both": 1.25, "right_forward": 1.1, "left": 1.0, "right": 1.0}
"""Factors on the least duration of transitions by foot configuration, in the order of a dance with a style."""
OBJECTIVES = ("sigma", "criterion")
DEFAULT_VIA_POINTS = 2
"""N_K of bonnet2016, control values of each joint in a transition."""
PHRASE = 8
"""Beats of a phrase."""
TEMPO = Range(20.0, 400.0)
"""Range of the tempo, in beats a minute."""
EXCITATION_RATE = 50.0
"""[1/s] Rate at which excitation is evaluated, as in bonnet2016."""
SEARCH_TOLERANCE = 1e-7
"""[each check's unit] Rounding: a design keeps the limits, and leaves the tolerance of the checks to its edits."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Limits for a dancer's skill.

    Attributes:
        range_fraction: of the way from home to the limits of the joints.
        max_speed: [rad/s] speed limit of every joint.
        max_backward_bend: [rad] limit of backward bending of the root and of each joint of trunk and head.
        allows_one_leg: whether there are postures on one foot.
    """

    range_fraction: float
    max_speed: float
    max_backward_bend: float
    allows_one_leg: bool


SKILLS = {
    "beginner": Skill(0.6, 2.5, 0.05, allows_one_leg=False),
    "intermediate": Skill(0.8, 3.5, 0.2, allows_one_leg=True),
    "expert": Skill(1.0, inf, inf, allows_one_leg=True),
}
"""Comfortable ranges by skill; an expert uses the anatomical ranges."""


@dataclass(frozen=True, slots=True)
class Style(Options):
    """Style of a dance on counts, in phrases of eight, with mirrored motifs.

    Attributes:
        bpm: beats a minute, on which postures land; transitions end on beats.
        skill: skill of the dancer, which sets comfortable ranges of the joints; beginner: no one-legged postures, no
            bending backwards; expert: anatomical ranges.
        no_mirror: do not repeat motifs as mirror images.
    """

    bpm: Annotated[float, Option(TEMPO, label="Tempo", common=True)] = 120.0
    skill: Annotated[str, Option(choices=SKILLS, label="Skill", common=True)] = "expert"
    no_mirror: Annotated[bool, Option(label="No Mirroring")] = False

    @property
    def beat_duration(self) -> float:
        """[s]."""
        return 60.0 / self.bpm

    @property
    def skill_limits(self) -> Skill:
        """Limits for the dancer's skill."""
        return SKILLS[self.skill]

    def require_feasible_tempo(self, quickest: float) -> None:
        """Refuse a tempo at which no transition fits into a phrase.

        Args:
            quickest: [s] least duration of a transition with its hold, or of a step.

        Raises:
            InvalidValue: the tempo is too fast; names the fastest one that is possible.
        """
        if quickest > PHRASE * self.beat_duration:
            raise InvalidValue(
                f"at {self.bpm:g} beats a minute a phrase of {PHRASE} beats lasts "
                f"{PHRASE * self.beat_duration:.2f} s, but no "
                f"transition can be shorter than {quickest:.2f} s; choose at most "
                f"{floor(60.0 * PHRASE / quickest)} beats a minute"
            )


@dataclass(frozen=True, slots=True)
class DanceOptions(Options):
    """Options of a dance; the defaults identify a robot's parameters best (`benchmarks/dance.py`).

    Attributes:
        postures: number per foot configuration; a configuration that is missing or zero is not danced.
        min_duration: [s] least duration of a transition; T_F, speed limits lengthen it (paper: 5 HOAP-3, 2 human).
            Longer for a slow performer or controller.
        quickest_step: [s] least duration of a weight shift or a step.
        knot_spacing: [s] time between the knots of a transition; closer knots let joints reverse more often, which
            excites more where speeds are limited. With 0.2 instead of 0.28 s and 60 postures, HOAP-3 has 80 instead of
            77 parameters below 10 % and deviations smaller by a seventh; with 12 postures and three seeds, the error
            identified from files is 0.29 instead of 0.32 of the prior's. A person's dance gives a fifth more
            information, and its feet slide by 5 cm in MuJoCo.
        hold: [s] time for which each posture is held; paper, human: 5.
        checks: conditions that the dance keeps and stores. The feet of the design do not slip: the allowed slip is for
            later edits and performances.
        step: [m] distance by which the right foot is put forward; for plates with a fixed distance. None: 0.8 sole
            lengths. Paper: 0.1 HOAP-3, 0.2 human.
        speed: [rad/s] speed limit of every joint, in addition to its own; paper: 1 HOAP-3, 4 human.
        emphasise: factor on a link's weight in (12).
        torque_reserve: fraction of every joint's torque limit that is left to a controller.
        balance_reserve: [m] distance of the zero-moment point from the shrunk polygon's edge, left to a controller.
        foot_clearance: [m] height by which a lifted foot clears the floor; except where it leaves or meets it. More on
            an uneven floor.
        objective: criterion of the transitions; ``"sigma"``, the geometric mean of the expected standard deviations of
            all base parameters, with every free joint; or ``"criterion"``, (12) over the links of Table I.
        passes: odd number of times that each transition is danced, forth, back and forth again; three give three times
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
    min_duration: Annotated[
        float, Option(POSITIVE, usual="1 s, human 2 s; paper 5 s, human 2 s", label="Shortest Transition")
    ] = 1.0
    quickest_step: Annotated[float, Option(POSITIVE, in_code_only=True)] = 1.0
    knot_spacing: Annotated[float, Option(POSITIVE, usual="0.2 s, human 0.28 s")] = 0.2
    hold: Annotated[float, Option(POSITIVE, usual="0.2 s; paper 1 s, human 5 s", label="Hold")] = 0.2
    checks: CheckOptions = DANCE_CHECKS
    step: Annotated[float | None, Option(ANY, usual="0.8 sole lengths")] = 0.1
    speed: Annotated[float, Option(LIMIT, usual="no limit, human 4 rad/s")] = inf
    emphasise: Mapping[str, float] = field(default_factory=dict)
    torque_reserve: Annotated[float, Option(PART)] = 0.1
    balance_reserve: Annotated[float, Option(NOT_NEGATIVE)] = 0.003
    foot_clearance: Annotated[float, Option(NOT_NEGATIVE)] = 0.02
    objective: Annotated[str, Option(choices=OBJECTIVES, label="Objective")] = "sigma"
    passes: Annotated[int, Option(COUNT, label="Passes", slider=(1, 9))] = 1
    via: Annotated[int | None, Option(COUNT, in_code_only=True)] = None
    pool: Annotated[int, Option(COUNT, in_code_only=True)] = 200
    starts: Annotated[int, Option(COUNT, in_code_only=True)] = 4
    rounds: Annotated[int, Option(COUNT, in_code_only=True)] = 6
    style: Style | None = None
    poses: tuple[Any, ...] = ()
    seed: Annotated[int, Option(SEED, label="Seed", common=True)] = 0
    workers: Annotated[int, Option(COUNT)] = 2

    def require_consistent(self) -> None:
        """Postures, passes, poses and tempo are possible.

        Raises:
            InvalidValue: one of them is not.
        """
        unknown = [name for name in self.postures if name not in FOOT_CONFIGURATIONS]
        if unknown:
            raise InvalidValue(f"no foot configuration {unknown[0]!r}; there are {', '.join(FOOT_CONFIGURATIONS)}")
        if not any(self.postures.values()) or not all(map(NATURAL.contains, self.postures.values())):
            raise InvalidValue("a dance needs at least one posture, and whole numbers of postures from 0")
        if self.passes % 2 == 0:
            raise InvalidValue(f"passes must be odd, so that each transition ends at its target: not {self.passes}")
        names = [pose.name for pose in self.poses]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InvalidValue(f"several poses have the name {', '.join(sorted(twice))}: give each its own name")
        if self.style is not None:
            self.style.require_feasible_tempo(max(self.min_duration, self.quickest_step))
        if self.via not in (None, DEFAULT_VIA_POINTS):
            raise InvalidValue(
                f"via must be {DEFAULT_VIA_POINTS} control values of each joint, or None for all: not {self.via!r}"
            )

    def for_configuration(self, configuration: str) -> Self:
        """The options for one foot configuration, with its factor on the least duration if there is a style."""
        factor = 1.0 if self.style is None else DURATION_FACTORS[configuration]
        return replace(self, min_duration=factor * self.min_duration)

    @property
    def search_checks(self) -> CheckOptions:
        """Checks of the search: without tolerance, feet do not slip, and reserves are left to a controller."""
        reserves = {name: getattr(self, name) for name in ("torque_reserve", "balance_reserve", "foot_clearance")}
        return replace(self.checks, allowed_slip=0.0, tolerance=SEARCH_TOLERANCE, **reserves)


def human_options(**changes: Any) -> DanceOptions:
    """Options for a person: transitions of at least 2 s, steps of 1 s, knots every 0.28 s, and at most 4 rad/s.

    Example:
        >>> import solver
        >>> solver.dance.human_options(seed=3).seed
        3
    """
    values: dict[str, Any] = {"min_duration": 2.0, "rounds": 4, "knot_spacing": 0.28, "speed": 4.0, "step": 0.2}
    return DanceOptions(**{**values, **changes})


def paper_options(kind: str = "hoap3", **changes: Any) -> DanceOptions:
    """Options of bonnet2016 for ``"hoap3"`` or ``"human"``: its criterion and durations, two via points.

    Raises:
        UnknownPreset: another kind.

    Example:
        >>> import solver
        >>> solver.dance.paper_options("hoap3").checks.shrink  # share of the support polygon
        0.4
    """
    exact: dict[str, Any] = {"torque_reserve": 0.0, "balance_reserve": 0.0, "foot_clearance": 0.0}  # the paper has none
    paper: dict[str, dict[str, Any]] = {
        "hoap3": {"min_duration": 5.0, "quickest_step": 5.0, "hold": 1.0, "speed": 1.0, "step": 0.1},
        "human": {"min_duration": 2.0, "quickest_step": 2.0, "hold": 5.0, "speed": 4.0, "step": 0.2},
    }
    if kind not in paper:
        raise UnknownPreset(kind, paper)
    return DanceOptions(**{"objective": "criterion", "via": DEFAULT_VIA_POINTS, **exact, **paper[kind], **changes})
