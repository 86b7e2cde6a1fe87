"""The plan of a dance: the task, the stances that it can step to, and feasible postures in each.

Stances are named by their foot configurations (`FOOT_CONFIGURATIONS`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidValue
from ...base.parallel import background_map
from ...base.progress import Progress
from ...base.threads import one_blas_thread
from ...identification.base_parameters import BaseParameters, base_parameters
from ...options.dances import DanceOptions
from ...scene.labels import display_name, join_names
from ...skeleton.rig import CONTRADICTING, Rig
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import SegmentChecker
from .body_parts import require_danceable
from .comfort import comfort_limits
from .footsteps import StancePostures, StepPlanner
from .mirror import MIRRORED_SIDE, Mirror
from .named_poses import PoseVariations
from .postures import DrawOptions, PosturePool, draw_posture_pool
from .transitions import TransitionPlanner

CONFIGURATION_ORDER = ("both", "left", "right_forward", "right")
"""Order in which foot configurations are danced: of all orders the one with the fewest steps between them."""
NEAR = 0.006
"""[m] Distance between links beyond their clearance up to which the search measures, more than the sampling margin.
Measured on a dance of HOAP-3, whose checks take 30 % less time than with 3 cm."""


@dataclass(frozen=True, slots=True)
class DesignTask:
    """What a dance is designed for.

    Attributes:
        rig: that dances.
        options: of the dance, with the numbers of postures to design; those that are mirrored are not counted.
        planner: of the transitions.
        mirror: of the rig's postures; None: nothing is danced in the mirror.
        images: (B, B) its map of base parameters, likewise.
        structure: base parameters of the rig.
        notes: what to know, a sentence each.
        began: `time.monotonic` at the start [s].
    """

    rig: Rig
    options: DanceOptions
    planner: TransitionPlanner
    mirror: Mirror | None
    images: np.ndarray | None
    structure: BaseParameters
    notes: tuple[str, ...]
    began: float

    @property
    def is_late(self) -> bool:
        """Whether nothing further is searched for."""
        return time.monotonic() > self.began + self.options.seconds

    def describe_late(self, left: int) -> str:
        """What is left out because the time is over, one sentence."""
        return f"the search ended after {self.options.seconds:g} s (--effort): {left} are left out"


@dataclass(frozen=True, slots=True)
class PostureCandidates:
    """Postures of a foot configuration from which those of the dance are chosen.

    Attributes:
        pool: feasible postures.
        notes: what is missing, a sentence each.
        missing: of these notes, that fewer postures than requested are feasible.
    """

    pool: PosturePool
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StancePlan:
    """The stances of a dance, with the steps between them and the postures to choose from.

    Attributes:
        step_planner: finds the steps from one stance to another.
        stances: postures of each foot configuration that is designed, by its name.
        pools: of feasible postures, likewise.
        notes: what to know, a sentence each.
        missing: of these notes, what is requested and not danced.
    """

    step_planner: StepPlanner
    stances: Mapping[str, StancePostures]
    pools: Mapping[str, PosturePool]
    notes: tuple[str, ...]
    missing: tuple[str, ...]


def read_task(rig: Rig, options: DanceOptions) -> DesignTask:
    """The rig and the options, prepared for the design.

    Raises:
        InvalidValue: a rig that cannot dance.
    """
    began = time.monotonic()
    require_danceable(rig)
    planner, structure, mirror, images = build_transition_planner(rig, options), base_parameters(rig), None, None
    notes = [*planner.fine_checker.notes, *(note for note in rig.notes if CONTRADICTING in note)]
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        notes.append(
            f"designed on feet alone: {', '.join(others)} carry no load; key their contact strips and repair the dance"
        )
    if options.objective == "sigma":
        try:
            own = Mirror(planner.legged)
            mirror, images = own, own.map_parameters(structure)
        except InvalidValue as error:
            notes.append(f"nothing is danced in the mirror: {error}")
        else:
            postures = dict(options.postures)
            postures["left"] = postures.get("left", 0) + postures.pop("right", 0)
            postures |= {name: -(-postures.get(name, 0) // 2) for name in ("both", "left")}
            options = replace(options, postures=postures)
        if not np.isclose(beats := options.count_duration * options.bpm / 60.0, 1.0):
            lasts = f"count lasts {beats:g} beats" if beats > 1.0 else f"beat lasts {1.0 / beats:g} counts"
            notes.append(f"at {options.bpm:g} beats a minute a {lasts}")
        if options.skill_limits.note and options.postures.get("left", 0):
            notes.append(options.skill_limits.note)
    return DesignTask(rig, options, planner, mirror, images, structure, tuple(notes), began)


def plan_stances(task: DesignTask, progress: Progress) -> StancePlan:
    """Find the steps to every stance and back, and draw feasible postures in each.

    Postures are drawn in other processes while this one searches for the steps.

    Raises:
        InvalidValue: no stance is feasible, or no posture in any, with what fails.
    """
    progress(0.0, "feet and postures")
    options, stances = task.options, {}
    step_planner = StepPlanner(task.planner, task.mirror)
    wanted = [name for name in CONFIGURATION_ORDER if options.postures.get(name, 0)]
    for name in wanted:
        with suppress(InvalidValue):  # reported where the configuration is left out
            stances[name] = step_planner.stance_postures(name)
    draws = [(task.rig, options, stance, derive_seed(options.seed, k)) for k, stance in enumerate(stances.values())]
    problems: dict[str, InvalidValue] = {}
    with background_map(try_find_candidates, draws, max(1, min(options.workers, len(draws)))) as drawn:
        for name in wanted:
            try:
                image = name if task.mirror is None else MIRRORED_SIDE.get(name, name)
                for here, there in pairwise(("both", name, image, "both")):
                    step_planner.plan_steps(here, there)
            except InvalidValue as error:
                problems[name] = error
        found = dict(zip(stances, drawn))
    problems |= {n: own for n, own in found.items() if isinstance(own, InvalidValue) and n not in problems}
    left_out = _describe_omitted(problems)
    candidates = {n: own for n, own in found.items() if isinstance(own, PostureCandidates) and n not in problems}
    notes = (*task.notes, *left_out, *(note for own in candidates.values() for note in own.notes))
    if not candidates:
        raise next(iter(problems.values()))
    missing = (*left_out, *(note for own in candidates.values() for note in own.missing))
    progress(0.1, "postures")
    return StancePlan(
        step_planner, {name: stances[name] for name in candidates}, {n: own.pool for n, own in candidates.items()},
        notes, missing,
    )  # fmt: skip


def _describe_omitted(problems: Mapping[str, InvalidValue]) -> list[str]:
    """Foot configurations that are left out, a sentence for each reason."""
    names: dict[str, list[str]] = {}
    for name, error in problems.items():
        names.setdefault(str(error), []).append(display_name(name))
    return [f"{join_names(n)} {'is' if len(n) == 1 else 'are'} left out: {problem}" for problem, n in names.items()]


def build_transition_planner(rig: Rig, options: DanceOptions) -> TransitionPlanner:
    """The planner of a rig's transitions, with the checks that they must pass."""
    skill, checks = options.skill_limits, options.search_checks
    legged = LeggedRig(
        rig, shrink=options.checks.shrink, step=options.step, speed=min(options.speed, skill.max_speed), checks=checks
    )
    if skill.range_fraction < 1.0:
        home = legged.home_posture(legged.get_footing("both"))
        legged.lower, legged.upper = comfort_limits(legged, home, skill)
    checks = replace(checks, reach=checks.clearance + NEAR)
    coarse, fine = SegmentChecker(rig, checks, 1.0), SegmentChecker(rig, checks, 0.0)
    return TransitionPlanner(
        legged, coarse, fine, SegmentChecker(rig, replace(checks, foot_clearance=0.0), 0.0), options
    )


