"""All checks of a motion, or of one frame while scrubbing: bonnet2016 (2), (14) to (20)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..contacts.schedule import Phase, Schedule, patch_names, require_contacts
from ..coordinates import Curves, coordinate_links, coordinate_names
from ..dynamics.kinematics import check_motion as require_motion_of
from ..dynamics.mechanics import Mechanics
from ..errors import InvalidValue
from ..motion import Motion
from ..pinocchio_loader import pin
from ..rig import Rig
from .balance import foot_wrenches, joint_torques, shares, zero_moment_point
from .collisions import CollisionDetector, NearPairs
from .ground import GroundMargins, PlantedPhase, ground_margins
from .joints import angle_margins, speed_margins, torque_margins, unlimited
from .margins import Checks, Margin
from .options import CheckOptions
from .twist import twist_margins

CHUNK = 512
"""Frames treated at once: bounds the memory of a long dance."""
COMFORTABLE = 0.1
"""A margin of this share of a limit, of this angle in rad or of this share of the sole is comfortable."""

APART = 0.01
"""A distance of this share of the body's extent is comfortable."""
OFF_THE_FLOOR = 0.02
"""[m] A sole planted farther from the floor does not stand on it: the ZMP would be wrong."""


def check_motion(rig: Rig, motion: Motion, schedule: Schedule, options: CheckOptions | None = None) -> Checks:
    """Check a motion against its contact schedule: every margin in every frame.

    The checks are ``"joint angle"`` [rad], ``"joint speed"`` [rad/s], ``"joint torque"`` [share of the limit left],
    ``"zmp"`` [m to the border of the support polygon], ``"friction"``, ``"twist"`` and ``"unilateral"`` [share of the
    weight],
    ``"slip"`` and ``"placement"`` [m], ``"flight"`` [share of the weight], ``"self-collision"`` and ``"floor"`` [m].

    Raises:
        InvalidValue: a rig without contact patches, a motion of another rig or outside the schedule, a support
            polygon without area, feet planted off the floor. What fails a check is data, not an error.
    """
    return FrameChecker(rig, schedule, options).check_frames(motion)


