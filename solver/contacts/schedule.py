"""Contact schedule of a dance: when and where each foot is planted, bonnet2016 Fig. 2.c and (17)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.errors import InvalidValue, UnknownPreset
from ..base.so3 import rotation_between
from ..options.dances import FOOT_CONFIGURATIONS
from ..skeleton.rig import Rig
from .rolling import PARTS, SOLE, RollingSole

SAME_TIME = 1e-9
"""[s] Consecutive phases with a smaller gap are contiguous."""
SAME_PLACE = 1e-9
"""[m] Anchors that differ by less are equal; also the tolerance of the entries of their rotations."""
ORTHONORMAL = 1e-6
"""Largest entry of R' R - 1 that a rotation may have."""
STEP_SHARE = 0.8
"""Default length of a step forward, as a fraction of the sole's length (bonnet2016: 0.1 m HOAP-3, 0.2 m human)."""
LARGEST_LEG_LEAN = 0.25
"""Sideways over vertical extent of a leg, every joint at zero, above which the neutral pose has spread legs."""


@dataclass(frozen=True, slots=True)
class Anchor(ArrayValue):
    """Pose of a planted contact patch.

    Attributes:
        patch: name of the rig's contact polygon.
        rotation: (3, 3) axes of the link that carries the patch, in world axes.
        position: (3,) [m] origin of that link, world.
        part: of the sole that touches, one of `rolling.PARTS`; the pose is that of the flat sole even while it rolls.
    """

    patch: str
    rotation: Annotated[np.ndarray, Array(3, 3)]
    position: Annotated[np.ndarray, Array(3)]
    part: str = SOLE

    def require_consistent(self) -> None:
        if np.abs(self.rotation.T @ self.rotation - np.eye(3)).max() > ORTHONORMAL:
            raise InvalidValue(f"anchor {self.patch!r}: its matrix is not a rotation")
        if self.part not in PARTS:
            raise InvalidValue(f"anchor {self.patch!r}: part {self.part!r} is none of {', '.join(PARTS)}")

    def is_same_place(self, other: Anchor) -> bool:
        """Whether another anchor has its flat patch in the same place, whatever part of it touches."""
        difference = max(np.abs(self.position - other.position).max(), np.abs(self.rotation - other.rotation).max())
        return bool(difference <= SAME_PLACE)

    def points(self, rig: Rig) -> np.ndarray:
        """Corners (V, 3) [m] of the area that touches, world."""
        corners = (
            rig.patch(self.patch).vertices if self.part == SOLE else RollingSole.of(rig, self.patch).outline(self.part)
        )
        return corners @ self.rotation.T + self.position


@dataclass(frozen=True, slots=True)
class Phase:
    """A time interval in which the same patches carry load.

    Attributes:
        start, stop: [s].
        anchors: of the patches that carry load; none in flight.
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

    def has_same_contacts(self, other: Phase) -> bool:
        """Whether the same parts of the same patches are planted in the same places."""
        pairs = zip(self.anchors, other.anchors)
        return self.loaded == other.loaded and all(a.part == b.part and a.is_same_place(b) for a, b in pairs)

    def besides_soles(self, rig: Rig) -> tuple[str, ...]:
        """Loaded patches other than soles: hands, knees."""
        return tuple(name for name in self.loaded if not rig.patch(name).sole)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Contact phases one after another, without gap or overlap.

    Attributes:
        phases: at least one, in order of time. A frame on the boundary of two belongs to the later one.
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
        """A schedule of a single phase."""
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


def join_spans(phases: Iterable[Phase]) -> list[tuple[float, float]]:
    """Start and stop [s] of runs of phases that follow each other."""
    spans: list[tuple[float, float]] = []
    for phase in phases:
        if spans and abs(spans[-1][1] - phase.start) < 1e-9:
            spans[-1] = (spans[-1][0], phase.stop)
        else:
            spans.append((phase.start, phase.stop))
    return spans


def anchors_at(rig: Rig, q: np.ndarray, patches: Sequence[str] | None = None) -> tuple[Anchor, ...]:
    """Anchors of patches (all by default) in a posture q (nq,)."""
    from ..dynamics import link_poses  # schedules are read without a dynamics library

    rotations, origins = link_poses(rig, q)
    named = [(name, rig.index(rig.patch(name).link)) for name in (rig.patches if patches is None else patches)]
    return tuple(Anchor(name, rotations[link], origins[link]) for name, link in named)


def flat_on_ground(rig: Rig, anchor: Anchor, ground: float) -> Anchor:
    """The anchor with its patch made level by the least rotation, and moved vertically onto the ground.

    A sole is placed on the nearer of its two sides; any other patch (a palm, a knee) on its outward side.
    """
    patch = rig.patch(anchor.patch)
    corners = patch.vertices
    if patch.sole:
        up = anchor.rotation @ np.linalg.svd(corners - corners.mean(axis=0))[2][2]
        up = up * np.sign(up[2]) if up[2] else up
    else:
        up = -anchor.rotation @ patch.outward
    rotation = rotation_between(up, np.array([0.0, 0.0, 1.0])) @ anchor.rotation
    centre = anchor.rotation @ corners.mean(axis=0) + anchor.position
    position = centre - rotation @ corners.mean(axis=0)
    position[2] += ground - (rotation @ corners.mean(axis=0) + position)[2]
    return Anchor(anchor.patch, rotation, position)


def stance(rig: Rig, configuration: str, step: float | None = None, ground: float = 0.0) -> tuple[Anchor, ...]:
    """Feet planted flat in one of the four configurations, bonnet2016 Fig. 2.c and (17).

    The feet have the directions and the distance of the rig's neutral posture; if its legs are spread there, each foot
    is below its hip. In ``"right_forward"`` the right foot is ``step`` further ahead. Soles are level on the ground.

    Args:
        rig: with a left and a right sole.
        configuration: one of `FOOT_CONFIGURATIONS`.
        step: [m] in the direction the rig faces; `STEP_SHARE` of the sole's length by default.
        ground: [m] height of the floor.

    Raises:
        UnknownPreset: no such configuration.
        InvalidValue: the rig has no feet.
    """
    if configuration not in FOOT_CONFIGURATIONS:
        raise UnknownPreset(configuration, FOOT_CONFIGURATIONS)
    sides = rig.sides
    planted = (configuration,) if configuration in sides else ("right", "left")
    anchors = []
    for side in planted:
        (posed,) = anchors_at(rig, rig.neutral, (sides[side],))
        anchor = flat_on_ground(rig, posed, ground)
        shift = _below_hip(rig, sides[side], posed.points(rig))
        if configuration == "right_forward" and side == "right":
            shift += rig.forward * (STEP_SHARE * np.ptp(posed.points(rig) @ rig.forward) if step is None else step)
        anchors.append(Anchor(anchor.patch, anchor.rotation, anchor.position + shift))
    return tuple(anchors)


def _below_hip(rig: Rig, patch: str, points: np.ndarray) -> np.ndarray:
    """Sideways displacement (3,) [m] that brings a sole's points (V, 3) in the neutral posture below its hip.

    It is zero for a leg with less lean than `LARGEST_LEG_LEAN`.
    """
    link = rig.index(rig.patch(patch).link)
    if not link:
        return np.zeros(3)
    across = np.cross(rig.forward, [0.0, 0.0, 1.0])
    to_hip = rig.rest[1][rig.path(link)[0]] - points.mean(axis=0)
    sideways = float(to_hip @ across)
    return sideways * across if abs(sideways) > LARGEST_LEG_LEAN * abs(to_hip[2]) else np.zeros(3)
