"""Jumps: the root led so that the centre of mass flies its parabola, and pushes off and lands within the legs' reach.

An animator keys postures; between take-off and landing gravity alone decides where their centre of mass is. Where the
contact schedule leaves a body without contact, the root is displaced by splines, at rest where the jump's span ends:
first upwards, by the least that has the centre of mass fall with g in the air and never faster on the ground, with the
root as low as the planted legs need it; then sideways, by the least that has it go straight on in the air and that
keeps the zero-moment point within the support on the ground, which is linear once the height is known. Momentum about
the centre of mass, torques and collisions are left to who moves the rest of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.interpolate import make_interp_spline

from .. import qp
from ..check_options import CheckOptions
from ..contacts.schedule import Phase, Schedule
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.foot_poses import Rates, seen_from_root
from ..dynamics.legs import Leg
from ..dynamics.mechanics import Mechanics
from ..errors import InvalidValue
from ..rig import GRAVITY, ROOT_NV, Rig
from .curve import DEGREE, FlatCurve, sample_times, through_states
from .displacement import EVENNESS
from .limits import TrajectoryLimits
from .planted_feet import PlantedTrajectory
from .splines import AT_REST, Basis, UnevenSpline, around_flights

AROUND = 1.0
"""[s] before take-off and after landing within which the root may be moved, up to where the next jump's span begins."""
SPACING, CLOSE = 0.1, 0.025
"""[s] between the knots of the displacement, at most and at take-off and landing: a repair's, which may undo it."""
RATE = 100.0
"""[1/s] of the samples."""
RISES, TRIED, HALVED = (-0.5, 0.2), 15, 7
"""Shares of the root's height, from the lowest to the highest rise that is tried for the legs' reach; the lowest and
the highest with which they reach are found by so many halvings between two of these.
"""
BEHIND, NEAR = (0.11, 0.18), 0.08
"""Shares of g T^2, where T is the time in the air, of room that is left the legs at take-off, where feet fall behind,
and the time [s] around it in which it is left: knees that are bent more turn more slowly there, and faster in the air.
The share is taken whose motion is nearer to its limits: for people the larger one, for a robot of slow knees the other.
"""
MERGED = 1e-4
"""[s] Samples that are nearer to each other are one: splines through them would swing."""
SAMPLED = 250.0
"""[1/s] of the samples that the led curve goes through."""
PRESSED, PUSHED = 0.02, 2.5
"""Of the weight: the floor pushes at least and at most so much, if it can."""
BENT = 2.0
"""Regularity of planted legs (`Leg.regularity`) up to which they may be stretched: knees turn quickly beyond."""
UNIT = 0.01
"""[m] that counts as one."""
ACCURATE, PENALTY = 1e4, 100.0
"""Worth of the weight missing in the air at one sample, squared, and of one unit beyond a limit."""
BACKEND = qp.SPARSE
Reaches = Callable[[np.ndarray], np.ndarray]


def longest_flight(rig: Rig) -> float:
    """[s] between two stances beyond which no legs could throw a body: as high as half of how high its root stands."""
    return float(np.sqrt(4.0 * rig.leg_length / GRAVITY))


def airborne_spans(schedule: Schedule, start: float = -np.inf, stop: float = np.inf) -> list[tuple[float, float]]:
    """Start and stop [s] of each flight within a span of time: something stands before it and after it."""
    start, stop = max(start, schedule.start), min(stop, schedule.stop)
    spans: list[tuple[float, float]] = []
    for phase in schedule.phases:
        if not phase.airborne:
            continue
        if spans and abs(spans[-1][1] - phase.start) < 1e-9:
            spans[-1] = (spans[-1][0], phase.stop)
        else:
            spans.append((phase.start, phase.stop))
    return [(a, b) for a, b in spans if a > start and b < stop]


@dataclass(frozen=True, slots=True)
class _Span:
    """A jump, or several that are too near to each other to be apart, at samples.

    Attributes:
        start: [s].
        spline: of the displacement, at rest at both ends.
        times: (N,) [s].
        phases: (N,) of the schedule.
        corners: [s] of take-offs and landings.
        kept: [s] where the root must not be displaced.
    """

    start: float
    spline: UnevenSpline
    times: np.ndarray
    phases: tuple[Phase, ...]
    corners: tuple[float, ...]
    kept: tuple[float, ...]

    @property
    def flies(self) -> np.ndarray:
        """(N,) True in the air, from the last instant on the floor to the first."""
        flies = np.array([phase.airborne for phase in self.phases])
        return flies | np.isin(self.times, self.corners)

    def basis(self, times: np.ndarray) -> Basis:
        """Of the displacement at times inside."""
        return self.spline.basis(np.clip(times - self.start, 0.0, self.spline.duration))


