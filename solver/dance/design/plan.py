"""The plan of a dance: the task, the order of the stances, the steps between them, and feasible postures in each.

Stances are named by their foot configurations (`FOOT_CONFIGURATIONS`). A `Block` is a part of the dance in one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidValue
from ...feasibility.messages import describe_unreachable
from ...identification.base_parameters import BaseParameters, base_parameters
from ...identification.excitation.excitation import link_weights
from ...motion import Motion
from ...options.dances import DURATION_FACTORS, DanceOptions, Style
from ...parallel import background_map
from ...progress import Progress
from ...rig import CONTRADICTING, Rig
from ...scene.labels import display_name, join_names
from ...threads import one_blas_thread
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import SegmentChecker
from .body_parts import require_danceable
from .footsteps import StancePostures, StepPlanner
from .mirror import Mirror
from .named_poses import PoseVariations
from .objective import sigma_objective
from .postures import DrawOptions, PosturePool, draw_posture_pool
from .reachability import find_open_paths
from .sequential_design import recorded_information
from .style import comfort_limits
from .transitions import SearchOptions, TransitionPlanner

CONFIGURATION_ORDER = ("both", "left", "right_forward", "right")
"""Order in which foot configurations are danced: of all orders the one with the fewest steps between them."""


@dataclass(frozen=True, slots=True)
class DesignTask:
    """What a dance is designed for.

    Attributes:
        rig: that dances.
        options: of the dance, with its style applied.
        planner: of the transitions.
        structure: base parameters of the rig.
        weights: (L,) M_i of (12).
        known: (1, B, B) information of the prior and of recordings; None with the paper's criterion.
        notes: what to know, a sentence each.
    """

    rig: Rig
    options: DanceOptions
    planner: TransitionPlanner
    structure: BaseParameters
    weights: np.ndarray
    known: np.ndarray | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the dance in one foot configuration.

    Attributes:
        configuration: of the feet.
        designed_in: configuration that the moves were designed in; empty: this one.
        mirrored: the moves are mirrored.
    """

    configuration: str
    designed_in: str = ""
    mirrored: bool = False

    @property
    def motif_configuration(self) -> str:
        """Configuration that the moves were designed in."""
        return self.designed_in or self.configuration


@dataclass(frozen=True, slots=True)
class PostureCandidates:
    """Postures of a foot configuration from which those of the dance are chosen.

    Attributes:
        pool: feasible postures with a feasible path from home.
        notes: what is missing, a sentence each.
        missing: of these notes, that fewer postures than requested are feasible.
    """

    pool: PosturePool
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StancePlan:
    """In which order the stances are danced, with the steps between them and the postures to choose from.

    Attributes:
        step_planner: finds the steps from one stance to another.
        blocks: in the order of the dance.
        stances: postures of each foot configuration that is designed, by its name.
        ends: standing postures at which each foot configuration is entered and left.
        candidates: of each foot configuration, in the order of the stances.
        requested: number of postures that the dance should hold.
        notes: what to know, a sentence each.
        missing: of these notes, what is requested and not danced.
    """

    step_planner: StepPlanner
    blocks: tuple[Block, ...]
    stances: Mapping[str, StancePostures]
    ends: Mapping[str, tuple[str, str]]
    candidates: tuple[PostureCandidates, ...]
    requested: int
    notes: tuple[str, ...]
    missing: tuple[str, ...]


def read_task(rig: Rig, options: DanceOptions, recorded: Sequence[Motion]) -> DesignTask:
    """The rig, the options with their named poses, and what recordings contribute, prepared for the design.

    Args:
        rig: that dances.
        options: of the dance.
        recorded: motions of the rig that are recorded already.

    Raises:
        InvalidValue: a rig that cannot dance; recordings of another rig, or for the paper's criterion, which does not
            add up the information of others.
    """
    require_danceable(rig)
    styled = apply_style(options)
    planner = build_transition_planner(rig, styled)
    objective = sigma_objective(rig, styled)
    if objective is None and recorded:
        raise InvalidValue("recordings made before count for the objective 'sigma', not for the paper's criterion")
    known = None
    if objective is not None:
        known = objective.prior_matrices + recorded_information(rig, objective, recorded)
    notes = [*planner.fine_checker.notes, *(note for note in rig.notes if CONTRADICTING in note)]
    one_legged = sum(options.postures.get(name, 0) for name in ("left", "right"))
    if one_legged and options.style is not None and not options.style.skill_limits.allows_one_leg:
        who = f"{options.style.skill}s do not stand on one foot"
        notes.append(f"postures on one foot that are left out, because {who}: {one_legged}")
    if others := [patch.name for patch in rig.contacts if not patch.sole]:
        notes.append(
            f"designed on feet alone: {', '.join(others)} carry no load; key their contact strips and repair the dance"
        )
    weights = link_weights(rig, styled.emphasise)
    return DesignTask(rig, styled, planner, base_parameters(rig), weights, known, tuple(notes))


