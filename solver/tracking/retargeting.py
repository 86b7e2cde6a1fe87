"""A motion of one rig danced by another: joints of the same name and kind turn alike, whatever the lengths between."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidValue
from ..motion import Motion
from ..rig import ROOT_NV, Rig

ROOT_NQ = 7


def common_links(one: Rig, other: Rig) -> tuple[str, ...]:
    """Links, the root left out, that both rigs move by the same kind of joint; in the second rig's order."""
    kinds = {link: _kind(one, link) for link in one.links[1:]}
    return tuple(link for link in other.links[1:] if kinds.get(link) == _kind(other, link))


def transferred(source: Rig, motion: Motion, target: Rig) -> Motion:
    """The motion on another rig: the root's path as it is, common joints as they turn, others at rest in neutral.

    Feet of a body of other lengths do not land where the source's do; joint angles and speeds are kept.

    Raises:
        InvalidValue: no joint in common.
    """
    links = common_links(source, target)
    if not links:
        raise InvalidValue(f"rigs {source.name!r} and {target.name!r} have no joint in common: nothing can be compared")
    q = np.tile(target.neutral, (len(motion), 1))
    v, a = np.zeros((2, len(motion), target.model.nv))
    q[:, :ROOT_NQ], v[:, :ROOT_NV], a[:, :ROOT_NV] = (
        motion.q[:, :ROOT_NQ], motion.v[:, :ROOT_NV], motion.a[:, :ROOT_NV]
    )  # fmt: skip
    for link in links:
        here, there = source.model.joints[source.joint(link)], target.model.joints[target.joint(link)]
        q[:, there.idx_q : there.idx_q + there.nq] = motion.q[:, here.idx_q : here.idx_q + here.nq]
        for rates, own in ((v, motion.v), (a, motion.a)):
            rates[:, there.idx_v : there.idx_v + there.nv] = own[:, here.idx_v : here.idx_v + here.nv]
    return Motion(motion.times, q, v, a)


def _kind(rig: Rig, link: str) -> str:
    return str(rig.model.joints[rig.joint(link)].shortname())
