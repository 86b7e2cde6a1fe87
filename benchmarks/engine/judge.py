"""An independent check of dances, which shares no code with the solver's checks: the robot's own file, read by
Pinocchio alone.

Everything is computed independently from joint angles and the root's pose: velocities and accelerations by differences,
soles from the vertices that lie on the floor, contact forces by a linear program at the soles' corners, collisions of
the raw meshes. A failure names time, link and amount.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

GRAVITY = 9.81
FLAT = 0.001
"""[m] Vertices of a planted foot so near the floor stand on it."""
SIDES = 8
"""Sides of the pyramid that replaces the friction cone, inside it."""
NO_LIMIT = {"angle": 10.0, "speed": 100.0, "torque": 1e4}
"""Stated limits of so much, or of zero, limit nothing."""
NEIGHBOURS = 2
"""Joints between links that form one compound joint (hip, shoulder, wrist); joints at bare axes do not count."""
FORCE_RATE, TOUCH_RATE = 20.0, 10.0
"""[1/s] at which forces and collisions are looked at."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was danced, in plain numbers.

    Attributes:
        times: (N,) [s], even.
        root: (N, 7) place [m] and quaternion xyzw of the root link.
        joints: (N,) [rad, m] by joint name.
        planted: (N,) by name of a foot's link: whether it is planted.
    """

    times: np.ndarray
    root: np.ndarray
    joints: Mapping[str, np.ndarray]
    planted: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Finding:
    """The worst of one kind.

    Attributes:
        what: kind.
        margin: positive where satisfied.
        unit: of the margin.
        where: link, joint or pair.
        time: [s].
    """

    what: str
    margin: float
    unit: str
    where: str
    time: float

    def __str__(self) -> str:
        return f"{self.what} {self.margin:+.3g} {self.unit} ({self.where}, {self.time:.2f} s)"


class Judge:
    """Reads a robot and judges records of it.

    Args:
        urdf: the robot.
        packages: folders that meshes are looked for in.
        friction: coefficient between sole and floor.
        unstated: kinds of limits ("angle", "speed", "torque") that the file has placeholders for.
        apart: pairs of link names that may touch.
    """

    def __init__(
        self, urdf: Path, packages: Sequence[Path], friction: float = 0.5, unstated: Sequence[str] = (),
        apart: Sequence[tuple[str, str]] = (),
    ) -> None:  # fmt: skip
        self.model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.friction, self.unstated = friction, tuple(unstated)
        text = _with_files(urdf.read_text(encoding="utf-8"), [*packages, *urdf.resolve().parents])
        kinds = (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL)
        solid, shown = (pin.buildGeomFromUrdfString(self.model, text, kind) for kind in kinds)
        own = {thing.parentFrame for thing in solid.geometryObjects}
        for thing in shown.geometryObjects:
            if thing.parentFrame not in own:
                solid.addGeometryObject(thing)
        self.geometry = solid
        self.vertices = [_vertices(thing.geometry) for thing in solid.geometryObjects]
        self._shaped = {thing.parentJoint for thing in solid.geometryObjects}
        allowed = {frozenset(pair) for pair in apart}
        things = list(enumerate(solid.geometryObjects))
        for i, one in things:
            for j, other in things[i + 1 :]:
                names = frozenset(self.model.frames[t.parentFrame].name for t in (one, other))
                if self._joints_between(one.parentJoint, other.parentJoint) > NEIGHBOURS and names not in allowed:
                    solid.addCollisionPair(pin.CollisionPair(i, j))

    def findings(self, record: Record) -> list[Finding]:
        """The worst of every kind."""
        q = self._configurations(record)
        step = float(record.times[1] - record.times[0])
        v = np.array([pin.difference(self.model, a, b) for a, b in zip(q[:-2], q[2:])]) / (2.0 * step)
        ahead = np.array([pin.difference(self.model, a, b) for a, b in pairwise(q)]) / step
        a = np.diff(ahead, axis=0) / step
        inner = _Frames(record.times[1:-1], q[1:-1], v, a)
        planted = {name: flags[1:-1] for name, flags in record.planted.items()}
        result = self._ranges(inner)
        feet = self._feet(inner, planted)
        return [*result, *feet, *self._forces(inner, planted), *self._touching(inner)]

    def _configurations(self, record: Record) -> np.ndarray:
        q = np.tile(pin.neutral(self.model), (len(record.times), 1))
        q[:, :7] = record.root
        for name, values in record.joints.items():
            if not self.model.existJointName(name):
                raise KeyError(f"the file has no joint {name!r}")
            joint = self.model.joints[self.model.getJointId(name)]
            turned = np.column_stack([np.cos(values), np.sin(values)]) if joint.nq == 2 else values[:, None]
            q[:, joint.idx_q : joint.idx_q + joint.nq] = turned
        return q

    def _ranges(self, frames: _Frames) -> list[Finding]:
        model, found = self.model, []
        for number in range(2, model.njoints):
            joint, name = model.joints[number], model.names[number]
            speed = float(model.velocityLimit[joint.idx_v])
            if "speed" not in self.unstated and 0.0 < speed < NO_LIMIT["speed"]:
                found.append(_worst("speed", speed - np.abs(frames.v[:, joint.idx_v]), "rad/s", name, frames.times))
            if joint.nq == joint.nv == 1:
                low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
                angle = frames.q[:, joint.idx_q]
                if "angle" not in self.unstated and max(abs(low), abs(high)) < NO_LIMIT["angle"]:
                    found.append(_worst("angle", np.minimum(angle - low, high - angle), "rad", name, frames.times))
        return _least(found)

    def _feet(self, frames: _Frames, planted: Mapping[str, np.ndarray]) -> list[Finding]:
        found = []
        for name, stands in planted.items():
            corners = self._corners(frames, name, stands)
            place = self._placed(frames, name, corners)
            spans = _spans(stands)
            for start, stop in spans:
                slip = np.linalg.norm(place[start:stop] - place[start], axis=2).max(axis=1)
                found.append(_worst("slip", -slip, "m", name, frames.times[start:stop]))
            for start, stop in _spans(~stands):
                height, centre = self._lowest(frames, name, start, stop), place[start:stop, :, :2].mean(axis=1)
                end_distance = np.min([np.linalg.norm(centre - centre[end], axis=1) for end in (0, -1)], axis=0)
                if height.max() < 0.02:
                    found.append(Finding("swing", float(height.max() - 0.02), "m", name, float(frames.times[start])))
                away = end_distance > 0.02
                if away.any():
                    found.append(_worst("swing", height[away] - 0.02, "m", name, frames.times[start:stop][away]))
        return _least(found)

    def _forces(self, frames: _Frames, planted: Mapping[str, np.ndarray]) -> list[Finding]:
        """Whether forces at the soles' corners, within friction, carry the body with the joints' torques."""
        model, found = self.model, []
        soles = {name: self._corners(frames, name, stands) for name, stands in planted.items()}
        limit = np.array(model.effortLimit[6:], float)
        stated = (limit > 0.0) & (limit < NO_LIMIT["torque"]) & ("torque" not in self.unstated)
        angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
        edges = np.column_stack([self.friction * np.cos(angles), self.friction * np.sin(angles), np.ones(SIDES)])
        every = max(1, round(1.0 / (FORCE_RATE * (frames.times[1] - frames.times[0]))))
        mass = pin.computeTotalMass(model)
        for k in range(0, len(frames.times), every):
            torque = pin.rnea(model, self.data, frames.q[k], frames.v[k], frames.a[k])
            pin.computeJointJacobians(model, self.data, frames.q[k])
            pin.updateFramePlacements(model, self.data)
            columns, points = [], []
            for name, stands in planted.items():
                if stands[k]:
                    frame = model.getFrameId(name, pin.FrameType.BODY)
                    jacobian = pin.getFrameJacobian(model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
                    turned = soles[name] @ self.data.oMf[frame].rotation.T
                    points.append(turned + self.data.oMf[frame].translation)
                    for lever in turned:
                        columns.append((jacobian[:3] - pin.skew(lever) @ jacobian[3:]).T @ edges.T)
            matrix = np.hstack(columns)
            found.append(self._zero_moment_point(torque, np.vstack(points), frames, k))
            scale = mass * GRAVITY
            share = np.where(stated, limit, np.inf)
            rows = np.flatnonzero(stated)
            held = matrix[6:][rows] * scale / share[rows][:, None]
            free = torque[6:][rows] / share[rows]
            # least s with |torque - J' f| <= (1 + s) limit
            ones = -np.ones((len(rows), 1))
            upper = np.vstack([np.hstack([-held, ones]), np.hstack([held, ones])])
            bound = np.concatenate([1.0 - free, 1.0 + free])
            price = np.r_[np.zeros(matrix.shape[1]), 1.0]
            equal = np.hstack([matrix[:6], np.zeros((6, 1))])
            ends = [(0, None)] * matrix.shape[1] + [(-1, None)]
            solved = linprog(price, upper, bound, equal, torque[:6] / scale, ends)
            time = float(frames.times[k])
            if solved.status == 2:
                found.append(Finding("contact", -1.0, "", "no forces at the soles carry the body", time))
                continue
            binding = rows[int(np.argmax(np.abs(free - held @ solved.x[:-1])))] if len(rows) else 0
            name = next((model.names[n] for n in range(2, model.njoints) if model.joints[n].idx_v == binding + 6), "")
            found.append(Finding("torque", float(-solved.x[-1]), "of the limit", name, time))
        return _least(found)

    def _zero_moment_point(self, torque: np.ndarray, points: np.ndarray, frames: _Frames, k: int) -> Finding:
        root = self.data.oMi[1]
        force = root.act(pin.Force(torque[:6]))
        place = np.array([-force.angular[1], force.angular[0]]) / force.linear[2]
        hull = ConvexHull(points[:, :2])
        inside = -(hull.equations[:, :2] @ place + hull.equations[:, 2]).max()
        return Finding("zmp", float(inside), "m", "planted soles", float(frames.times[k]))

    def _touching(self, frames: _Frames) -> list[Finding]:
        every = max(1, round(1.0 / (TOUCH_RATE * (frames.times[1] - frames.times[0]))))
        placed, found = self.geometry.createData(), []
        for request in placed.collisionRequests:
            request.num_max_contacts = 50
            request.enable_contact = True
        for k in range(0, len(frames.times), every):
            pin.updateGeometryPlacements(self.model, self.data, self.geometry, placed, frames.q[k])
            for number, pair in enumerate(self.geometry.collisionPairs):
                if not pin.computeCollision(self.geometry, placed, number):
                    continue
                contacts = placed.collisionResults[number].getContacts()
                depth = max((abs(c.penetration_depth) for c in contacts), default=0.0)
                names = [self.geometry.geometryObjects[n].name for n in (pair.first, pair.second)]
                found.append(Finding("touch", -depth - 1e-9, "m", " and ".join(names), float(frames.times[k])))
        return sorted(found, key=lambda f: f.margin)[:1] or [Finding("touch", 0.0, "m", "no pair", 0.0)]

    def _corners(self, frames: _Frames, link: str, stands: np.ndarray) -> np.ndarray:
        """(V, 3) [m] points of a foot on the floor when it is first planted, frame of its link."""
        k = int(np.flatnonzero(stands)[0]) if stands.any() else 0
        points = self._points(frames.q[k], link)
        frame = self.data.oMf[self.model.getFrameId(link, pin.FrameType.BODY)]
        low = points[points[:, 2] <= points[:, 2].min() + FLAT]
        low = low[ConvexHull(low[:, :2]).vertices]
        return (low - frame.translation) @ frame.rotation

    def _points(self, q: np.ndarray, link: str) -> np.ndarray:
        """(V, 3) [m] of everything that a link carries, world."""
        pin.framesForwardKinematics(self.model, self.data, q)
        joint = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)].parentJoint
        own = zip(self.geometry.geometryObjects, self.vertices)
        placed = [
            v @ (m := self.data.oMi[joint] * t.placement).rotation.T + m.translation
            for t, v in own
            if t.parentJoint == joint
        ]
        return np.vstack(placed)

    def _placed(self, frames: _Frames, link: str, points: np.ndarray) -> np.ndarray:
        """(N, V, 3) [m] points of a link, world."""
        result = []
        for q in frames.q:
            pin.framesForwardKinematics(self.model, self.data, q)
            frame = self.data.oMf[self.model.getFrameId(link, pin.FrameType.BODY)]
            result.append(points @ frame.rotation.T + frame.translation)
        return np.array(result)

    def _lowest(self, frames: _Frames, link: str, start: int, stop: int) -> np.ndarray:
        return np.array([self._points(q, link)[:, 2].min() for q in frames.q[start:stop]])

    def _joints_between(self, one: int, other: int) -> int:
        lines = []
        for joint in (one, other):
            line = [joint]
            while line[-1] > 0:
                line.append(int(self.model.parents[line[-1]]))
            lines.append(line)
        way = set(lines[0]) ^ set(lines[1])
        ends = {one, other, next(joint for joint in lines[0] if joint in lines[1])}
        return len(way) - len(way - self._shaped - ends)


@dataclass(frozen=True, slots=True)
class _Frames:
    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def _with_files(text: str, folders: Sequence[Path]) -> str:
    """A robot's file with mesh paths in place of package://name/rest; missing meshes are removed."""

    def place(found: re.Match[str]) -> str:
        package, _, rest = found[2].partition("/")
        tried = [path for folder in folders for path in (folder / package / rest, folder / rest, folder.parent / rest)]
        return f'filename="{next((path for path in tried if path.is_file()), found[2])}"'

    return re.sub(r'filename\s*=\s*"(package|model)://([^"]*)"', place, text)


