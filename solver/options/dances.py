"""Options of designing dances, with presets for robots, for people and of bonnet2016."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, inf, log2
from typing import Annotated, Any

from ..base.errors import InvalidValue, UnknownPreset, checked
from .checks import DANCE_CHECKS, CheckOptions
from .declared import ANY, COUNT, LIMIT, NATURAL, NOT_NEGATIVE, PART, POSITIVE, SEED, Option, Options, Range

FOOT_CONFIGURATIONS = ("both", "right_forward", "right", "left")
"""The four stances of bonnet2016 Fig. 2.c, in the paper's order."""
OBJECTIVES = ("sigma", "criterion")
DEFAULT_VIA_POINTS = 2
"""N_K of bonnet2016, control values of each joint in a transition."""
PHRASE, ONE_FOOT_PHRASE = 8, 4
"""Counts of a phrase, and of one that is danced on one foot."""
SLOWEST_COUNT = 0.62
"""[s] Longest duration of a count: a phrase on one foot, with the lift before and the step after it, lasts 5 s.
Derived: eight counts."""
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
        hand_speed: [m/s] limit of the speed of the hands.
        note: advice for the dancer.
    """

    range_fraction: float
    max_speed: float
    max_backward_bend: float
    hand_speed: float
    note: str = ""


SKILLS = {
    "beginner": Skill(
        0.5, 2.0, 0.05, 1.5,
        "beginners stand beside a chair or a wall to catch themselves in phrases on one foot; a recording in which "
        "they touched it must be repeated, because its force is not measured",
    ),
    "intermediate": Skill(0.6, 2.5, 0.05, 2.0),
    "expert": Skill(1.0, inf, inf, inf),
}  # fmt: skip
"""Comfortable ranges by skill; an expert uses the anatomical ranges. Those of ``"intermediate"`` were chosen on five
simulated people, who performed the dance with a lag and a smaller amplitude: the required wrench of other motions had
0.30 of the tables' error, with anatomical ranges 0.32."""