def plan_stances(task: DesignTask, progress: Progress) -> StancePlan:
    """Order the stances, find the steps between them, and draw feasible postures in each.

    Postures are drawn in other processes while this one searches for the steps.

    Raises:
        InvalidValue: no stance is feasible, or no posture in any, with what fails.
    """
    progress(0.0, "feet and postures")
    options = task.options
    ring = CONFIGURATION_ORDER if options.style is None else tuple(DURATION_FACTORS)
    configurations = [name for name in ring if options.postures.get(name, 0)]
    order = _Order(tuple(configurations), tuple(order_blocks(configurations, options.style)))
    requested = sum(options.postures[block.motif_configuration] for block in order.blocks)
    step_planner = build_step_planner(task.planner, options)
    stances = {}
    for name in configurations:
        with suppress(InvalidValue):  # reported where the configuration is left out
            stances[name] = step_planner.stance_postures(name)
    draws = [(task.rig, options, stance, derive_seed(options.seed, k)) for k, stance in enumerate(stances.values())]
    with background_map(try_find_candidates, draws, max(1, min(options.workers, len(draws)))) as drawn:
        order = order.without(_find_unreachable(step_planner, order.blocks))
        ends = _find_ends(step_planner, order.blocks, options.style)
        found = {name: own for name, own in zip(stances, drawn) if name in order.configurations}
    if refused := {name: own for name, own in found.items() if isinstance(own, InvalidValue)}:
        order = order.without(refused)
        ends = _find_ends(step_planner, order.blocks, options.style)
    candidates = tuple(own for own in found.values() if isinstance(own, PostureCandidates))
    notes = (*task.notes, *order.notes, *(note for own in candidates for note in own.notes))
    missing = (*order.notes, *(note for own in candidates for note in own.missing))
    if not any(len(own.pool.y) for own in candidates):
        raise InvalidValue(describe_unreachable(task.rig.name, order.configurations, notes))
    stances = {name: step_planner.stance_postures(name) for name in order.configurations}
    progress(0.08, "postures")
    return StancePlan(step_planner, order.blocks, stances, ends, candidates, requested, notes, missing)


