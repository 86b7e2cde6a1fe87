"""Motions without a design: squats, random postures; feasible by the same checks as the dance."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from solver.base.errors import InvalidValue
from solver.dance.design.dance import Dance
from solver.dance.design.footsteps import StepPlanner
from solver.dance.design.plan import CONFIGURATION_ORDER, build_transition_planner
from solver.dance.design.postures import DrawOptions, draw_posture_pool
from solver.dance.design.transitions import TransitionPlanner
from solver.options.dances import DanceOptions
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import Footing
from solver.trajectory.segment import DanceSegment
from solver.values.person import SIDES

SHORTEST = 1.0
"""[s] least duration of a way: these motions go as fast as the limits allow."""
DEPTHS = (0.2, 0.15, 0.1, 0.06)
"""Of a squat, as a share of the root's height: the deepest that is feasible."""
_KNOWN: deque[tuple[Rig, DanceOptions, tuple[TransitionPlanner, StepPlanner]]] = deque(maxlen=4)
"""Rigs whose steps were found: several motions of one rig step alike."""


def squats(rig: Rig, options: DanceOptions) -> Dance:
    """One squat, arms still; it repeats."""
    parent, footwork = _prepare(rig, replace(options, min_duration=SHORTEST))
    for depth in DEPTHS:
        low = footwork.home.copy()
        low[2] -= depth * parent.legged.straight_height
        found, good = parent.legged.balance(low[None], footwork.both.polygon.centre[None], SIDES)
        if not good[0]:
            continue
        down, _ = parent.plan_straight("down", footwork.home, found[0], footwork.both)
        up, _ = parent.plan_straight("up", found[0], footwork.home, footwork.both)
        if down is not None and up is not None:
            return _dance(rig, options, [down, up])
    raise InvalidValue(f"rig {rig.name!r} cannot squat")


def random_postures(rig: Rig, options: DanceOptions, seconds: float, seed: int, shortest: float = SHORTEST) -> Dance:
    """Random feasible postures in all foot configurations, joined by straight ways, for at least so long.

    The fair baseline of a designed dance: no posture is held, and it steps as quickly as the dance does.

    Args:
        rig: that moves.
        options: limits of speed, balance and distance.
        seconds: [s] at least.
        seed: of the draws.
        shortest: [s] least duration of a way.
    """
    parent, footwork = _prepare(rig, replace(options, min_duration=shortest))
    parts: list[DanceSegment] = []
    each, where = seconds / len(CONFIGURATION_ORDER), "both"
    for number, name in enumerate(CONFIGURATION_ORDER):
        ground = footwork.stance_postures(name)
        draw = DrawOptions(max(int(each / 2.0), 4), seed + number)
        pool = draw_posture_pool(parent.legged, parent.coarse_checker, ground.footing, ground.home, draw)
        parts += _steps(footwork, footwork.find_path(where, name))
        here, where, lasted = ground.entry, name, 0.0
        for there in pool.y:
            for path in _paths(parent, here, there, ground.home, ground.footing):
                parts.append(path)
                lasted, here = lasted + path.duration, path.stop
            if lasted > each:
                break
        parts += _paths(parent, here, ground.entry, ground.home, ground.footing)
    return _dance(rig, options, [*parts, *_steps(footwork, footwork.find_path(where, "both"))])


def _steps(footwork: StepPlanner, way: list[str]) -> list[DanceSegment]:
    return [footwork.plan_step(a, b) for a, b in itertools.pairwise(way)]


def _prepare(rig: Rig, options: DanceOptions) -> tuple[TransitionPlanner, StepPlanner]:
    for known, alike, prepared in _KNOWN:
        if known is rig and alike == options:
            return prepared
    parent = build_transition_planner(rig, options)
    _KNOWN.append((rig, options, (parent, StepPlanner(parent))))
    return _KNOWN[-1][2]


def _paths(
    parent: TransitionPlanner, here: np.ndarray, there: np.ndarray, home: np.ndarray, footing: Footing
) -> Iterator[DanceSegment]:
    """Straight there, else by way of home, else nothing."""
    if np.array_equal(here, there):
        return
    direct, _ = parent.plan_straight("random", here, there, footing)
    if direct is not None:
        yield direct
        return
    back, _ = parent.plan_straight("random", here, home, footing)
    out, _ = parent.plan_straight("random", home, there, footing)
    if back is not None and out is not None:
        yield back
        yield out


def _dance(rig: Rig, options: DanceOptions, parts: list[DanceSegment]) -> Dance:
    return Dance(rig, tuple(parts), options.checks, options.step)
