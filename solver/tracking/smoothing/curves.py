"""The curves of a motion's coordinates that are smooth, in spaces without singularities.

A rotation is a unit quaternion in R^4, as for the filters (`signals.manifold`). Rotations of the world or of a link's
axes are orthogonal there, so the smoothness of the curve does not depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.so3 import product, to_matrix
from ...dynamics import com_and_jacobian
from ...dynamics.coordinates import joint_slices
from ...skeleton.rig import Rig
from ..kinematics import Kinematics
from ..tasks import Targets

QUATERNION_DERIVATIVE = 0.5 * np.eye(4)[:3]
"""Derivative of the unit quaternion with respect to the angle about each axis of the link. Derived: half of the
rotation's quaternion."""
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve at N frames.

    Attributes:
        values: (N, c).
        derivatives: (N, c, m) with respect to the tangent coordinates ``columns``.
        columns: which m of the nv tangent coordinates move it.
    """

    values: np.ndarray
    derivatives: np.ndarray
    columns: slice


def joint_curves(rig: Rig, q: np.ndarray) -> list[Curve]:
    """Curves of the root's position and rotation, and of every joint's coordinate, of configurations (N, nq)."""
    result = []
    for joint, into, moves in joint_slices(rig):
        values = q[:, into]
        if joint.kind == "free":
            place, rotation = slice(moves.start, moves.start + 3), slice(moves.start + 3, moves.stop)
            result.append(Curve(values[:, :3], to_matrix(values[:, 3:]), place))
            result.append(_rotation_curve(values[:, 3:], rotation))
        elif joint.kind == "spherical":
            result.append(_rotation_curve(values, moves))
        elif joint.kind == "continuous":
            result.append(Curve(values, np.stack([-values[:, 1], values[:, 0]], axis=1)[:, :, None], moves))
        else:
            result.append(Curve(values, np.broadcast_to(np.eye(joint.nv), (len(q), joint.nq, joint.nv)), moves))
    return result


def retract(rig: Rig, changes: np.ndarray) -> np.ndarray:
    """Changes (N, nv) of the joints for steps (N, nv) along their curves' tangents.

    The tangent of a rotation's curve leaves the sphere of unit quaternions. Its end is projected back radially. Along
    the arc, steps across gaps reached thirteen turns of a joint; projected they are less than half a turn, and the
    curve's linearisation is valid further.
    """
    result = changes.copy()
    for joint, _, moves in joint_slices(rig):
        if joint.kind == "continuous":
            result[:, moves] = np.arctan(changes[:, moves])
        elif joint.kind in ("free", "spherical"):
            rotation = slice(moves.stop - 3, moves.stop)
            length = np.maximum(np.linalg.norm(changes[:, rotation], axis=1, keepdims=True), TINY)
            result[:, rotation] *= 2.0 * np.arctan(0.5 * length) / length
    return result


def com_curve(rig: Rig, q: np.ndarray, movable: np.ndarray) -> Curve:
    """The curve of the centre of mass by the rig's prior, world, of configurations (N, nq).

    Args:
        rig: its prior gives the masses.
        q: (N, nq).
        movable: (nv,) True for the tangent coordinates that may be moved to smooth it; other derivatives are zero.
    """
    values, derivatives = com_and_jacobian(rig, q)
    return Curve(values, derivatives * movable, slice(0, rig.nv))


def observed_coordinates(rig: Rig, targets: Targets) -> np.ndarray:
    """(nv,) True for the tangent coordinates that move a target with a weight that is measured in any frame."""
    links = []
    if (points := targets.positions) is not None:
        links.append(points.task.links[_is_followed(points.task.weights, points.positions)])
    if (rotations := targets.orientations) is not None:
        links.append(rotations.task.links[_is_followed(rotations.task.weights, rotations.rotations)])
    return np.asarray(Kinematics(rig).moved_by[np.concatenate(links)].any(axis=0))


def _is_followed(weights: np.ndarray, measured: np.ndarray) -> np.ndarray:
    return (weights > 0.0) & np.isfinite(measured).reshape(*measured.shape[:2], -1).all(axis=2).any(axis=0)


def _rotation_curve(quaternions: np.ndarray, moves: slice) -> Curve:
    return Curve(quaternions, product(quaternions[:, None], QUATERNION_DERIVATIVE[None]).swapaxes(1, 2), moves)
