"""The same dance with another balance: for a body of other inertials, or without balance motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solver.base.errors import InvalidValue
from solver.contacts.support import support_polygon
from solver.dance.design.dance import Dance
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.trajectory.rebalancing import Rebalancer
from solver.trajectory.segment import DanceSegment
from solver.trajectory.splines import REST_CONTROLS

SAMPLES = 65
"""Instants of a segment at which its zero-moment point is corrected."""
ROUNDS, SLOW = 8, 0.7
"""Most corrections of the root's horizontal path, and the share of its error above which one more is not worth it."""
LOWER, LOWEST = 0.005, 20
"""Share of the root's height by which it is lowered where the legs do not reach, and how often at most."""
HORIZONTAL, PLACE = slice(0, 2), slice(0, 3)


@dataclass(frozen=True, slots=True)
class Zmp:
    """Zero-moment points of frames and how far inside the support they are.

    Attributes:
        points: (N, 2) [m], world.
        reached: (N,) False where the legs do not reach their feet: such a frame cannot be danced at all.
        shrunk, sole: (N,) [m] distance inside the dance's shrunk support polygon, and inside that of the soles;
            negative outside.
    """

    points: np.ndarray
    reached: np.ndarray
    shrunk: np.ndarray
    sole: np.ndarray


def rebalance_dance(dance: Dance, rig: Rig, other: Rig) -> Dance:
    """Change a dance for other inertials so that its zero-moment point stays in place.

    Trunk, arms and free leg move as they did. The root moves horizontally, and the standing legs with it: to where
    each held posture is balanced, and on the way as the zero-moment point requires. Where the legs do not reach that
    far it is lowered as well.

    Args:
        dance: designed for `rig`.
        rig: the one for which the dance was designed.
        other: the same body with other inertials.

    Raises:
        InvalidValue: a posture that the other body cannot balance on these feet.
    """
    before, after = dance.legged_rig(rig), dance.legged_rig(other)
    known: dict[bytes, np.ndarray] = {}
    segments: list[DanceSegment] = []
    for segment in dance.segments:
        shifts = [_shift(segment, y, before, after, known) for y in (segment.start, segment.stop)]
        control = np.array(segment.control, float)
        control[:, PLACE] += _blend(len(control), *shifts)
        if segment.kind != "hold":
            control = _correct_zmp(segment, control, before, after)
        segments.append(replace(segment, control=control))
    return replace(dance, segments=tuple(segments), complete=False)


def straighten_root(segment: DanceSegment) -> DanceSegment:
    """The same limb motion without rebalancing in between: the root moves straight from posture to posture."""
    return replace(segment, control=_straighten(segment.control))


def fix_root(segment: DanceSegment) -> DanceSegment:
    """The same limb motion without balance motion: the root keeps its pose of the first posture.

    bonnet2016's Fig. 6, in red, "using only exciting motions". Our exciting motions also turn and lift the root.
    """
    control = np.array(segment.control, float)
    control[:, HORIZONTAL] = control[0, HORIZONTAL]
    return replace(segment, control=control)


def segment_zmp(rig: Rig, legged: LeggedRig, segment: DanceSegment, rate: float) -> Zmp:
    """Zero-moment points (N frames at a rate [1/s]) that inverse dynamics finds for a segment."""
    _, curves, reached = segment.evaluate(legged, segment.spline_space.samples(rate))
    points = legged.compute_zmp(curves)
    shrunk, sole = (support_polygon(rig, segment.anchors, share).margin(points) for share in (legged.shrink, 0.0))
    return Zmp(points, reached, shrunk, sole)


def _straighten(control: np.ndarray) -> np.ndarray:
    result = np.array(control, float)
    result[:, HORIZONTAL] = _blend(len(control), control[0, HORIZONTAL], control[-1, HORIZONTAL])
    return result


def _blend(count: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Control values (count, n) of the even way between two states of rest."""
    share = np.concatenate(
        [np.zeros(REST_CONTROLS - 1), np.linspace(0.0, 1.0, count - 2 * REST_CONTROLS + 2), np.ones(REST_CONTROLS - 1)]
    )
    return (1.0 - share[:, None]) * first + share[:, None] * last


def _shift(
    segment: DanceSegment, y: np.ndarray, before: LeggedRig, after: LeggedRig, known: dict[bytes, np.ndarray]
) -> np.ndarray:
    """(3,) [m] by which the root moves so that the other body's centre of mass is above where this body's was."""
    key = y.tobytes()
    if key not in known:
        goal = before.compute_com(before.solve_static(y[None], segment.solved)[1])[:, :2]
        for lower in range(LOWEST):
            tried = y[None].copy()
            tried[:, 2] -= lower * LOWER * after.straight_height
            found, good = after.balance(tried, goal, segment.solved)
            if good[0]:
                break
        else:
            raise InvalidValue(f"{segment.name}: the other body cannot be balanced there, its legs do not reach")
        known[key] = (found[0] - y)[PLACE]
    return known[key]


def _correct_zmp(segment: DanceSegment, control: np.ndarray, before: LeggedRig, after: LeggedRig) -> np.ndarray:
    """Control values (C, D) with the zero-moment point moved to that of the original segment."""
    balancer = Rebalancer(after, segment.spline_space, SAMPLES)
    _, curves, _ = segment.evaluate(before, balancer.times)
    goals = before.compute_zmp(curves)
    bump = np.sin(np.pi * np.linspace(0.0, 1.0, len(control) - 2 * REST_CONTROLS + 2))[1:-1]
    for lower in range(LOWEST):
        tried = control.copy()
        tried[REST_CONTROLS:-REST_CONTROLS, 2] -= lower * LOWER * after.straight_height * bump
        found = _follow_zmp(balancer, tried, goals, segment, after)
        if found is not None:
            return found
    raise InvalidValue(f"{segment.name}: the other body's legs do not reach on the way")


def _follow_zmp(
    balancer: Rebalancer, control: np.ndarray, goals: np.ndarray, segment: DanceSegment, legged: LeggedRig
) -> np.ndarray | None:
    """The motion whose zero-moment point is nearest to its goals (N, 2); None where the legs do not reach."""
    best, least = None, np.inf
    for _ in range(ROUNDS):
        _, curves, reached = balancer.evaluate(control[None], segment.solved)
        error = np.where(reached[:, None], goals - legged.compute_zmp(curves), 0.0)
        worst = float(np.abs(error).max())
        if reached.all():
            if worst > SLOW * least:
                break
            best, least = control, worst
        control = control.copy()
        control[REST_CONTROLS:-REST_CONTROLS, HORIZONTAL] += balancer.inverse @ error
    return best