def ballistic(
    rig: Rig, curve: FlatCurve, schedule: Schedule, checks: CheckOptions, kept: Sequence[tuple[float, np.ndarray]] = ()
) -> FlatCurve:
    """The curve with its root led through its jumps; itself where it has none.

    Args:
        rig: with feet.
        curve: in flat coordinates.
        schedule: of the contacts.
        checks: what the dance is held to.
        kept: (time, q) of postures that must come out exactly.

    Raises:
        InvalidValue: hands or knees carry before or after a flight.
    """
    _require_feet(rig, schedule)
    met = [time for time, _ in kept]
    for span in _spans(curve, schedule, met):
        ways = _led(PlantedTrajectory(rig, curve, schedule, kept), checks, span)
        trials = [PlantedTrajectory(rig, _displaced(curve, span, moves, met), schedule, kept) for moves in ways]
        curve = min(trials, key=lambda trial: _beyond(trial, checks, span)).curve
    return curve


def _displaced(curve: FlatCurve, span: _Span, moves: np.ndarray, met: Sequence[float]) -> FlatCurve:
    """A curve with its root displaced in a span by control values (C, 3)."""
    times = _with(sample_times(curve.start, curve.stop, SAMPLED), [*span.corners, *met])
    inside = (times >= span.times[0]) & (times <= span.times[-1])
    rates = curve.at(times)
    basis = span.basis(times[inside])
    for part, own in zip(rates, (basis.position, basis.velocity, basis.acceleration)):
        part[inside, :3] += own @ moves
    return FlatCurve(through_states(times, np.stack(rates, axis=1)), curve.start, curve.stop)


def _beyond(trajectory: PlantedTrajectory, checks: CheckOptions, span: _Span) -> float:
    """How far a trajectory is beyond its limits in a span."""
    limits = TrajectoryLimits(trajectory, checks, 1.0)
    try:
        return limits.values(span.times, trajectory.curve.at(span.times)).violation
    except InvalidValue:
        return np.inf  # a leg stretched all the way has rates beyond all measure


def _require_feet(rig: Rig, schedule: Schedule) -> None:
    for before, after in pairwise(schedule.phases):
        ground = after if before.airborne else before
        if before.airborne != after.airborne and (others := ground.besides_soles(rig)):
            what = "lands on" if before.airborne else "takes off from"
            raise InvalidValue(
                f"the jump at {after.start:.2f} s {what} {', '.join(others)}: jumps are repaired from feet to feet; "
                "end the strips of hands and knees before it and begin them after it, or check the dance as it is"
            )


def _with(times: np.ndarray, also: Sequence[float]) -> np.ndarray:
    """Times and those also wanted, which stand for those next to them."""
    wanted = np.unique(also)
    return np.sort(
        np.concatenate([times[np.abs(times[:, None] - wanted).min(axis=1, initial=np.inf) > MERGED], wanted])
    )


def _spans(curve: FlatCurve, schedule: Schedule, kept: Sequence[float]) -> list[_Span]:
    merged: list[list[float]] = []
    for take_off, landing in airborne_spans(schedule, curve.start, curve.stop):
        start, stop = max(curve.start, take_off - AROUND), min(curve.stop, landing + AROUND)
        if merged and start < merged[-1][1]:
            merged[-1][1] = stop
        else:
            merged.append([start, stop])
    result = []
    for start, stop in merged:
        duration = stop - start
        flights = airborne_spans(schedule, start, stop)
        corners = tuple(t for flight in flights for t in flight)
        times = _with(sample_times(start, stop, RATE), corners)
        phases = tuple(schedule.phases[k] for k in schedule.index_at(times))
        spline = around_flights(duration, SPACING, [(a - start, b - start) for a, b in flights], CLOSE)
        result.append(_Span(start, spline, times, phases, corners, tuple(t for t in kept if start < t < stop)))
    return result