@dataclass(frozen=True, slots=True)
class DanceOptions(Options):
    """Options of a dance; the defaults identify a robot's parameters best (`benchmarks/dance.py`).

    Attributes:
        postures: number of phrases per foot configuration, each through a posture of its own; those on both feet and on
            the left foot are danced once more in the mirror, which counts. With ``"criterion"``, number of postures.
        bpm: [1/min] beats of the music; a count lasts a beat, halved or doubled until it is between 0.31 and 0.62 s.
        skill: skill of the dancer, which sets comfortable ranges of the joints and speeds.
        min_duration: [s] least duration of a transition of ``"criterion"``; T_F, speed limits lengthen it (paper: 5
            HOAP-3, 2 human).
        quickest_step: [s] least duration of a weight shift or a step.
        knot_spacing: [s] time between the knots of a phrase; with 0.7 instead of 0.28 s a person reverses 38 % fewer
            movements, the predicted errors are the same within 3 %, and the search takes half the time. With 0.2
            instead of 0.12 s the deviations of HOAP-3's dance are a third larger.
        hold: [s] time for which each posture of ``"criterion"`` is held; paper, human: 5.
        checks: conditions that the dance keeps and stores. The feet of the design do not slip: the allowed slip is for
            later edits and performances.
        step: [m] distance by which the right foot is put forward; for plates with a fixed distance. None: 0.8 sole
            lengths. Paper: 0.1 HOAP-3, 0.2 human.
        speed: [rad/s] speed limit of every joint, in addition to its own; paper: 1 HOAP-3, 4 human.
        torque_reserve: fraction of every joint's torque limit that is left to a controller.
        balance_reserve: [m] distance of the zero-moment point from the shrunk polygon's edge, left to a controller.
        foot_clearance: [m] height by which a lifted foot clears the floor; except where it leaves or meets it. More on
            an uneven floor.
        objective: ``"sigma"``, phrases with the least geometric mean of the expected standard deviations of all base
            parameters, which every free joint excites; or ``"criterion"``, the dance of bonnet2016: postures held, and
            joined by transitions that minimise (12) over the links of Table I.
        via: N_K, control values of each joint that a transition optimises (paper: 2); None: all of them.
        pool: feasible postures drawn per foot configuration.
        rounds: linear programs per phrase or transition; 0 keeps the straight paths.
        seconds: [s] after which no further phrase or transition is searched for.
        poses: named by an animator; every posture is a variation of one of them. Empty: any posture.
        seed: of every random choice; the same seed gives the same dance with any number of workers.
        workers: number of processes.
    """

    postures: Mapping[str, int] = field(default_factory=lambda: {"both": 30, "left": 15, "right": 15})
    bpm: Annotated[float, Option(TEMPO, label="Tempo", common=True)] = 100.0
    skill: Annotated[str, Option(choices=SKILLS, label="Skill", common=True, usual="intermediate, robots expert")] = (
        "expert"
    )
    min_duration: Annotated[float, Option(POSITIVE, in_code_only=True)] = 1.0
    quickest_step: Annotated[float, Option(POSITIVE, in_code_only=True)] = 1.0
    knot_spacing: Annotated[float, Option(POSITIVE, usual="0.16 s, human 0.7 s")] = 0.16
    hold: Annotated[float, Option(POSITIVE, in_code_only=True)] = 0.2
    checks: CheckOptions = DANCE_CHECKS
    step: Annotated[float | None, Option(ANY, usual="0.8 sole lengths")] = 0.1
    speed: Annotated[float, Option(LIMIT, usual="no limit")] = inf
    torque_reserve: Annotated[float, Option(PART)] = 0.1
    balance_reserve: Annotated[float, Option(NOT_NEGATIVE)] = 0.003
    foot_clearance: Annotated[float, Option(NOT_NEGATIVE)] = 0.02
    objective: Annotated[str, Option(choices=OBJECTIVES, in_code_only=True)] = "sigma"
    via: Annotated[int | None, Option(COUNT, in_code_only=True)] = None
    pool: Annotated[int, Option(COUNT, in_code_only=True)] = 100
    rounds: Annotated[int, Option(NATURAL, in_code_only=True)] = 4
    seconds: Annotated[float, Option(LIMIT, in_code_only=True)] = inf
    poses: tuple[Any, ...] = ()
    seed: Annotated[int, Option(SEED, label="Seed", common=True)] = 0
    workers: Annotated[int, Option(COUNT)] = 2

    def require_consistent(self) -> None:
        """Postures and poses are possible.

        Raises:
            InvalidValue: one of them is not.
        """
        unknown = [name for name in self.postures if name not in FOOT_CONFIGURATIONS]
        if unknown:
            raise InvalidValue(f"no foot configuration {unknown[0]!r}; there are {', '.join(FOOT_CONFIGURATIONS)}")
        if not any(self.postures.values()) or not all(map(NATURAL.contains, self.postures.values())):
            raise InvalidValue("a dance needs at least one posture, and whole numbers of postures from 0")
        names = [pose.name for pose in self.poses]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InvalidValue(f"several poses have the name {', '.join(sorted(twice))}: give each its own name")
        if self.via not in (None, DEFAULT_VIA_POINTS):
            raise InvalidValue(
                f"via must be {DEFAULT_VIA_POINTS} control values of each joint, or None for all: not {self.via!r}"
            )

    @property
    def skill_limits(self) -> Skill:
        """Limits for the dancer's skill."""
        return SKILLS[self.skill]

    @property
    def count_duration(self) -> float:
        """[s] Duration of a count: that of a beat, halved or doubled until it is at most `SLOWEST_COUNT`."""
        beats = 60.0 / self.bpm / SLOWEST_COUNT
        return SLOWEST_COUNT * beats * 2.0 ** -ceil(log2(beats))

    @property
    def kept_checks(self) -> CheckOptions:
        """Checks that the dance stores: with the limit of the hands' speed for the dancer's skill."""
        return replace(self.checks, hand_speed=min(self.checks.hand_speed, self.skill_limits.hand_speed))

    @property
    def search_checks(self) -> CheckOptions:
        """Checks of the search: without tolerance, feet do not slip, and reserves are left to a controller."""
        reserves = {name: getattr(self, name) for name in ("torque_reserve", "balance_reserve", "foot_clearance")}
        return replace(self.kept_checks, allowed_slip=0.0, tolerance=SEARCH_TOLERANCE, **reserves)


@checked
def human_options(**changes: Any) -> DanceOptions:
    """Options for a person: eight phrases, comfortable ranges and speeds, and knots every 0.7 s.

    Example:
        >>> import solver
        >>> solver.dance.human_options(seed=3).seed
        3
    """
    values: dict[str, Any] = {
        "postures": {"both": 4, "left": 2, "right": 2}, "skill": "intermediate", "knot_spacing": 0.7,
        "step": 0.2,
    }  # fmt: skip
    return DanceOptions(**{**values, **changes})


@checked
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
    postures = dict.fromkeys(FOOT_CONFIGURATIONS, 15)
    common = {"objective": "criterion", "via": DEFAULT_VIA_POINTS, "postures": postures, "pool": 200, "rounds": 6}
    common |= {"knot_spacing": 0.2}
    return DanceOptions(**{**common, **exact, **paper[kind], **changes})
