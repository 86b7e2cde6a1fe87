"""A rig's tree for the NumPy engine: bodies in the order of their depth, and how joints place them.

A universal joint is two hinges in series with a body between them, so that every other rule knows one kind of hinge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.so3 import skew
from ..values.inertials import InertialParameters
from ..values.joints import Joint, Limits


class Model:
    """L links on B bodies; bodies are sorted by depth, links and coordinates keep the rig's order.

    Attributes:
        name: of the rig.
        nq, nv: entries of a configuration and of a velocity.
        kinds: (B,) of the bodies' joints.
        parents: (B,) bodies that carry each, -1 for the root.
        levels: bodies of each depth below the root's, as slices.
        positions, rotations: (B, 3) [m], (B, 3, 3) placements in the carrying body, every joint at zero.
        axes: (B, 3) of hinges and prismatic joints, in their body.
        starts, moves: (B,) first entries of each joint in q and v.
        link_bodies: (L,) body of each link.
        joint_bodies: (L,) body that the joint of each link places in the parent link.
        owners: (nv,) body that each coordinate moves.
        directions: (nv, 3) axis of each coordinate in that body.
        slides: (nv,) True for translations.
        values: (B, 10) inertial parameters of each body.
        subtrees: (B, B) 1 where the column's body is the row's or a descendant.
        descends: (nv, nv) True where the row's body is the column's or a descendant.
        below: (nv, nv) True where the column's body is a descendant of the row's.
        spans: kinds of joints with their entries in q and v; all but free joints at once.
    """

    def __init__(self, name: str, joints: Sequence[Joint], values: np.ndarray) -> None:
        self.name = name
        rows: list[tuple[str, int, np.ndarray, np.ndarray, np.ndarray, int]] = []
        first: list[int] = []
        last: list[int] = []
        owners: list[int] = []
        at = 0
        directions: list[np.ndarray] = []
        slides: list[bool] = []
        for joint in joints:
            parent = last[joint.parent] if joint.parent >= 0 else -1
            first.append(len(rows))
            if joint.kind == "universal":
                rows.append(("hinge", parent, joint.position, joint.rotation, joint.axes[0], at))
                rows.append(("hinge", len(rows) - 1, np.zeros(3), np.eye(3), joint.axes[1], at + 1))
                owners += [len(rows) - 2, len(rows) - 1]
            else:
                kind = "hinge" if joint.kind == "revolute" else joint.kind
                axis = joint.axes[0] if len(joint.axes) else np.zeros(3)
                rows.append((kind, parent, joint.position, joint.rotation, axis, at))
                owners += [len(rows) - 1] * joint.nv
            own, moves = _directions(joint)
            directions, slides = [*directions, *own], [*slides, *moves]
            last.append(len(rows) - 1)
            at += joint.nq
        depth = np.zeros(len(rows), int)
        for body, row in enumerate(rows):
            depth[body] = depth[row[1]] + 1 if row[1] >= 0 else 0
        order = np.argsort(depth, kind="stable")
        place = np.empty(len(rows), int)
        place[order] = np.arange(len(rows))
        sorted_rows = [rows[body] for body in order]
        ends = np.searchsorted(depth[order], np.arange(depth.max() + 2))
        self.nq, self.nv = at, len(owners)
        self.kinds = [row[0] for row in sorted_rows]
        self.parents = np.array([place[row[1]] if row[1] >= 0 else -1 for row in sorted_rows])
        self.levels = [slice(*pair) for pair in zip(ends[1:].tolist(), ends[2:].tolist())]
        self.positions = np.array([row[2] for row in sorted_rows])
        self.rotations = np.array([row[3] for row in sorted_rows])
        self.axes = np.array([row[4] for row in sorted_rows])
        self.starts = np.array([row[5] for row in sorted_rows])
        self.link_bodies, self.joint_bodies = place[last], place[first]
        self.owners = place[owners]
        self.is_sorted = np.array_equal(self.link_bodies, np.arange(len(rows)))
        self.moves = np.searchsorted(owners, order)
        """Owners rise in the rig's order."""
        self.directions, self.slides = np.array(directions), np.array(slides, bool)
        self.values = np.zeros((len(rows), values.shape[1]))
        self.values[self.link_bodies] = values
        self.subtrees = np.eye(len(rows))
        for body in range(1, len(rows)):
            self.subtrees[:, body] += self.subtrees[:, self.parents[body]]
        self.descends = self.subtrees[np.ix_(self.owners, self.owners)].T > 0.0
        self.below = ~self.descends & self.descends.T
        self.spans = _spans(joints)
        self._sort_joints()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return False
        arrays = ("parents", "positions", "rotations", "axes", "link_bodies", "values")
        same = (self.name, self.kinds) == (other.name, other.kinds)
        return same and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)

    __hash__ = None  # type: ignore[assignment]

    def _sort_joints(self) -> None:
        """Groups of bodies by kind, and the parts of each hinge's rotation R (a a' + cos (1 - a a') + sin sk(a))."""
        of = {kind: np.array([b for b, own in enumerate(self.kinds) if own == kind], int) for kind in set(self.kinds)}
        none = np.zeros(0, int)
        turning, endless = of.get("hinge", none), of.get("continuous", none)
        self.hinges = np.concatenate([turning, endless])
        self.angles, self.cosines = self.starts[turning], self.starts[endless]
        axes, base = self.axes[self.hinges], self.rotations[self.hinges]
        along = axes[:, :, None] * axes[:, None]
        self.hinge_parts = np.array([base @ along, base @ (np.eye(3) - along), base @ skew(axes)])
        """(3, H, 3, 3): constant, by cosine, by sine."""
        self.sliders = of.get("prismatic", none)
        self.ways = (self.rotations[self.sliders] @ self.axes[self.sliders][:, :, None])[:, :, 0]
        self.balls = np.concatenate([of.get("free", none), of.get("spherical", none)])
        self.quaternions = self.starts[self.balls] + 3 * np.array([self.kinds[b] == "free" for b in self.balls], int)
        self.turns = self.moves[self.balls] + (self.quaternions - self.starts[self.balls])
        """(K,) first angular coordinates of the bodies with a quaternion."""
        self.free = of.get("free", none)
        self.sliding = np.concatenate([self.free, self.sliders])
        self.is_turned = np.array([not np.array_equal(self.rotations[body], np.eye(3)) for body in self.balls], bool)


