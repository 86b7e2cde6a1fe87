"""Choice and order of a dance's static postures, bonnet2016 (14) and Fig. 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .footsteps import StancePostures
from .plan import DesignTask, StancePlan
from .postures import PosturePool, choose_postures
from .reachability import FINE_INSTANTS, find_open_paths, travel_times
from .transitions import TransitionPlanner

MAX_CHOICES = 3
"""Most choices: after each, postures without a feasible path from home by a closer check are removed from the pools."""


@dataclass(frozen=True, slots=True)
class PostureChoice:
    """The static postures of a dance.

    Attributes:
        postures: (P, D) flat coordinates of each foot configuration, in the order in which they are danced.
        names: P names of their poses; empty where no poses were named.
        criterion: static J_exc (14) of all of them.
    """

    postures: Mapping[str, np.ndarray]
    names: Mapping[str, tuple[str, ...]]
    criterion: float


def choose_dance_postures(task: DesignTask, plan: StancePlan) -> PostureChoice:
    """The postures that excite masses and centres of mass best, in the order of the shortest route through them."""
    options, planner = task.options, task.planner
    pools = [own.pool for own in plan.candidates]
    for _ in range(MAX_CHOICES):
        counts = [min(options.postures[name], len(pool.y)) for name, pool in zip(plan.stances, pools)]
        chosen, criterion = choose_postures(pools, counts, task.structure, task.weights, options.seed, options.starts)
        closed = [_without_path(planner, *given) for given in zip(plan.stances.values(), pools, chosen)]
        if not any(len(indices) for indices in closed):
            break
        pools = [pool.select(np.setdiff1d(np.arange(len(pool.y)), indices)) for pool, indices in zip(pools, closed)]
    postures, names = {}, {}
    for (name, stance), pool, indices in zip(plan.stances.items(), pools, chosen):
        y = pool.y[indices]
        times = travel_times(planner.legged, planner.coarse_checker, stance.footing, stance.home, y)
        route = np.array(shortest_route(times), int) - 1
        postures[name] = y[route]
        names[name] = tuple(options.poses[k].name if options.poses else "" for k in pool.pose_indices[indices][route])
    return PostureChoice(postures, names, criterion)


def shortest_route(distance: np.ndarray) -> list[int]:
    """Order (P,) in which to visit entries 1 ... P from and back to entry 0: nearest neighbour, then 2-opt.

    Args:
        distance: (P + 1, P + 1) between the entries.
    """
    distance = np.pad(distance, (0, 1), mode="wrap")  # entry 0 once more, as the end
    count = len(distance) - 2
    remaining, route = set(range(1, count + 1)), [0]
    while remaining:
        nearest = min(remaining, key=lambda k: (distance[route[-1], k], k))
        route.append(nearest)
        remaining.remove(nearest)
    route.append(count + 1)
    improved = True
    while improved:
        improved = False
        for i in range(1, len(route) - 2):
            for j in range(i + 1, len(route) - 1):
                old = distance[route[i - 1], route[i]] + distance[route[j], route[j + 1]]
                new = distance[route[i - 1], route[j]] + distance[route[i], route[j + 1]]
                if new < old - 1e-9:
                    route[i : j + 1] = route[i : j + 1][::-1]
                    improved = True
    return route[1:-1]


def _without_path(
    planner: TransitionPlanner, stance: StancePostures, pool: PosturePool, chosen: np.ndarray
) -> np.ndarray:
    """Those of the chosen postures that have no feasible path from home at closely spaced instants.

    Thin limbs can pass through each other between few instants. None where no other posture could replace them.
    """
    if len(pool.y) <= len(chosen):
        return chosen[:0]
    homes = np.tile(stance.home, (len(chosen), 1))
    checker = planner.fine_checker
    is_open = find_open_paths(planner.legged, checker, stance.footing, homes, pool.y[chosen], FINE_INSTANTS)
    return chosen[~is_open]