def _vertices(geometry: pin.coal.CollisionGeometry) -> np.ndarray:
    """(V, 3) [m] of a shape, own axes; round ones by many points."""
    if hasattr(geometry, "vertices"):
        return np.array(geometry.vertices())
    if hasattr(geometry, "points"):
        return np.array(geometry.points())
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    if hasattr(geometry, "halfSide"):
        return signs * np.array(geometry.halfSide)
    ring = 2.0 * np.pi * np.arange(48) / 48
    if hasattr(geometry, "halfLength"):
        circle = geometry.radius * np.column_stack([np.cos(ring), np.sin(ring)])
        ends = [np.column_stack([circle, np.full(48, z)]) for z in (-geometry.halfLength, geometry.halfLength)]
        return np.vstack(ends)
    directions = np.random.default_rng(0).normal(size=(500, 3))
    return geometry.radius * directions / np.linalg.norm(directions, axis=1)[:, None]


def _spans(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and past last place of every run of True."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False]))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def _worst(what: str, margins: np.ndarray, unit: str, where: str, times: np.ndarray) -> Finding:
    k = int(np.argmin(margins))
    return Finding(what, float(margins[k]), unit, where, float(times[k]))


def _least(found: Sequence[Finding]) -> list[Finding]:
    """The worst of every kind."""
    result: dict[str, Finding] = {}
    for finding in found:
        if finding.what not in result or finding.margin < result[finding.what].margin:
            result[finding.what] = finding
    return list(result.values())
