"""When which foot stands where: the contact schedule of a dance, bonnet2016 Fig. 2.c and (17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from ..errors import InvalidValue, UnknownPreset
from ..rig import Rig
from ..so3 import rotation_between

SAME_TIME = 1e-9
"""[s] Phases whose ends differ by less join without a gap."""
SAME_PLACE = 1e-9
"""[m] Anchors that differ by less are one; entries of their rotations likewise."""
ORTHONORMAL = 1e-6
"""Largest entry of R' R - 1 that a rotation may have."""
STEP_SHARE = 0.8
"""Default step of a foot put forward, as a share of its sole's length (bonnet2016: 0.1 m HOAP-3, 0.2 m human)."""
LEVEL = 1e-3
"""[rad] A sole that leans less than this is level: files often write angles with few digits."""
LARGEST_LEG_LEAN = 0.25
"""Sideways lean of a leg, every joint at zero, beyond which the body does not stand but is drawn with legs spread."""
FOOT_CONFIGURATIONS = ("both", "right_forward", "right", "left")
"""The four stances of bonnet2016 Fig. 2.c, in the paper's order."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a contact patch is planted.

    Attributes:
        patch: name of the rig's contact polygon.
        rotation: (3, 3) axes of the link that carries the patch, in world axes.
        position: (3,) [m] origin of that link, world.
    """

    patch: str
    rotation: np.ndarray
    position: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", frozen(f"rotation of anchor {self.patch!r}", self.rotation, (3, 3)))
        object.__setattr__(self, "position", frozen(f"position of anchor {self.patch!r}", self.position, (3,)))
        if np.abs(self.rotation.T @ self.rotation - np.eye(3)).max() > ORTHONORMAL:
            raise InvalidValue(f"anchor {self.patch!r}: its axes are not a rotation")

    def is_same_place(self, other: Anchor) -> bool:
        """Whether another anchor plants its patch in the same place."""
        apart = max(np.abs(self.position - other.position).max(), np.abs(self.rotation - other.rotation).max())
        return bool(apart <= SAME_PLACE)

    def points(self, rig: Rig) -> np.ndarray:
        """Corners of the planted patch (V, 3) [m], world."""
        return rig.patch(self.patch).vertices @ self.rotation.T + self.position


