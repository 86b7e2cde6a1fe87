"""What a body does without a design: squats, steps, random postures; feasible as the dance is, by the same judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from solver.contacts.schedule import FOOT_CONFIGURATIONS
from solver.dance.design.dance import Dance
from solver.dance.design.design import DanceOptions, choreographer
from solver.dance.design.footsteps import OTHER, Stepper, common_point
from solver.dance.design.postures import draw_pool
from solver.dance.design.transitions import Choreographer
from solver.dynamics.legs import SIDES
from solver.errors import InvalidValue
from solver.identification.base_parameters import base_parameters
from solver.rig import Rig
from solver.trajectory.legged_rig import Footing
from solver.trajectory.segment import Stretch

SHORTEST = 1.0
"""[s] least duration of a way: these motions go as fast as the limits allow."""
DEPTHS = (0.2, 0.15, 0.1, 0.06)
"""Of a squat, as a share of the root's height: the deepest that is feasible."""
SWING = 0.5
"""[rad] of the shoulders when walking."""
LIFT = 0.05


def squats(rig: Rig, options: DanceOptions) -> Dance:
    """One squat, arms still; it repeats."""
    parent, stepper = _prepared(rig, options)
    for depth in DEPTHS:
        low = stepper.home.copy()
        low[2] -= depth * parent.dancer.straight_height
        found, good = parent.dancer.balanced(low[None], stepper.both.polygon.centre[None], SIDES)
        if not good[0]:
            continue
        down, _ = parent.plain("down", stepper.home, found[0], stepper.both)
        up, _ = parent.plain("up", found[0], stepper.home, stepper.both)
        if down is not None and up is not None:
            return _dance(rig, options, [down, up])
    raise InvalidValue(f"rig {rig.name!r} cannot squat")


def steps(rig: Rig, options: DanceOptions) -> Dance:
    """One gait cycle of slow walking on the spot and a step forward and back, the arms swinging; it repeats."""
    parent, stepper = _prepared(rig, options)
    dancer = parent.dancer
    parts: list[Stretch] = []
    for sign, side in ((1.0, "right"), (-1.0, "left")):
        free = OTHER[side]
        led, alone = dancer.footing(side, led=(free,)), dancer.footing(side)
        goal = common_point([stepper.both, alone])
        shifted = stepper._posture(stepper.home, goal)
        lifted = _swung(parent, shifted, sign)
        lifted[dancer.foot_columns[free][2]] += LIFT * dancer.straight_height
        lifted = stepper._posture(lifted, goal)
        ways = [(stepper.home, shifted, stepper.both), (shifted, lifted, led), (lifted, shifted, led)]
        parts += [_way(parent, f"walk on {side}", *way) for way in [*ways, (shifted, stepper.home, stepper.both)]]
    forward = stepper.ground("right_forward")
    return _dance(rig, options, [*parts, *forward.arrival, *forward.departure])


def random_postures(rig: Rig, options: DanceOptions, seconds: float, seed: int) -> Dance:
    """Random feasible postures in all foot configurations, each reached by the plain way, for at least so long."""
    parent, stepper = _prepared(rig, options)
    structure = base_parameters(rig)
    parts: list[Stretch] = []
    each = seconds / len(FOOT_CONFIGURATIONS)
    for number, name in enumerate(FOOT_CONFIGURATIONS):
        ground = stepper.ground(name)
        pool = draw_pool(
            parent.dancer, parent.coarse, ground.footing, ground.home, structure, max(int(each / 2.0), 4), seed + number
        )
        parts += ground.arrival
        here, lasted = ground.home, 0.0
        for there in pool.y:
            for way in _ways(parent, here, there, ground.home, ground.footing):
                parts.append(way)
                lasted, here = lasted + way.duration, way.stop
            if lasted > each:
                break
        parts += [*_ways(parent, here, ground.home, ground.home, ground.footing), *ground.departure]
    return _dance(rig, options, parts)


def _prepared(rig: Rig, options: DanceOptions) -> tuple[Choreographer, Stepper]:
    parent = choreographer(rig, replace(options, shortest=SHORTEST))
    return parent, Stepper(parent)


def _ways(
    parent: Choreographer, here: np.ndarray, there: np.ndarray, home: np.ndarray, footing: Footing
) -> Iterator[Stretch]:
    """Straight there, else by way of home, else nothing."""
    if np.array_equal(here, there):
        return
    direct, _ = parent.plain("random", here, there, footing)
    if direct is not None:
        yield direct
        return
    back, _ = parent.plain("random", here, home, footing)
    out, _ = parent.plain("random", home, there, footing)
    if back is not None and out is not None:
        yield back
        yield out


def _way(parent: Choreographer, name: str, start: np.ndarray, stop: np.ndarray, footing: Footing) -> Stretch:
    found, trouble = parent.plain(name, start, stop, footing, "step")
    if found is None:
        raise InvalidValue(f"rig {parent.dancer.rig.name!r} cannot walk: {trouble}")
    return found


def _swung(parent: Choreographer, y: np.ndarray, sign: float) -> np.ndarray:
    """Both shoulders turned against each other, within the joints' ranges."""
    dancer, y = parent.dancer, y.copy()
    for side, own in (("right", sign), ("left", -sign)):
        shoulder = next(link for link in dancer.rig.links if link.startswith(side) and _is_arm(link))
        column = dancer.rig.model.joints[dancer.rig.joint(shoulder)].idx_v
        y[column] = np.clip(y[column] + own * SWING, dancer.lower[column] + 0.02, dancer.upper[column] - 0.02)
    return y


def _is_arm(link: str) -> bool:
    return "shoulder" in link or "upper_arm" in link


def _dance(rig: Rig, options: DanceOptions, parts: list[Stretch]) -> Dance:
    return Dance(dict(rig.parameters), tuple(parts), options.shrink, options.step)
