"""A first configuration from one frame alone: rigid fits link by link, then robust least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.so3 import exp, nearest_rotation, to_quaternion, vee
from ..dynamics import integrate
from ..dynamics.coordinates import joint_slices
from ..qp.least_squares import solve_least_squares
from ..skeleton.rig import Rig
from .inverse_kinematics import InverseKinematics
from .joint_chains import ChainFit
from .joint_limits import DEFAULT_SPEED, JointLimits
from .newton import SolverState
from .options import TrackingOptions
from .tasks import TargetSample, Tasks

HUBER_DISTANCE = 0.05
"""[m] Error above which a marker's cost grows linearly in the initial fit."""
MAX_ITERATIONS = 60
STEP_TOLERANCE = 1e-6
SETTLE_STEP = 0.01
"""[s] Interval assumed for speed limits while an initial pose converges."""
TRIAD_WEIGHT = 1e-3
"""Weight of the parent's axes in a link's rigid fit: decides only what the link's own markers do not observe."""
TRIAD_LENGTH = 0.1
"""[m]"""


def find_initial_pose(rig: Rig, tasks: Tasks, sample: TargetSample, options: TrackingOptions) -> np.ndarray:
    """Configuration (nq,) that fits one sample, without previous knowledge; every point has its full weight.

    Two starts, the link-by-link rigid fit and the neutral posture under the fitted root, are refined with Huber
    weights. The better one, the neutral posture, and the fit of chains of hinges to their orientations if there are
    any, then converge within the limits; the best result is returned. The first start may bend an elbow backwards if no
    point observes the rotation of the upper arm; neutral does not.
    """
    sample = replace(sample, weight_factors=None)
    engine = InverseKinematics(rig, tasks, replace(options, huber_distance=HUBER_DISTANCE, limits=False))
    limits = JointLimits(rig, DEFAULT_SPEED)
    fitted = _fit_link_by_link(rig, tasks, sample)
    starts = []
    if tasks.orientations is not None and sample.rotations is not None:
        fitted = ChainFit(rig, tasks.orientations.links).fit_pose(fitted, sample.rotations)
        starts.append(fitted)
    neutral = rig.neutral
    neutral[:7] = fitted[:7]
    best = refine_robustly(engine, np.stack([fitted, neutral]), sample)
    if not (options.limits and limits.has_limits):
        return best
    bounded = InverseKinematics(rig, tasks, replace(options, huber_distance=HUBER_DISTANCE, iterations=MAX_ITERATIONS))
    settled = []
    for q in (best, neutral, *starts):
        bounded.state = SolverState.initial(rig.nv)
        q, _ = bounded.refine(q, sample, SETTLE_STEP)
        settled.append(q)
    return min(settled, key=lambda q: robust_cost(bounded, q, sample))