@dataclass(frozen=True, slots=True)
class Phase:
    """A span of time in which the same patches carry load.

    Attributes:
        start, stop: [s].
        anchors: of the patches that carry load; none while airborne.
    """

    start: float
    stop: float
    anchors: tuple[Anchor, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "anchors", tuple(self.anchors))
        if not (np.isfinite([self.start, self.stop]).all() and self.stop > self.start):
            raise InvalidValue(f"a contact phase must end after it starts, got {self.start:g} to {self.stop:g} s")
        if len(set(self.loaded)) != len(self.loaded):
            raise InvalidValue(f"the phase at {self.start:g} s plants a patch twice: {', '.join(self.loaded)}")

    @property
    def loaded(self) -> tuple[str, ...]:
        """Names of the patches that carry load."""
        return tuple(anchor.patch for anchor in self.anchors)

    @property
    def airborne(self) -> bool:
        """Nothing touches the ground."""
        return not self.anchors

    def besides_soles(self, rig: Rig) -> tuple[str, ...]:
        """Of the loaded patches those that are no soles: hands, knees."""
        return tuple(name for name in self.loaded if not rig.patch(name).sole)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Contact phases one after another, without gap or overlap.

    Attributes:
        phases: at least one, in the order of time. A frame on the border of two belongs to the later one.
        ground: [m] height of the floor, world.
    """

    phases: tuple[Phase, ...]
    ground: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple(self.phases))
        if not self.phases:
            raise InvalidValue("a contact schedule needs at least one phase")
        for number, (before, after) in enumerate(zip(self.phases, self.phases[1:]), start=1):
            step = after.start - before.stop
            if abs(step) <= SAME_TIME:
                continue
            what = (
                f"overlap from {after.start:g} to {before.stop:g} s: shorten one of them"
                if step < 0
                else f"leave {before.stop:g} to {after.start:g} s without a phase: add one, airborne if nothing touches"
            )
            raise InvalidValue(f"contact phases {number} and {number + 1} {what}")

    @staticmethod
    def constant(anchors: Sequence[Anchor], start: float, stop: float, ground: float = 0.0) -> Schedule:
        """One phase only."""
        return Schedule((Phase(start, stop, tuple(anchors)),), ground)

    @property
    def start(self) -> float:
        """[s]."""
        return self.phases[0].start

    @property
    def stop(self) -> float:
        """[s]."""
        return self.phases[-1].stop

    def joined(self, other: Schedule) -> Schedule:
        """This schedule followed by another that starts when it stops.

        Raises:
            InvalidValue: a gap, an overlap, or another floor.
        """
        if other.ground != self.ground:
            raise InvalidValue(f"schedules on floors at {self.ground:g} and {other.ground:g} m cannot be joined")
        return Schedule(self.phases + other.phases, self.ground)

    def index_at(self, times: np.ndarray) -> np.ndarray:
        """Phase of each time, (N,) indices.

        Raises:
            InvalidValue: a time outside the schedule.
        """
        times = np.asarray(times, float)
        outside = (times < self.start - SAME_TIME) | (times > self.stop + SAME_TIME)
        if outside.any():
            time = float(times[outside][0])
            raise InvalidValue(f"{time:g} s lies outside the contact schedule, {self.start:g} to {self.stop:g} s")
        starts = np.array([phase.start for phase in self.phases]) - SAME_TIME
        return np.searchsorted(starts, times, side="right").clip(1) - 1

    def phase_at(self, time: float) -> Phase:
        """The phase of one time."""
        return self.phases[int(self.index_at(np.array([time]))[0])]


def anchors_at(rig: Rig, q: np.ndarray, patches: Sequence[str] | None = None) -> tuple[Anchor, ...]:
    """Anchors where a posture q (nq,) has its patches (all by default)."""
    from ..dynamics import link_poses  # schedules are read where no dynamics library is

    turns, places = link_poses(rig, q)
    named = [(name, rig.index(rig.patch(name).link)) for name in (rig.patches if patches is None else patches)]
    return tuple(Anchor(name, turns[link], places[link]) for name, link in named)


def flat_on_ground(rig: Rig, anchor: Anchor, ground: float) -> Anchor:
    """The anchor turned the shortest way until its patch is level, and moved vertically onto the ground.

    A sole lies on whichever side is nearer; a palm or a knee on its own, however it was turned.
    """
    patch = rig.patch(anchor.patch)
    corners = patch.vertices
    if patch.sole:
        up = anchor.rotation @ np.linalg.svd(corners - corners.mean(axis=0))[2][2]
        up = up * np.sign(up[2]) if up[2] else up
    else:
        up = -anchor.rotation @ patch.outward
    turn = rotation_between(up, np.array([0.0, 0.0, 1.0])) @ anchor.rotation
    centre = anchor.rotation @ corners.mean(axis=0) + anchor.position
    position = centre - turn @ corners.mean(axis=0)
    position[2] += ground - (turn @ corners.mean(axis=0) + position)[2]
    return Anchor(anchor.patch, turn, position)


def stance(rig: Rig, configuration: str, step: float | None = None, ground: float = 0.0) -> tuple[Anchor, ...]:
    """Feet planted flat in one of the four configurations, bonnet2016 Fig. 2.c and (17).

    The feet point and stand apart as in the rig's neutral posture, or, where its legs are spread there, each below its
    hip; the left foot is where it is then, the right one ``step`` ahead of its place in ``"right_forward"``. Soles lie
    level on the ground.

    Args:
        rig: with a left and a right sole.
        configuration: one of `FOOT_CONFIGURATIONS`.
        step: [m] to where the rig faces; `STEP_SHARE` of the sole's length by default.
        ground: [m] height of the floor.

    Raises:
        UnknownPreset: no such configuration.
        InvalidValue: the rig has no feet.
    """
    if configuration not in FOOT_CONFIGURATIONS:
        raise UnknownPreset(configuration, FOOT_CONFIGURATIONS)
    sides = rig.sides
    wanted = (configuration,) if configuration in sides else ("right", "left")
    anchors = []
    for side in wanted:
        anchor = _level(rig, anchors_at(rig, rig.neutral, (sides[side],))[0])
        points = anchor.points(rig)
        shift = _below_hip(rig, sides[side], points)
        shift[2] = ground - points[:, 2].min()
        if configuration == "right_forward" and side == "right":
            shift += rig.forward * (STEP_SHARE * np.ptp(points @ rig.forward) if step is None else step)
        anchors.append(Anchor(anchor.patch, anchor.rotation, anchor.position + shift))
    return tuple(anchors)


def _below_hip(rig: Rig, patch: str, points: np.ndarray) -> np.ndarray:
    """The way (3,) [m] sideways that brings a sole's points (V, 3) in the neutral posture below its hip.

    It is nothing where the leg does not lean much.
    """
    link = rig.index(rig.patch(patch).link)
    if not link:
        return np.zeros(3)
    across = np.cross(rig.forward, [0.0, 0.0, 1.0])
    way = rig.rest[1][rig.path(link)[0]] - points.mean(axis=0)
    aside = float(way @ across)
    return aside * across if abs(aside) > LARGEST_LEG_LEAN * abs(way[2]) else np.zeros(3)


def _level(rig: Rig, anchor: Anchor) -> Anchor:
    """The anchor turned about its sole's centre by the least that makes the sole level."""
    points = anchor.points(rig)
    sides = np.roll(points, -1, axis=0) - points
    normal = np.cross(sides, np.roll(sides, -1, axis=0)).sum(axis=0)
    size = float(np.linalg.norm(normal))
    if np.hypot(*normal[:2]) <= LEVEL * size:
        return anchor
    upwards = -normal / size  # corners are counter-clockwise seen from below
    turn, centre = rotation_between(upwards, np.array([0.0, 0.0, 1.0])), points.mean(axis=0)
    return Anchor(anchor.patch, turn @ anchor.rotation, centre + turn @ (anchor.position - centre))