def _led(trajectory: PlantedTrajectory, checks: CheckOptions, span: _Span) -> list[np.ndarray]:
    """Control values (C, 3) of the root's displacement in a span, with the legs as keyed: they may not reach yet.

    One for every room that may be left the legs at take-off and landing, see `BEHIND`.
    """
    rig, curve, schedule, times = trajectory.rig, trajectory.curve, trajectory.schedule, span.times
    com = make_interp_spline(times, Mechanics(rig).centres_of_mass(curve.motion(rig, times).q), k=DEGREE)
    places, bends = com(times), com(times, 2)
    programme = _Leading(span)
    known: dict[int, SupportPolygon] = {}
    polygons = []
    for phase in span.phases:
        if phase.anchors and id(phase) not in known:
            known[id(phase)] = support_polygon(rig, phase.anchors, checks.shrink)
        polygons.append(known.get(id(phase)))
    room, found = _room(trajectory, span), []
    for behind in BEHIND:
        rise = programme.upwards(bends[:, 2], _left(room, schedule, times, behind))
        height = places[:, 2] + programme.basis.position @ rise - schedule.ground
        press = bends[:, 2] + programme.basis.acceleration @ rise + GRAVITY
        aside = programme.sideways((places, bends), (height, press), polygons, checks.balance_reserve)
        found.append(np.column_stack([aside, rise]))
    return found


def _room(trajectory: PlantedTrajectory, span: _Span) -> np.ndarray:
    """(N, 2) [m] least and largest rise of the root with which the planted legs reach bent; infinite in the air."""
    rates = trajectory.curve.at(span.times)
    loaded = [set(phase.loaded) for phase in span.phases]
    room = np.tile([-np.inf, np.inf], (len(span.times), 1))
    for leg, foot in zip(trajectory.solved, trajectory.feet_at(span.times)):
        stands = np.flatnonzero([leg.patch in patches for patches in loaded])
        root = rates[0][stands, :ROOT_NV], rates[1][stands, :ROOT_NV], rates[2][stands, :ROOT_NV]
        own = foot[0][stands], foot[1][stands], foot[2][stands]
        least, most = _rises(leg, root, own, trajectory.rig.leg_length)
        room[stands] = np.column_stack([np.maximum(room[stands, 0], least), np.minimum(room[stands, 1], most)])
    return room


def _left(room: np.ndarray, schedule: Schedule, times: np.ndarray, behind: float) -> np.ndarray:
    """Room (N, 2) [m] at times (N,) with some taken near every flight, `behind` of g T^2."""
    left = np.array(room)
    for take_off, landing in airborne_spans(schedule, float(times[0]), float(times[-1])):
        near = (np.abs(times - take_off) < NEAR) | (np.abs(times - landing) < NEAR)
        left[near, 1] -= behind * GRAVITY * (landing - take_off) ** 2
    return left


def _rises(leg: Leg, root: Rates, foot: Rates, height: float) -> tuple[np.ndarray, np.ndarray]:
    """(N,) [m] least and largest rise of a root (N, 6), as high as that, with which a leg reaches its foot (N, 6)."""

    def reaches(rise: np.ndarray) -> np.ndarray:
        raised = root[0] + rise[:, None] * np.eye(ROOT_NV)[2]
        pose = seen_from_root((raised, root[1], root[2]), foot)
        x, good = leg.solve(pose.rotation, pose.position, np.tile(leg.bent, (len(raised), 1)))
        inside = ((x >= leg.lower) & (x <= leg.upper)).all(axis=1)
        return good & inside & (leg.regularity(x) >= BENT)

    rises = np.linspace(*RISES, TRIED) * height
    reached = np.array([reaches(np.full(len(root[0]), rise)) for rise in rises])
    some = reached.any(axis=0)
    least = np.where(some, rises[np.argmax(reached, axis=0)], rises[0])
    most = np.where(some, rises[len(rises) - 1 - np.argmax(reached[::-1], axis=0)], rises[0])
    step = rises[1] - rises[0]
    return _farthest(reaches, some, least, -step), _farthest(reaches, some, most, step)


def _farthest(reaches: Reaches, some: np.ndarray, near: np.ndarray, step: float) -> np.ndarray:
    """(N,) [m] the last rise that is reached between one (N,) where some are, and one a step farther where none is."""
    beyond = near + step
    for _ in range(HALVED):
        middle = 0.5 * (near + beyond)
        reached = some & reaches(middle)
        near, beyond = np.where(reached, middle, near), np.where(reached, beyond, middle)
    return near


