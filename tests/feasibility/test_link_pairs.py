"""Which links are neighbours: by the definition, joint by joint, on trees of any form."""

from __future__ import annotations

import numpy as np
import pytest

from solver.feasibility import collision_pairs
from solver.feasibility.link_pairs import CLUSTER_SIZE, count_joints_between
from solver.rigs import hoap3, hrp2, human
from solver.rigs.assembly import MovingBody, assemble
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.joints import Limits


def tree(seed: int, count: int = 30) -> Rig:
    """Links at random places on random earlier links; a third of the joints sit where their parent's does."""
    generator = np.random.default_rng(seed)
    names = tuple(f"link_{k}" for k in range(count))
    bodies = [MovingBody(names[0], None)]
    for k in range(1, count):
        place = generator.choice([0.0, 0.02, 1.0]) * generator.normal(size=3)
        bodies.append(
            MovingBody(names[k], names[generator.integers(k)], ((0, 0, 1.0),), place, np.eye(3), [0], [0], [0], [0])
        )
    joints, _ = assemble(bodies)
    none = np.zeros((count, 3))
    prior = InertialParameters.from_com(names, np.ones(count), none, np.tile(np.eye(3), (count, 1, 1)))
    return Rig("tree", names, joints, prior, Limits.none(count - 1), np.zeros((count, 2, 3)), none)


def way(rig: Rig, first: int, second: int) -> list[int]:
    """Joints between two links: those above one of them and not above the other."""
    above = []
    for link in (first, second):
        line = set()
        while link >= 0:
            line.add(link)
            link = rig.parents[link]
        above.append(line)
    return sorted(above[0] ^ above[1])


@pytest.mark.parametrize(
    "rig", [tree(0), tree(1), tree(2), hoap3(), hrp2(), human(1.75, 70.0, "male")], ids=lambda rig: rig.name
)
def test_pairs_are_all_but_neighbours(rig: Rig) -> None:
    """Checked are the pairs with two joints between them or more, unless those joints form one cluster."""
    centres = rig.rest[1]
    size = float(np.linalg.norm(np.ptp(centres, axis=0)))
    between = count_joints_between(rig)
    expected = []
    for i in range(len(rig.links)):
        for j in range(i + 1, len(rig.links)):
            joints = way(rig, i, j)
            assert between[i, j] == between[j, i] == len(joints)
            apart = np.linalg.norm(centres[joints][:, None] - centres[joints], axis=-1).max()
            if len(joints) > 1 and apart > CLUSTER_SIZE * size:
                expected.append((rig.links[i], rig.links[j]))
    assert collision_pairs(rig) == tuple(expected)
    assert 0 < len(expected) < len(rig.links) * (len(rig.links) - 1) / 2
