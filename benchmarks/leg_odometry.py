"""Leg odometry: the pose of a robot's root from joint angles and the forces of feet that do not slip."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from solver.contacts.contact_detection import contacts_by_force
from solver.dynamics import link_motions
from solver.errors import InvalidValue
from solver.motion import POSE, Motion
from solver.rig import Rig
from solver.so3 import to_matrix, to_quaternion
from solver.wrenches import Wrenches

NO_FOOT = 0


def leg_odometry(
    rig: Rig, times: np.ndarray, q: np.ndarray, wrenches: Wrenches, feet: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations whose root follows from joint angles and contacts alone.

    The foot with the largest load is assumed to be fixed. When another foot takes over, it is fixed at its current
    pose, so that the root does not jump. In flight the root is constant and the samples are marked as unknown.

    Args:
        rig: of the joints.
        times: (N,) [s].
        q: (N, nq) configurations; of the root only the first sample's pose is used: the path begins there.
        wrenches: at the times, of as many sensors as there are feet, in order.
        feet: links with the sensors.

    Returns:
        (N, nq) configurations, and (N,) True where a foot is in contact.

    Raises:
        InvalidValue: other numbers of samples or sensors.
        UnknownLink: a foot that the rig does not have.
    """
    if len(wrenches) != len(times) or len(wrenches.frames) != len(feet):
        raise InvalidValue(
            f"leg odometry needs the {len(feet)} feet's forces at the {len(times)} samples, got "
            f"{len(wrenches.frames)} sensors at {len(wrenches)}"
        )
    own = np.array(q, float)
    own[:, :POSE] = rig.neutral[:POSE]
    still = np.zeros((len(own), rig.nv))
    links = link_motions(rig, Motion(times, own, still, still))
    index = [rig.index(link) for link in feet]
    turn = links.rotation[:, :, index].transpose(3, 2, 0, 1)  # samples, feet: foot axes to the root's
    place = links.position[:, index].transpose(2, 1, 0)
    load = np.where(contacts_by_force(wrenches), np.nan_to_num(wrenches.values[:, :, 2]), 0.0)
    known = load.max(axis=1) > 0.0
    chosen = np.where(known, load.argmax(axis=1), -1)
    rotation, position = to_matrix(np.asarray(q[0, 3:POSE])), np.array(q[0, :3], float)
    edges = [0, *(np.flatnonzero(np.diff(chosen)) + 1).tolist(), len(chosen)]
    for start, stop in pairwise(edges):
        foot, span = chosen[start], slice(start, stop)
        if foot >= NO_FOOT:
            last = max(start - 1, 0)
            anchor, at = rotation @ turn[last, foot], rotation @ place[last, foot] + position
            rotations = anchor @ turn[span, foot].swapaxes(1, 2)
            own[span, 3:POSE] = to_quaternion(rotations)
            # samples n, axes i of the world and j of the root
            own[span, :3] = at - np.einsum("nij,nj->ni", rotations, place[span, foot])
        else:
            own[span, :POSE] = np.append(position, to_quaternion(rotation))
        rotation, position = to_matrix(own[stop - 1, 3:POSE]), own[stop - 1, :3].copy()
    return own, known
