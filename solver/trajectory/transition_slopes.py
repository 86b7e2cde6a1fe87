"""Criterion and limits of a transition to first order in its variables.

Criterion and limits act instant by instant, so each derivative is one by coordinates, velocities and accelerations at
an instant, taken as a difference of whole batches of frames, times the spline's basis there, which is exact. How the
root follows the zero-moment point is in the derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..feasibility import table
from ..feasibility.table import ANGLE_SLACK
from ..identification.excitation.excitation import base_rows
from ..rig import ROOT_NV
from .differences import STEPS, shifted
from .splines import AT_REST
from .transition_problem import SPEED_SHARE, Candidate, TransitionProblem, as_motion

TORQUE_SHARE = 0.97
"""Share of the torque limits that the linear model leaves."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """A trial to first order.

    Attributes:
        gradient: (V, n) of the criterion.
        limits: (R, n, V) of solved legs' angles and speeds, of all torques and of the checks kept besides, both ways.
        room: (R,) by which each may grow; negative: beyond its limit.
    """

    gradient: np.ndarray
    limits: np.ndarray
    room: np.ndarray


def slopes_of(problem: TransitionProblem, candidate: Candidate) -> Slopes:
    """The linear model of a problem about a trial."""
    legged, basis = problem.legged, problem.basis
    frames, n = len(basis.times), len(problem.columns)
    columns = np.concatenate([problem.columns, [0, 1]])  # the root's horizontal way follows
    held, zmp, rows = _shifted(problem, candidate, columns)
    # letters of the sums: p shifts (order o of rate times coordinate k or j, or none), f and n instants, a axes of the
    # wrench, b base parameters, v variables of a coordinate, i inner control values of the root's path, j its two
    # coordinates, h limited quantities
    steps = STEPS[:, None, None]
    here = as_motion(problem.curves(candidate.rates))
    weights = problem.objective.slope(legged.rig, here, rows[-1], problem.history, problem.share)
    weights *= problem.share
    gain = np.einsum("pnab,nab->pn", rows[:-1] - rows[-1], weights, optimize=True).reshape(3, n + 2, frames) / steps
    moved = (held[:-1] - held[-1]).reshape(3, n + 2, frames, -1) / steps[..., None]
    drift = (zmp[:-1] - zmp[-1]).reshape(3, n + 2, frames, 2) / steps[..., None]
    whole = np.stack([basis.position, basis.velocity, basis.acceleration])
    ours, root = whole @ problem.inner, whole[:, :, AT_REST:-AT_REST]
    follow = -np.einsum("if,okfj,ofv->jikv", problem.balancer.inverse, drift[:, :n], ours, optimize=True)
    gradient = np.einsum("okf,ofv->vk", gain[:, :n], ours)
    gradient += np.einsum("ojf,ofi,jikv->vk", gain[:, n:], root, follow, optimize=True)
    matrix = np.einsum("okfh,ofv->fhkv", moved[:, :n], ours, optimize=True)
    matrix += np.einsum("ojfh,ofi,jikv->fhkv", moved[:, n:], root, follow, optimize=True)
    left = min(TORQUE_SHARE, 1.0 - problem.checker.options.torque_reserve)
    legs, torque = leg_columns(problem), left * legged.rig.limits.torque
    off, speed = ANGLE_SLACK, SPEED_SHARE * legged.speed[legs]
    kept = np.array([check.slack for check in table.CHECKS if check.transitions])
    upper = np.concatenate([legged.upper[legs] - off, speed, torque, np.full(len(kept), np.inf)])
    lower = np.concatenate([legged.lower[legs] + off, -speed, -torque, kept])
    room = np.concatenate([(upper - held[-1]).ravel(), (held[-1] - lower).ravel()])
    matrix = matrix.reshape(frames * held.shape[2], n, -1)
    bounded = np.isfinite(room)
    return Slopes(gradient, np.concatenate([matrix, -matrix])[bounded], room[bounded])


def leg_columns(problem: TransitionProblem) -> np.ndarray:
    """Coordinates of the solved legs."""
    solved = [problem.legged.leg_columns[side] for side in problem.straight.solved]
    return np.concatenate([*solved, np.zeros(0, int)]).astype(int)


def _shifted(
    problem: TransitionProblem, candidate: Candidate, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Limited quantities (P + 1, N, h), zero-moment points and rows of W_b with each coordinate shifted; last as is."""
    legged, legs = problem.legged, leg_columns(problem)
    frames = candidate.rates.shape[1]
    places = [(order, int(column)) for order in range(3) for column in columns]
    moved = np.concatenate([shifted(candidate.rates, places), candidate.rates[:, None]], axis=1)
    rates = moved.reshape(3, -1, moved.shape[-1])
    steering = np.repeat([column < ROOT_NV for _, column in places] + [False], frames)
    some = rates[:, steering]
    rates[:, steering] = np.stack(legged.legs_solved(some[0], some[1], some[2], problem.straight.solved)[0])
    curves = problem.curves(rates)
    rows = base_rows(legged.rig, as_motion(curves), problem.objective.structure)
    torques, zmp, others = problem.checker.loads(curves, problem.straight.anchors)
    held = np.concatenate([rates[0][:, legs], rates[1][:, legs], torques, others], axis=1)
    count = len(places) + 1
    return (
        held.reshape(count, frames, -1),
        zmp.reshape(count, frames, 2),
        rows.reshape(count, frames, *rows.shape[1:]),
    )
