"""Where each joint of a rig is in its configurations and velocities."""

from __future__ import annotations

from dataclasses import dataclass

from solver.skeleton.rig import Rig


@dataclass(frozen=True, slots=True)
class Entry:
    """First entries in q and in v, and their numbers."""

    idx_q: int
    idx_v: int
    nq: int
    nv: int


def entries(rig: Rig) -> list[Entry]:
    """Of all joints, the root's first."""
    slices = zip(rig.joints, rig.q_slices, rig.v_slices, strict=True)
    return [Entry(places.start, moves.start, joint.nq, joint.nv) for joint, places, moves in slices]


def entry(rig: Rig, link: str) -> Entry:
    """Of the joint that moves a link."""
    return entries(rig)[rig.index(link)]
