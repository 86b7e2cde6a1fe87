"""The dance of bonnet2016 Fig. 3: optimal static postures, held, and joined by transitions that excite Table I.

The best postures of every stance by the static criterion (14) are danced in the order of the choice. Two excitation
groups have a history each: on two feet trunk and arms are excited, on one foot the free leg. Within a group every
transition accounts for all earlier ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...base.progress import Progress
from ...identification.base_parameters import BaseParameters
from ...identification.excitation.gram_matrices import GramMatrices
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import DanceSegment, hold_posture
from .dance import SAME_POSTURE, Dance, TraceEntry
from .footsteps import StancePostures
from .phrases import root_columns
from .plan import DesignTask, StancePlan
from .postures import choose_postures
from .reachability import find_open_paths

EXCITATION_GROUPS = (("both", "right_forward"), ("left", "right"))
"""Foot configurations whose transitions share a history."""


class PublishedDesign:
    """The search for the transitions of the published dance.

    Args:
        task, plan: what to design, with the stances and postures to choose from.
    """

    def __init__(self, task: DesignTask, plan: StancePlan) -> None:
        self._task, self._plan = task, plan
        self._history: dict[tuple[str, ...], np.ndarray] = {}
        self._segments = [self._hold("home", plan.step_planner.home, plan.step_planner.both)]
        self._trace: list[TraceEntry] = []
        self._missing: list[str] = []

    def run(self, progress: Progress) -> Dance:
        """The dance."""
        task, plan, steps, options = self._task, self._plan, self._plan.step_planner, self._task.options
        legged, checker, here = task.planner.legged, task.planner.coarse_checker, "both"
        pools = [
            pool.select(find_open_paths(legged, checker, stance.footing, stance.home, pool.y))
            for stance, pool in zip(plan.stances.values(), plan.pools.values())
        ]  # a phrase goes as far as it can; here a posture is reached or left out
        postures: list[int] = []
        counts = [min(options.postures[name], len(pool.y)) for name, pool in zip(plan.stances, pools)]
        chosen, criterion = choose_postures(legged, pools, counts, task.structure, task.rig.masses, options.seed)
        for (name, stance), pool, indices in zip(plan.stances.items(), pools, chosen):
            self._segments += steps.plan_steps(here, name)
            here, place = name, stance.entry
            for number, index in enumerate(indices, start=1):
                if postures and task.is_late:
                    self._missing.append(task.describe_late(sum(counts) - len(postures)))
                    break
                if self._move(f"{name} posture {number}", stance, place, pool.y[index]):
                    place = pool.y[index]
                    postures.append(len(self._segments))
                    self._segments.append(self._hold(f"{name} posture {number}", place, stance.footing))
                progress(0.1 + 0.88 * len(postures) / sum(counts), f"postures: {len(postures)} of {sum(counts)}")
            if not self._move(f"{name}: to the next step", stance, place, stance.entry):
                break
        else:
            self._segments += steps.plan_steps(here, "both")
        missing = tuple(dict.fromkeys([*plan.missing, *self._missing]))
        return Dance(
            task.rig, tuple(self._segments), options.kept_checks, options.step, tuple(postures), tuple(self._trace),
            criterion, options.seed, not missing, tuple(dict.fromkeys([*plan.notes, *missing, *steps.notes])),
            sum(options.postures.get(name, 0) for name in plan.stances) - len(postures), missing=missing,
        )  # fmt: skip

    def _hold(self, name: str, posture: np.ndarray, footing: Footing) -> DanceSegment:
        return hold_posture(name, posture, self._task.options.hold, footing.solved, footing.anchors)

    def _move(self, name: str, stance: StancePostures, here: np.ndarray, there: np.ndarray) -> bool:
        """Whether a posture was reached, directly or by way of home; otherwise a note says that it is left out."""
        if np.abs(here - there).max() < SAME_POSTURE:
            return True
        plan_straight = self._task.planner.plan_straight
        direct, trouble = plan_straight(name, here, there, stance.footing)
        ways = pairwise((here, stance.home, there))
        paths = [direct] if direct else [plan_straight(f"{name}, by home", *way, stance.footing)[0] for way in ways]
        found = [path for path in paths if path is not None]
        if len(found) < len(paths):
            self._missing.append(f"a posture is left out, because no feasible path leads to it: {trouble}")
            return False
        for path in found:
            self._excite(path, stance.footing)
        return True

    def _excite(self, path: DanceSegment, footing: Footing) -> None:
        task, legged, name = self._task, self._task.planner.legged, footing.configuration
        group = next(group for group in EXCITATION_GROUPS if name in group)
        criterion = build_criterion(legged, task.structure, task.rig.masses, name)
        history = self._history.get(group, criterion.prior_matrices)
        columns = excited_columns(legged, name)
        found = task.planner.plan_exciting(path, footing, criterion, history, columns)
        self._history[group] = history + found.matrices
        self._trace.append(
            TraceEntry(len(self._segments), name, found.criterion, found.straight_criterion, found.segment.kind)
        )
        self._segments.append(found.segment)


def excited_links(legged: LeggedRig, configuration: str) -> tuple[str, ...]:
    """Links whose inertias a foot configuration excites, Table I: all except the legs, or the free leg."""
    rig = legged.rig
    chains: dict[str, set[str]] = {}
    for leg in legged.legs:
        chains[leg.side] = {rig.links[link] for link in rig.path(rig.index(leg.link))}
    if configuration in chains:
        free = next(side for side in chains if side != configuration)
        return tuple(link for link in rig.links if link in chains[free])
    return tuple(link for link in rig.links if not any(link in chain for chain in chains.values()))


def excited_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of the flat coordinates y that excite: Table I, and on two feet also the root's height and rotation."""
    if configuration in legged.leg_columns:
        return legged.swing_leg_columns[next(side for side in legged.leg_columns if side != configuration)]
    return np.concatenate([root_columns(legged), legged.trunk])


def build_criterion(
    legged: LeggedRig, structure: BaseParameters, weights: np.ndarray, configuration: str
) -> GramMatrices:
    """The criterion of a foot configuration, over Gram matrices of all links that its excitation group excites."""
    group = next(s for s in EXCITATION_GROUPS if configuration in s)
    links = [link for name in group for link in excited_links(legged, name)]
    counted = np.isin(legged.rig.links, excited_links(legged, configuration))
    return GramMatrices(structure, weights * counted, "dynamic", dict.fromkeys(links))