def find_candidates(rig: Rig, options: DanceOptions, stance: StancePostures, seed: int) -> PostureCandidates:
    """Feasible postures in a stance.

    Raises:
        InvalidValue: none is feasible, with what fails most often.
    """
    with one_blas_thread():
        planner, footing = build_transition_planner(rig, options), stance.footing
        legged, checker = planner.legged, planner.coarse_checker
        configuration = footing.configuration
        requested = options.postures[configuration]
        variations = PoseVariations(legged, options.poses, footing, stance.home) if options.poses else None
        draw = DrawOptions(max(options.pool, 4 * requested), seed, variations)
        pool = draw_posture_pool(legged, checker, footing, stance.home, draw)
        too_few = (f"{configuration}: {len(pool.y)} feasible postures found, {requested} requested",)
        missing = too_few * (len(pool.y) < requested)
        without = [pose.name for n, pose in enumerate(options.poses) if not (pool.pose_indices == n).any()]
        notes = [f"{configuration}: no variation of {name!r} keeps all limits" for name in without]
        return PostureCandidates(pool, (*missing, *notes), missing)


def try_find_candidates(
    rig: Rig, options: DanceOptions, stance: StancePostures, seed: int
) -> PostureCandidates | InvalidValue:
    """`find_candidates`, or the error that says why there are none."""
    try:
        return find_candidates(rig, options, stance, seed)
    except InvalidValue as error:
        return error


def derive_seed(seed: int, place: int) -> int:
    """The seed of one of several independent random choices."""
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