class FrameChecker:
    """The checks with everything prepared that does not depend on the frame.

    Args:
        rig: L links, F contact patches.
        schedule: when which patch stands where.
        options: `CheckOptions()` by default.

    Attributes:
        notes: what cannot be checked on this rig, and why.
    """

    def __init__(self, rig: Rig, schedule: Schedule, options: CheckOptions | None = None) -> None:
        require_contacts(rig)
        self.rig, self.options = rig, CheckOptions() if options is None else options
        self._mechanics = Mechanics(rig)
        self._detector = CollisionDetector(rig, self.options)
        self._names, self._links = coordinate_names(rig), coordinate_links(rig)
        self._weight = rig.prior.total_mass * float(np.linalg.norm(rig.model.gravity.linear))
        self._size = _extent(rig)
        self.notes = (*unlimited(rig), *self._detector.notes)
        self.schedule = schedule
        self._planted: dict[int, PlantedPhase] = {}

    def with_schedule(self, schedule: Schedule) -> FrameChecker:
        """This checker (the same object) with another schedule."""
        self.schedule, self._planted = schedule, {}
        return self

    def check(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, time: float) -> Checks:
        """One frame: q (nq,), v (nv,), a (nv,) at a time [s]; the result has N = 1."""
        return self.check_frames(Motion(np.array([time]), q[None], v[None], a[None]))

    def check_frames(self, motion: Motion) -> Checks:
        """A whole motion; see `check_motion`."""
        require_motion_of(self.rig, motion)
        count = len(motion)
        ground: list[GroundMargins] = []
        floor = np.empty((count, len(self.rig.links)))
        com, wrench = np.empty((count, 3)), np.empty((count, 6))
        loaded = np.zeros((count, len(self.rig.contacts)), bool)
        near: list[NearPairs] = []
        for start, stop, planted_phase in self._pieces(motion.times):
            cut = slice(start, stop)
            state = self._mechanics.state(motion.q[cut], motion.v[cut], motion.a[cut])
            level = self.schedule.ground
            ground.append(ground_margins(self.rig, state, planted_phase, self.options, level, self._weight, self._size))
            floor[cut] = self._detector.floor_distances(state.rotation, state.position, level)
            floor[cut, [self.rig.index(link) for link in planted_phase.links]] = np.inf  # they stand on it
            found = self._detector.near_pairs(motion.q[cut], state.rotation, state.position)
            near.append(NearPairs(found.frames + start, found.pairs, found.distances))
            com[cut], wrench[cut] = state.com, state.wrench
            loaded[cut, planted_phase.columns] = True
        joined = _joined(ground)
        margins = (*self._joint_margins(motion, joined.torques), *self._ground(joined), *self._contacts(near, floor))
        return Checks(
            motion.times, margins, self.schedule, patch_names(self.rig), loaded, joined.zmp, com, wrench, joined.loads,
            joined.torques, self.notes,
        )  # fmt: skip

    def loads(self, curves: Curves, phase: Phase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joint torques (N, nv - 6) [N m], zero-moment points (N, 2) [m], least margins of twist (N,) of one phase."""
        planted = PlantedPhase.of(self.rig, phase, self.options)
        torques, zmp, twist = [], [], []
        for first in range(0, len(curves.q), CHUNK):
            cut = slice(first, first + CHUNK)
            state = self._mechanics.state(curves.q[cut], curves.v[cut], curves.a[cut])
            points = zero_moment_point(state.wrench, 0.0, self._weight)
            share = shares(points, planted.centres[:, :2], self.options.distribution)
            loads = foot_wrenches(state.wrench, share, planted.centres)
            torques.append(joint_torques(self.rig, state, planted.links, loads))
            held = twist_margins(
                loads, planted.centres, planted.axes, planted.halves, self.options.friction, self._weight
            )
            zmp.append(points)
            twist.append(held.min(axis=1))
        return np.concatenate(torques), np.concatenate(zmp), np.concatenate(twist)

    def _pieces(self, times: np.ndarray) -> Iterator[tuple[int, int, PlantedPhase]]:
        phases = self.schedule.index_at(times)
        starts = np.flatnonzero(np.diff(phases, prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(times)]):
            planted_phase = self._planted_phase(int(phases[first]))
            for start in range(first, last, CHUNK):
                yield start, min(start + CHUNK, last), planted_phase

    def _planted_phase(self, number: int) -> PlantedPhase:
        if number not in self._planted:
            planted_phase = PlantedPhase.of(self.rig, self.schedule.phases[number], self.options)
            for anchor, height in zip(planted_phase.phase.anchors, planted_phase.centres[:, 2] - self.schedule.ground):
                if abs(height) > OFF_THE_FLOOR:
                    raise InvalidValue(
                        f"patch {anchor.patch!r} is planted {height:+.3f} m off the floor at "
                        f"{self.schedule.ground:g} m: move the rig or the schedule's ground"
                    )
            self._planted[number] = planted_phase
        return self._planted[number]

    def _joint_margins(self, motion: Motion, torques: np.ndarray) -> list[Margin]:
        if not self._names:
            return []
        fastest = self.rig.limits.speed[np.isfinite(self.rig.limits.speed)].max(initial=0.0)
        names, links = self._names, self._links
        angle, speed = angle_margins(self.rig, motion.q), speed_margins(self.rig, motion.v)
        torque = torque_margins(self.rig, torques)
        return [
            self._margin("joint angle", "rad", names, links, angle, COMFORTABLE),
            self._margin("joint speed", "rad/s", names, links, speed, COMFORTABLE * (fastest or 1.0)),
            self._margin("joint torque", "of the limit", names, links, torque, COMFORTABLE),
        ]

    def _ground(self, margins: GroundMargins) -> list[Margin]:
        patches = patch_names(self.rig)
        links = tuple((patch.link,) for patch in self.rig.contacts)
        feet = (tuple(link for patch in links for link in patch),)
        sole = max(float(np.ptp(patch.vertices, axis=0).max()) for patch in self.rig.contacts)
        exact = self.options.allowed_slip + self.options.tolerance
        flight = self.options.flight + self.options.tolerance
        whole = (self.rig.links[:1],)
        balance, placement, airborne = (
            values[:, None] for values in (margins.balance, margins.placement, margins.flight)
        )
        return [
            self._margin("zmp", "m", ("support polygon",), feet, balance, COMFORTABLE * sole),
            self._margin("friction", "of the weight", patches, links, margins.friction, COMFORTABLE),
            self._margin("twist", "of the weight", patches, links, margins.twist, COMFORTABLE),
            self._margin("unilateral", "of the weight", patches, links, margins.unilateral, COMFORTABLE),
            self._margin("slip", "m", patches, links, margins.slip, exact),
            self._margin("placement", "m", ("feet",), feet, placement, exact),
            self._margin("flight", "of the weight", ("ballistic motion",), whole, airborne, flight),
        ]

    def _contacts(self, near: list[NearPairs], floor: np.ndarray) -> list[Margin]:
        frames, pairs, distances = (
            np.concatenate([getattr(piece, part) for piece in near]) for part in ("frames", "pairs", "distances")
        )
        seen, columns = np.unique(pairs, return_inverse=True)
        values = np.full((len(floor), max(len(seen), 1)), self.options.reach)
        np.minimum.at(values, (frames, columns.reshape(-1)), distances)
        links = tuple(self._detector.pairs[number] for number in seen) or ((),)
        items = tuple(f"{pair[0]} and {pair[1]}" if pair else "no pair within reach" for pair in links)
        own = tuple((link,) for link in self.rig.links)
        apart = min(self.options.reach, APART * self._size)
        return [
            self._margin("self-collision", "m", items, links, values - self.options.clearance, apart),
            self._margin("floor", "m", self.rig.links, own, floor, apart),
        ]

    def _margin(
        self,
        name: str,
        unit: str,
        items: tuple[str, ...],
        links: tuple[tuple[str, ...], ...],
        values: np.ndarray,
        scale: float,
    ) -> Margin:
        return Margin(name, unit, items, links, values, max(scale, 1e-9), self.options.tolerance)


def _joined(pieces: list[GroundMargins]) -> GroundMargins:
    if not pieces:
        raise InvalidValue("a motion without frames cannot be checked")
    if len(pieces) == 1:
        return pieces[0]
    names = GroundMargins.__dataclass_fields__
    return GroundMargins(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in names))


def _extent(rig: Rig) -> float:
    """[m] diagonal of the box around the joint centres of the neutral posture."""
    data = rig.model.createData()
    pin.forwardKinematics(rig.model, data, rig.neutral)
    centres = np.array([data.oMi[joint].translation for joint in range(1, rig.model.njoints)])
    return float(np.linalg.norm(np.ptp(centres, axis=0))) or 1.0