class _Leading:
    """Least displacements of the root in one span, by quadratic programmes."""

    def __init__(self, span: _Span) -> None:
        inner = slice(AT_REST, -AT_REST)
        self._flies = span.flies
        whole = span.basis(span.times)
        self.basis = whole
        self._inner = (whole.position[:, inner], whole.acceleration[:, inner])
        bend = EVENNESS**2 * whole.acceleration[:, inner]
        self._metric = (self._inner[0].T @ self._inner[0] + bend.T @ bend) / len(span.times)
        self._fixed = span.basis(np.array(span.kept)).position[:, inner]

    def upwards(self, bends: np.ndarray, room: np.ndarray) -> np.ndarray:
        """(C,) control values of the root's height.

        Args:
            bends: (N,) [m/s^2] second derivative of the centre of mass as it is.
            room: (N, 2) [m] least and largest rise of the root.
        """
        value, bend = self._inner
        stands = ~self._flies
        falling = (bend[self._flies] / GRAVITY, -bends[self._flies] / GRAVITY - 1.0)
        force = (1.0 + bends[stands] / GRAVITY, bend[stands] / GRAVITY)
        limits = [
            (force[1], PRESSED - force[0]),
            (-force[1], force[0] - PUSHED),
            (-value[stands] / UNIT, -room[stands, 1] / UNIT),
            (value[stands] / UNIT, room[stands, 0] / UNIT),
        ]
        return self._least(falling, np.concatenate([a for a, _ in limits]), np.concatenate([b for _, b in limits]))

    def sideways(
        self,
        com: tuple[np.ndarray, np.ndarray],
        vertical: tuple[np.ndarray, np.ndarray],
        polygons: Sequence[SupportPolygon | None],
        reserve: float,
    ) -> np.ndarray:
        """(C, 2) control values of the root's place.

        Args:
            com: (N, 3) [m] and [m/s^2] of the centre of mass as it is.
            vertical: its height (N,) [m] over the floor, and the force (N,) [m/s^2] that pushes a unit of mass, as
                they will be.
            polygons: N, of support; None in the air.
            reserve: [m] to stay inside.
        """
        value, bend = self._inner
        (places, bends), (height, press) = com, vertical
        none = np.zeros_like(bend[self._flies])
        straight = (
            np.block([[bend[self._flies], none], [none, bend[self._flies]]]) / GRAVITY,
            -bends[self._flies, :2].T.ravel() / GRAVITY,
        )
        rows, least = [], []
        for k, polygon in enumerate(polygons):
            if polygon is None:
                continue
            # times the force, the distance of the zero-moment point inside each edge is linear in the displacement
            moved = press[k] * value[k] - height[k] * bend[k]
            at = press[k] * places[k, :2] - height[k] * bends[k, :2]
            rows.append(np.concatenate([polygon.normals[:, :1] * moved, polygon.normals[:, 1:] * moved], axis=1))
            least.append((polygon.offsets + reserve) * press[k] - polygon.normals @ at)
        scale = UNIT * GRAVITY
        return self._least(straight, np.concatenate(rows) / scale, np.concatenate(least) / scale, 2).reshape(2, -1).T

    def _least(
        self, wanted: tuple[np.ndarray, np.ndarray], matrix: np.ndarray, least: np.ndarray, axes: int = 1
    ) -> np.ndarray:
        """(axes C,) control values: least in the metric, wanted rows met, matrix @ x >= least wherever it can be."""
        m, count = axes * self._metric.shape[0], len(least)
        metric = np.kron(np.eye(axes), self._metric) / UNIT**2
        square = metric + ACCURATE * wanted[0].T @ wanted[0]
        fixed = np.kron(np.eye(axes), self._fixed)
        rows = sparse.block_array(
            [[sparse.csr_array(matrix), sparse.eye_array(count)], [sparse.csr_array(fixed), None]]
            if len(fixed)
            else [[sparse.csr_array(matrix), sparse.eye_array(count)]]
        )
        none = np.zeros(len(fixed))
        solution = qp.solve(
            qp.Problem(
                sparse.block_diag([square, sparse.csc_array((count, count))], "csc"),
                np.concatenate([-ACCURATE * wanted[0].T @ wanted[1], np.full(count, PENALTY)]),
                qp.Rows(
                    sparse.csr_array(rows),
                    np.concatenate([least, none]),
                    np.concatenate([np.full(count, np.inf), none]),
                    ("limit",) * count + ("kept posture",) * len(none),
                ),
                np.concatenate([np.full(m, -np.inf), np.zeros(count)]),
                np.full(m + count, np.inf),
            ),
            BACKEND,
        )
        found = np.zeros((axes, self._metric.shape[0] + 2 * AT_REST))
        if solution.usable:  # else nothing is displaced, and what repairs the jump begins where it was keyed
            found[:, AT_REST:-AT_REST] = solution.x[:m].reshape(axes, -1)
        return found.ravel()
