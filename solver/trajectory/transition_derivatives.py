"""Criterion and limits of a transition to first order in its variables.

Criterion and limits depend on single instants. Each derivative is therefore that by coordinates, velocities and
accelerations at an instant, times the spline's basis. Those of the criterion use the derivatives of the regressor,
those of the limits the derivatives of inverse dynamics. Legs depend on the root, and the root on the zero-moment point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..feasibility.checks.joint_limits import ANGLE_SAMPLING_MARGIN, JOINT_TORQUE
from ..identification.excitation.excitation import base_gradients, base_rows
from .flat_derivatives import FlatDerivatives, leg_derivatives_by_root
from .splines import REST_CONTROLS
from .transition_problem import SPEED_SHARE, Candidate, TransitionProblem, to_motion


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A candidate to first order.

    Attributes:
        gradient: (V, n) of the criterion.
        limits: (R, n, V) derivatives of angles and speeds of solved legs, torques and other checks, in both directions.
        room: (R,) by which each may grow; negative: the limit is exceeded.
    """

    gradient: np.ndarray
    limits: np.ndarray
    room: np.ndarray


def linearise(problem: TransitionProblem, candidate: Candidate) -> LinearModel:
    """The linear model of a problem about a candidate."""
    legged, basis, rig = problem.legged, problem.basis, problem.legged.rig
    frames, n = len(basis.times), len(problem.columns)
    columns = np.concatenate([problem.columns, [0, 1]])  # the root's horizontal path is dependent
    curves, legs = problem.curves(candidate.rates), leg_columns(problem)
    motion, structure = to_motion(curves), problem.objective.structure
    rows = base_rows(rig, motion, structure)
    weights = problem.share * problem.objective.gradient(rig, motion, rows, problem.history, problem.share)
    loads = problem.checker.linearise_loads(curves, problem.straight.anchors)
    tangent = np.concatenate([base_gradients(rig, motion, structure, weights)[:, :, None], loads.derivatives], axis=2)
    flat = FlatDerivatives(
        rig, candidate.rates, leg_derivatives_by_root(legged, candidate.rates, problem.straight.solved)
    )
    by_joints, by_legs = flat.to_flat(tangent)[..., columns], flat.leg_rows[..., columns]
    torques = loads.torques.shape[1]
    gain, drift = by_joints[:, :, 0], by_joints[:, :, 1 + torques : 3 + torques]
    moved = np.concatenate([by_legs, by_joints[:, :, 1 : 1 + torques], by_joints[:, :, 3 + torques :]], axis=2)
    # letters of the sums: order o of the rate, f instants, k coordinates, v variables of a coordinate, i inner control
    # values of the root's path, j and a its two coordinates, h limited quantities
    whole = np.stack([basis.position, basis.velocity, basis.acceleration])
    ours, root = whole @ problem.variable_map, whole[:, :, REST_CONTROLS:-REST_CONTROLS]
    follow = -np.einsum("if,ofjk,ofv->jikv", problem.balancer.inverse, drift[..., :n], ours, optimize=True)
    follow[~legged.root_free[:2]] = 0.0
    gradient = np.einsum("ofk,ofv->vk", gain[..., :n], ours)
    gradient += np.einsum("ofj,ofi,jikv->vk", gain[..., n:], root, follow, optimize=True)
    matrix = np.einsum("ofhk,ofv->fhkv", moved[..., :n], ours, optimize=True)
    matrix += np.einsum("ofhj,ofi,jikv->fhkv", moved[..., n:], root, follow, optimize=True)
    sampling_margin = problem.checker.sampling_factor * JOINT_TORQUE.sampling_margin
    left = 1.0 - problem.checker.options.torque_reserve - sampling_margin
    torque = left * rig.limits.torque
    off, speed = ANGLE_SAMPLING_MARGIN, SPEED_SHARE * legged.speed[legs]
    quantities = np.concatenate(
        [candidate.rates[0][:, legs], candidate.rates[1][:, legs], loads.torques, loads.other_margins], axis=1
    )
    upper = np.concatenate([legged.upper[legs] - off, speed, torque, np.full(len(loads.sampling_margins), np.inf)])
    lower = np.concatenate([legged.lower[legs] + off, -speed, -torque, loads.sampling_margins])
    room = np.concatenate([(upper - quantities).ravel(), (quantities - lower).ravel()])
    matrix = matrix.reshape(frames * quantities.shape[1], n, -1)
    bounded = np.isfinite(room)
    return LinearModel(gradient, np.concatenate([matrix, -matrix])[bounded], room[bounded])


def leg_columns(problem: TransitionProblem) -> np.ndarray:
    """Columns of the coordinates of the solved legs."""
    solved = [problem.legged.leg_columns[side] for side in problem.straight.solved]
    return np.concatenate([*solved, np.zeros(0, int)]).astype(int)