@dataclass(frozen=True, slots=True)
class _Order:
    """Foot configurations that are designed, the blocks of the dance, and why others are left out."""

    configurations: tuple[str, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()

    def without(self, problems: Mapping[str, InvalidValue]) -> _Order:
        """The order without the foot configurations that have a problem.

        Raises:
            InvalidValue: none is left: the first problem.
        """
        configurations = tuple(name for name in self.configurations if name not in problems)
        if not configurations:
            raise next(iter(problems.values()))
        blocks = tuple(b for b in self.blocks if not {b.configuration, b.motif_configuration} & problems.keys())
        names_by_problem: dict[str, list[str]] = {}
        for name, error in problems.items():
            names_by_problem.setdefault(str(error), []).append(display_name(name))
        notes = [
            f"{join_names(names)} {'is' if len(names) == 1 else 'are'} left out: {problem}"
            for problem, names in names_by_problem.items()
        ]
        return _Order(configurations, blocks, (*self.notes, *notes))


def order_blocks(configurations: Sequence[str], style: Style | None) -> list[Block]:
    """Blocks of a dance in order; with mirrored motifs the right foot repeats the left, and the first returns."""
    blocks = [Block(name) for name in configurations]
    if style is None or style.no_mirror:
        return blocks
    for index, block in reversed(list(enumerate(blocks))):
        if block.configuration == "left":
            blocks.insert(index + 1, Block("right", "left", mirrored=True))
    return [*blocks, *(Block("both", "both", mirrored=True) for block in blocks if block.configuration == "both")]


def apply_style(options: DanceOptions) -> DanceOptions:
    """The postures to design: half of those that are repeated mirrored, none on one foot for a beginner.

    Raises:
        InvalidValue: a beginner's dance on one foot alone.
    """
    style = options.style
    if style is None:
        return options
    postures = dict(options.postures)
    if not style.skill_limits.allows_one_leg:
        postures = {name: count for name, count in postures.items() if name not in ("left", "right")}
        if not any(postures.values()):
            raise InvalidValue(f"{style.skill}s do not stand on one foot: request postures on both feet as well")
    if not style.no_mirror:
        postures["both"] = -(-postures.get("both", 0) // 2)
        postures["left"] = -(-(postures.get("left", 0) + postures.pop("right", 0)) // 2)
    return replace(options, postures=postures)


def build_transition_planner(rig: Rig, options: DanceOptions) -> TransitionPlanner:
    """The planner of a rig's transitions, with the checks that they must pass."""
    style = options.style
    speed = options.speed if style is None else min(options.speed, style.skill_limits.max_speed)
    legged = LeggedRig(rig, shrink=options.checks.shrink, step=options.step, speed=speed, checks=options.search_checks)
    search = SearchOptions(
        options.rounds, options.via, options.min_duration, options.quickest_step, spacing=options.knot_spacing
    )
    if style is not None:
        home = legged.home_posture(legged.get_footing("both"))
        legged.lower, legged.upper = comfort_limits(legged, home, style.skill_limits)
        search = replace(search, beat_duration=style.beat_duration, hold_before=options.hold)
    coarse, fine = SegmentChecker(rig, options.search_checks, 1.0), SegmentChecker(rig, options.search_checks, 0.0)
    steps = SegmentChecker(rig, replace(options.search_checks, foot_clearance=0.0), 0.0)
    return TransitionPlanner(legged, coarse, fine, steps, search)


def build_step_planner(planner: TransitionPlanner, options: DanceOptions) -> StepPlanner:
    """The planner of a rig's steps; left and right steps mirror each other where motifs are mirrored.

    Raises:
        InvalidValue: a rig that cannot be mirrored.
    """
    mirrored = options.style is not None and not options.style.no_mirror
    return StepPlanner(planner, Mirror(planner.legged) if mirrored else None)


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
        pool = draw_posture_pool(legged, checker, footing, stance.home, base_parameters(rig), draw)
        pool = pool.select(find_open_paths(legged, checker, footing, np.tile(stance.home, (len(pool.y), 1)), pool.y))
        too_few = (f"{configuration}: {len(pool.y)} feasible postures found, {requested} requested",)
        missing = too_few * (len(pool.y) < requested)
        without = [pose.name for n, pose in enumerate(options.poses) if not (pool.pose_indices == n).any()]
        notes = [
            f"{configuration}: no variation of {name!r} keeps all limits and has a way from home" for name in without
        ]
        return PostureCandidates(pool, (*missing, *notes), missing)


def try_find_candidates(
    rig: Rig, options: DanceOptions, stance: StancePostures, seed: int
) -> PostureCandidates | InvalidValue:
    """`find_candidates`, or the error that says why there are none."""
    try:
        return find_candidates(rig, options, stance, seed)
    except InvalidValue as error:
        return error


def derive_seed(seed: int, index: int) -> int:
    """The seed of one of several independent random choices."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0])


def _find_unreachable(step_planner: StepPlanner, blocks: Sequence[Block]) -> dict[str, InvalidValue]:
    """Foot configurations that the rig cannot step to and back from, mirrored ones too, each with the reason."""
    problems = {}
    for name in dict.fromkeys(block.configuration for block in blocks):
        try:
            step_planner.plan_steps("both", name)
            step_planner.plan_steps(name, "both")
        except InvalidValue as error:
            problems[name] = error
    return problems


def _find_ends(step_planner: StepPlanner, blocks: Sequence[Block], style: Style | None) -> dict[str, tuple[str, str]]:
    """Standing postures at which each foot configuration is entered and left.

    On both feet the weight shifts from the last posture towards the next stance, unless a motif must end where its
    mirror image begins.

    Raises:
        InvalidValue: the rig cannot step from one to another.
    """
    ends: dict[str, tuple[str, str]] = {}
    here = "both"
    for block, after in zip(blocks, [*blocks[1:], Block("both")]):
        step_planner.plan_steps(here, block.configuration)
        path = step_planner.find_path(block.configuration, after.configuration)
        closed = block.mirrored or style is not None
        here = path[1] if block.configuration == "both" and len(path) > 1 and not closed else block.configuration
        ends[block.configuration] = (block.configuration, here)
    step_planner.plan_steps(here, "both")
    return ends