def build_model(name: str, joints: Sequence[Joint], prior: InertialParameters, limits: Limits) -> Model:
    """The model of a rig; limits are the rig's own matter."""
    return Model(name, joints, np.asarray(prior.values))


def _directions(joint: Joint) -> tuple[np.ndarray, list[bool]]:
    """Axes (nv, 3) of a joint's coordinates in the body that each moves, and whether they are translations."""
    unit = np.eye(3)
    if joint.kind == "free":
        return np.vstack([unit, unit]), [True] * 3 + [False] * 3
    if joint.kind == "spherical":
        return unit, [False] * 3
    return np.asarray(joint.axes), [joint.kind == "prismatic"] * len(joint.axes)


def _spans(joints: Sequence[Joint]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Kinds of joints with their entries in q and in v, as `Model.spans`."""
    shared: dict[str, tuple[list[int], list[int]]] = {kind: ([], []) for kind in ("vector", "continuous", "spherical")}
    single, at, move = [], 0, 0
    for joint in joints:
        places, moves = list(range(at, at + joint.nq)), list(range(move, move + joint.nv))
        kind = "vector" if joint.nq == joint.nv else joint.kind
        if kind in shared:
            shared[kind][0].extend(places)
            shared[kind][1].extend(moves)
        else:
            single.append((kind, np.array(places), np.array(moves)))
        at, move = at + joint.nq, move + joint.nv
    return [*single, *((kind, np.array(q), np.array(v)) for kind, (q, v) in shared.items() if q)]
