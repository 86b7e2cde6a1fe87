"""Transfers joint coordinates to another rig: joints of the same name and kind get the same values, whatever the
lengths.
"""

from __future__ import annotations

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics.coordinates import joint_slices
from ...skeleton.rig import ROOT_NV, Rig
from ...values.joints import Joint
from ...values.motion import Motion

ROOT_NQ = 7
"""By definition."""


def common_links(one: Rig, other: Rig) -> tuple[str, ...]:
    """Links, without the root, that both rigs move by the same kind of joint; in the second rig's order."""
    kinds = {link: _joint_kind(joint) for link, joint in zip(one.links[1:], one.joints[1:])}
    return tuple(
        link for link, joint in zip(other.links[1:], other.joints[1:]) if kinds.get(link) == _joint_kind(joint)
    )


def transfer_motion(source: Rig, motion: Motion, target: Rig) -> Motion:
    """The motion on another rig: the same root path and common joint coordinates; other joints stay in neutral.

    Joint angles and speeds are unchanged; with other lengths the feet do not land where the source's do.

    Raises:
        InvalidValue: no joint in common.
    """
    links = common_links(source, target)
    if not links:
        raise InvalidValue(f"rigs {source.name!r} and {target.name!r} have no joint in common")
    q = np.tile(target.neutral, (len(motion), 1))
    v, a = np.zeros((2, len(motion), target.nv))
    q[:, :ROOT_NQ], v[:, :ROOT_NV], a[:, :ROOT_NV] = (
        motion.q[:, :ROOT_NQ], motion.v[:, :ROOT_NV], motion.a[:, :ROOT_NV]
    )  # fmt: skip
    slices = [dict(zip(rig.links, joint_slices(rig))) for rig in (source, target)]
    for link in links:
        (_, from_q, from_v), (_, into_q, into_v) = (place[link] for place in slices)
        q[:, into_q] = motion.q[:, from_q]
        v[:, into_v], a[:, into_v] = motion.v[:, from_v], motion.a[:, from_v]
    return Motion(motion.times, q, v, a)


def _joint_kind(joint: Joint) -> tuple[object, ...]:
    """What makes equal coordinates equal rotations: the kind of joint, and which of the link's axes it moves about or
    along.
    """
    return joint.kind, *(int(np.argmax(axis)) if np.any(axis == 1.0) else None for axis in joint.axes)