def refine_robustly(engine: InverseKinematics, starts: np.ndarray, sample: TargetSample) -> np.ndarray:
    """Configuration (nq,) of least robust cost that iterations with Huber weights find from some (S, nq)."""

    def equations(poses: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [engine.normal_equations(q, sample) for q in poses]
        return np.stack([hessian for hessian, _ in found]), np.stack([gradient for _, gradient in found])

    refined, costs = solve_least_squares(
        starts,
        equations,
        lambda poses, _: np.array([robust_cost(engine, q, sample) for q in poses]),
        converged=STEP_TOLERANCE,
        move=lambda poses, steps: integrate(engine.rig, poses, steps),
    )
    return refined[np.argmin(costs)]


def robust_cost(engine: InverseKinematics, q: np.ndarray, sample: TargetSample) -> float:
    """Huber cost of a configuration at one sample [m^2], posture included; sets the engine's pose to ``q``."""
    engine.kinematics.update_kinematics(q)
    cost = engine.options.posture_weight * engine.posture.cost(q)
    points, rotations = engine.residuals(sample)
    if engine.points is not None and points is not None:
        errors = np.linalg.norm(points, axis=1)
        seen = np.isfinite(errors)
        bound = engine.options.huber_distance or np.inf
        inside = np.minimum(errors[seen], bound)
        with np.errstate(invalid="ignore"):
            beyond = np.where(errors[seen] > bound, 2.0 * bound * (errors[seen] - bound), 0.0)
        cost += float(engine.points.weights[seen] @ (inside**2 + beyond))
    if engine.orientations is not None and rotations is not None:
        seen = np.isfinite(rotations[:, 0])
        cost += float(engine.orientations.weights[seen] @ (rotations[seen] ** 2).sum(axis=1))
    return cost


def _fit_link_by_link(rig: Rig, tasks: Tasks, sample: TargetSample) -> np.ndarray:
    """Configuration from each link's own markers and orientation, from the root outwards."""
    q = rig.neutral
    rotations = np.zeros((len(rig.links), 3, 3))
    origins = np.zeros((len(rig.links), 3))
    for link, (joint, into, _) in enumerate(joint_slices(rig)):
        if joint.parent < 0:
            rotation, origin = _fit_root(tasks, sample)
            q[:3], q[3:7] = origin, to_quaternion(rotation)
        else:
            base = rotations[joint.parent] @ joint.rotation
            origin = origins[joint.parent] + rotations[joint.parent] @ joint.position
            desired = _link_rotation(tasks, sample, link, base, origin)
            relative = base.T @ desired
            rotation = base
            if joint.kind == "spherical":
                q[into] = to_quaternion(relative)
                rotation = base @ relative
            elif joint.kind == "revolute" and desired is not base:
                angle = _angle_about(relative, joint.axes[0])
                q[into] = angle
                rotation = base @ exp(angle * joint.axes[0])
        rotations[link], origins[link] = rotation, origin
    return q


def _fit_root(tasks: Tasks, sample: TargetSample) -> tuple[np.ndarray, np.ndarray]:
    """Pose of the root link from its own markers; from all markers in neutral if it has fewer than three."""
    points, positions = tasks.positions, sample.positions
    if points is not None and positions is not None:
        own = np.isfinite(positions[:, 0]) & (points.links == 0)
        if own.sum() >= 3:
            return rigid_fit(points.offsets[own], positions[own], points.weights[own])
    measured = _measured_rotation(tasks, sample, 0)
    rotation = np.eye(3) if measured is None else measured
    if positions is not None and np.isfinite(positions[:, 0]).any():
        return rotation, np.nanmean(positions, axis=0)
    return rotation, np.zeros(3)


def _link_rotation(tasks: Tasks, sample: TargetSample, link: int, base: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """World rotation of a link from its orientation target, or from its markers about its joint centre; else the
    parent's.
    """
    measured = _measured_rotation(tasks, sample, link)
    if measured is not None:
        return measured
    points, positions = tasks.positions, sample.positions
    if points is None or positions is None:
        return base
    own = (points.links == link) & np.isfinite(positions[:, 0])
    if not own.any():
        return base
    local = np.vstack([points.offsets[own], TRIAD_LENGTH * np.eye(3)])
    world = np.vstack([positions[own] - origin, TRIAD_LENGTH * base.T])
    return rotation_fit(local, world, np.concatenate([points.weights[own], np.full(3, TRIAD_WEIGHT)]))


def _measured_rotation(tasks: Tasks, sample: TargetSample, link: int) -> np.ndarray | None:
    """World rotation of a link from its own orientation target, None without one."""
    if tasks.orientations is None or sample.rotations is None:
        return None
    own = np.flatnonzero((tasks.orientations.links == link) & np.isfinite(sample.rotations[:, 0, 0]))
    return sample.rotations[own[0]] if len(own) else None


def rigid_fit(local: np.ndarray, world: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and origin (3,) of the frame in which points (P, 3) fit world points (P, 3) best."""
    fractions = np.maximum(weights, 1e-9)[:, None] / np.maximum(weights, 1e-9).sum()
    middle_local, middle_world = (fractions * local).sum(axis=0), (fractions * world).sum(axis=0)
    rotation = rotation_fit(local - middle_local, world - middle_world, weights)
    return rotation, middle_world - rotation @ middle_local


def rotation_fit(local: np.ndarray, world: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rotation that maps vectors (P, 3) best to vectors (P, 3) (Kabsch)."""
    return nearest_rotation((weights[:, None] * world).T @ local)


def _angle_about(rotation: np.ndarray, axis: np.ndarray) -> float:
    """Angle about ``axis`` [rad] whose rotation is nearest to ``rotation``."""
    sine = axis @ vee(rotation)
    cosine = 0.5 * (np.trace(rotation) - axis @ rotation @ axis)
    return float(np.arctan2(sine, cosine))
