"""Ballistic flights: displaces the root so that the centre of mass follows a parabola in the air.

Between take-off and landing gravity determines the path of the centre of mass, whatever postures were keyed. Around
each flight of the contact schedule the root is displaced by splines, at rest at the ends of the window:

1. vertically, by the smallest displacement with free fall in the air and, on the ground, an upward contact force and
   planted legs that reach;
2. horizontally, by the smallest displacement with constant velocity in the air and, on the ground, the zero-moment
   point in the support polygon. This is linear once the height is known.

Angular momentum, torques and collisions are left to the repair of the whole body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.interpolate import make_interp_spline

from .. import qp
from ..base.errors import InvalidValue
from ..contacts.schedule import Phase, Schedule, join_spans
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.foot_motion import Rates, motion_relative_to_root
from ..dynamics.legs import Leg
from ..dynamics.mechanics import Mechanics
from ..options.authoring import SMOOTHING_TIME
from ..options.checks import CheckOptions
from ..skeleton.rig import GRAVITY, ROOT_NV, Rig
from .curve import DEGREE, FlatCurve, polynomial_through_states, sample_times
from .planted_feet import PlantedTrajectory
from .splines import REST_CONTROLS, Basis, UnevenSpline, spline_around_flights
from .trajectory_limits import TrajectoryLimits

FLIGHT_WINDOW = 1.0
"""[s] before take-off and after landing in which the root may move, up to the window of the next flight."""
KNOT_SPACING, FLIGHT_SPACING = 0.1, 0.025
"""[s] largest knot spacing of the displacement, and that at take-off and landing. They equal those of a repair, so that
it can undo the displacement."""
SAMPLE_RATE = 100.0
"""[1/s] of the samples."""
RISE_RANGE, RISE_TRIALS, BISECTIONS = (-0.5, 0.2), 15, 7
"""Range of the rises of the root that are tried for the legs' reach, as shares of the leg length; number of trials; and
bisections between two trials for the lowest and highest rise with which the legs reach."""
LEG_RESERVES, RESERVE_TIME = (0.11, 0.18), 0.08
"""Leg length that is kept in reserve at take-off, as shares of g T^2 with the time T in the air; and the time [s]
around take-off and landing in which it is kept. With more bent knees, knee speeds are lower at take-off and higher in
the air. The share with the smaller violations is used: the larger one for people, the other for robots with slow knees.
"""
MERGE_TIME = 1e-4
"""[s] Samples that are nearer to each other are merged, because splines through them would oscillate."""
CURVE_RATE = 250.0
"""[1/s] of the samples that the displaced curve interpolates."""
MIN_FORCE, MAX_FORCE = 0.02, 2.5
"""Smallest and largest contact force over the weight, if feasible."""
MIN_REGULARITY = 2.0
"""Smallest regularity of planted legs (`Leg.regularity`). Below it knees move fast."""
LENGTH_UNIT = 0.01
"""[m] Unit of length in the quadratic programs."""
ACCURATE, PENALTY = 1e4, 100.0
"""Worth of the weight missing in the air at one sample, squared, and of one unit beyond a limit."""
BACKEND = qp.SPARSE
ReachTest = Callable[[np.ndarray], np.ndarray]


def max_flight_duration(rig: Rig) -> float:
    """Longest plausible flight [s]: a jump by half the leg length."""
    return float(np.sqrt(4.0 * rig.leg_length / GRAVITY))


def find_flights(schedule: Schedule, start: float = -np.inf, stop: float = np.inf) -> list[tuple[float, float]]:
    """Start and stop [s] of each flight within an interval, with contact before and after it."""
    start, stop = max(start, schedule.start), min(stop, schedule.stop)
    spans = join_spans(phase for phase in schedule.phases if phase.airborne)
    return [(a, b) for a, b in spans if a > start and b < stop]


@dataclass(frozen=True, slots=True)
class _FlightWindow:
    """An interval around one flight, or around several that are close to each other, with samples.

    Attributes:
        start: [s].
        spline: spline space of the displacement, at rest at both ends.
        times: (N,) [s].
        phases: (N,) of the schedule.
        events: [s] take-offs and landings.
        fixed_times: [s] at which the root must not be displaced.
    """

    start: float
    spline: UnevenSpline
    times: np.ndarray
    phases: tuple[Phase, ...]
    events: tuple[float, ...]
    fixed_times: tuple[float, ...]

    @property
    def is_airborne(self) -> np.ndarray:
        """(N,) True in the air, including take-off and landing."""
        return np.array([phase.airborne for phase in self.phases]) | np.isin(self.times, self.events)

    def displacement_basis(self, times: np.ndarray) -> Basis:
        """Basis of the displacement at times (N,) in the window."""
        return self.spline.basis(np.clip(times - self.start, 0.0, self.spline.duration))


def make_flights_ballistic(
    rig: Rig, curve: FlatCurve, schedule: Schedule, checks: CheckOptions, fixed: Sequence[tuple[float, np.ndarray]] = ()
) -> FlatCurve:
    """The curve with ballistic flights; unchanged without flights.

    Args:
        rig: with feet.
        curve: in flat coordinates.
        schedule: of the contacts.
        checks: options of the checks that the dance must satisfy.
        fixed: (time, q) of postures to be met exactly.

    Raises:
        InvalidValue: hands or knees carry load directly before or after a flight.
    """
    _require_feet(rig, schedule)
    met = [time for time, _ in fixed]
    for span in _flight_windows(curve, schedule, met):
        ways = _root_displacements(PlantedTrajectory(rig, curve, schedule, fixed), checks, span)
        trials = [PlantedTrajectory(rig, _displace_root(curve, span, moves, met), schedule, fixed) for moves in ways]
        curve = min(trials, key=lambda trial: _violation(trial, checks, span)).curve
    return curve


def _displace_root(
    curve: FlatCurve, window: _FlightWindow, control: np.ndarray, fixed_times: Sequence[float]
) -> FlatCurve:
    """A curve with its root displaced in a window by control values (C, 3)."""
    times = _merge_times(sample_times(curve.start, curve.stop, CURVE_RATE), [*window.events, *fixed_times])
    inside = (times >= window.times[0]) & (times <= window.times[-1])
    rates = curve.at(times)
    basis = window.displacement_basis(times[inside])
    for part, own in zip(rates, (basis.position, basis.velocity, basis.acceleration)):
        part[inside, :3] += own @ control
    return FlatCurve(polynomial_through_states(times, np.stack(rates, axis=1)), curve.start, curve.stop)


def _violation(trajectory: PlantedTrajectory, checks: CheckOptions, window: _FlightWindow) -> float:
    """Sum of a trajectory's violations in a window."""
    limits = TrajectoryLimits(trajectory, checks, 1.0)
    try:
        return limits.values(window.times, trajectory.curve.at(window.times)).violation
    except InvalidValue:
        return np.inf  # a stretched leg has unbounded rates


def _require_feet(rig: Rig, schedule: Schedule) -> None:
    for before, after in pairwise(schedule.phases):
        ground = after if before.airborne else before
        if before.airborne != after.airborne and (others := ground.besides_soles(rig)):
            what = "lands on" if before.airborne else "takes off from"
            raise InvalidValue(
                f"the jump at {after.start:.2f} s {what} {', '.join(others)}: only jumps from feet to feet can be "
                "repaired; end the strips of hands and knees before it and begin them after it, or check the dance as "
                "it is"
            )


def _merge_times(times: np.ndarray, extra: Sequence[float]) -> np.ndarray:
    """Sorted times with extra ones, which replace times next to them."""
    wanted = np.unique(extra)
    return np.sort(
        np.concatenate([times[np.abs(times[:, None] - wanted).min(axis=1, initial=np.inf) > MERGE_TIME], wanted])
    )


def _flight_windows(curve: FlatCurve, schedule: Schedule, fixed_times: Sequence[float]) -> list[_FlightWindow]:
    merged: list[list[float]] = []
    for take_off, landing in find_flights(schedule, curve.start, curve.stop):
        start, stop = max(curve.start, take_off - FLIGHT_WINDOW), min(curve.stop, landing + FLIGHT_WINDOW)
        if merged and start < merged[-1][1]:
            merged[-1][1] = stop
        else:
            merged.append([start, stop])
    result = []
    for start, stop in merged:
        duration = stop - start
        flights = find_flights(schedule, start, stop)
        corners = tuple(t for flight in flights for t in flight)
        times = _merge_times(sample_times(start, stop, SAMPLE_RATE), corners)
        phases = tuple(schedule.phases[k] for k in schedule.index_at(times))
        spline = spline_around_flights(
            duration, KNOT_SPACING, [(a - start, b - start) for a, b in flights], FLIGHT_SPACING
        )
        result.append(
            _FlightWindow(start, spline, times, phases, corners, tuple(t for t in fixed_times if start < t < stop))
        )
    return result


def _root_displacements(trajectory: PlantedTrajectory, checks: CheckOptions, window: _FlightWindow) -> list[np.ndarray]:
    """Control values (C, 3) of the root's displacement in a window, one for each of `LEG_RESERVES`.

    The legs are as keyed and may not reach yet.
    """
    rig, curve, schedule, times = trajectory.rig, trajectory.curve, trajectory.schedule, window.times
    com = make_interp_spline(times, Mechanics(rig).compute_coms(curve.motion(rig, times).q), k=DEGREE)
    places, bends = com(times), com(times, 2)
    problem = _RootProblem(window)
    known: dict[int, SupportPolygon] = {}
    polygons = []
    for phase in window.phases:
        if phase.anchors and id(phase) not in known:
            known[id(phase)] = support_polygon(rig, phase.anchors, checks.shrink)
        polygons.append(known.get(id(phase)))
    room, found = _leg_range(trajectory, window), []
    for behind in LEG_RESERVES:
        rise = problem.solve_vertical(bends[:, 2], _reduce_leg_range(room, schedule, times, behind))
        height = places[:, 2] + problem.basis.position @ rise - schedule.ground
        press = bends[:, 2] + problem.basis.acceleration @ rise + GRAVITY
        horizontal = problem.solve_horizontal((places, bends), (height, press), polygons, checks.balance_reserve)
        found.append(np.column_stack([horizontal, rise]))
    return found


def _leg_range(trajectory: PlantedTrajectory, window: _FlightWindow) -> np.ndarray:
    """(N, 2) [m] smallest and largest rise of the root with which the planted legs reach, bent; infinite in the air."""
    rates = trajectory.curve.at(window.times)
    loaded = [set(phase.loaded) for phase in window.phases]
    room = np.tile([-np.inf, np.inf], (len(window.times), 1))
    for leg, foot in zip(trajectory.solved_legs, trajectory.foot_poses(window.times)):
        stands = np.flatnonzero([leg.patch in patches for patches in loaded])
        root = rates[0][stands, :ROOT_NV], rates[1][stands, :ROOT_NV], rates[2][stands, :ROOT_NV]
        own = foot[0][stands], foot[1][stands], foot[2][stands]
        least, most = _rise_limits(leg, root, own, trajectory.rig.leg_length)
        room[stands] = np.column_stack([np.maximum(room[stands, 0], least), np.minimum(room[stands, 1], most)])
    return room


def _reduce_leg_range(leg_range: np.ndarray, schedule: Schedule, times: np.ndarray, reserve: float) -> np.ndarray:
    """Range of rises (N, 2) [m] at times (N,), reduced near every flight by a reserve, a share of g T^2."""
    left = np.array(leg_range)
    for take_off, landing in find_flights(schedule, float(times[0]), float(times[-1])):
        near = (np.abs(times - take_off) < RESERVE_TIME) | (np.abs(times - landing) < RESERVE_TIME)
        left[near, 1] -= reserve * GRAVITY * (landing - take_off) ** 2
    return left


def _rise_limits(leg: Leg, root: Rates, foot: Rates, height: float) -> tuple[np.ndarray, np.ndarray]:
    """(N,) [m] smallest and largest rise of a root (N, 6) with which a leg of a length reaches its foot (N, 6)."""

    def reaches(rise: np.ndarray) -> np.ndarray:
        raised = root[0] + rise[:, None] * np.eye(ROOT_NV)[2]
        pose = motion_relative_to_root((raised, root[1], root[2]), foot)
        x, good = leg.solve(pose.rotation, pose.position, np.tile(leg.bent_posture, (len(raised), 1)))
        inside = ((x >= leg.lower) & (x <= leg.upper)).all(axis=1)
        return good & inside & (leg.regularity(x) >= MIN_REGULARITY)

    rises = np.linspace(*RISE_RANGE, RISE_TRIALS) * height
    reached = np.array([reaches(np.full(len(root[0]), rise)) for rise in rises])
    some = reached.any(axis=0)
    least = np.where(some, rises[np.argmax(reached, axis=0)], rises[0])
    most = np.where(some, rises[len(rises) - 1 - np.argmax(reached[::-1], axis=0)], rises[0])
    step = rises[1] - rises[0]
    return _bisect_reach(reaches, some, least, -step), _bisect_reach(reaches, some, most, step)


def _bisect_reach(reaches: ReachTest, is_reached: np.ndarray, near: np.ndarray, step: float) -> np.ndarray:
    """(N,) [m] the last rise with which a leg reaches, between one (N,) with which it does and one a step farther."""
    beyond = near + step
    for _ in range(BISECTIONS):
        middle = 0.5 * (near + beyond)
        reached = is_reached & reaches(middle)
        near, beyond = np.where(reached, middle, near), np.where(reached, beyond, middle)
    return near


class _RootProblem:
    """Smallest displacements of the root in one window, by quadratic programs."""

    def __init__(self, span: _FlightWindow) -> None:
        inner = slice(REST_CONTROLS, -REST_CONTROLS)
        self._is_airborne = span.is_airborne
        whole = span.displacement_basis(span.times)
        self.basis = whole
        self._inner = (whole.position[:, inner], whole.acceleration[:, inner])
        bend = SMOOTHING_TIME**2 * whole.acceleration[:, inner]
        self._metric = (self._inner[0].T @ self._inner[0] + bend.T @ bend) / len(span.times)
        self._fixed = span.displacement_basis(np.array(span.fixed_times)).position[:, inner]

    def solve_vertical(self, com_acceleration: np.ndarray, leg_range: np.ndarray) -> np.ndarray:
        """(C,) control values of the root's height.

        Args:
            com_acceleration: (N,) [m/s^2] second derivative of the centre of mass as it is.
            leg_range: (N, 2) [m] least and largest rise of the root.
        """
        value, bend = self._inner
        stands = ~self._is_airborne
        falling = (bend[self._is_airborne] / GRAVITY, -com_acceleration[self._is_airborne] / GRAVITY - 1.0)
        force = (1.0 + com_acceleration[stands] / GRAVITY, bend[stands] / GRAVITY)
        limits = [
            (force[1], MIN_FORCE - force[0]),
            (-force[1], force[0] - MAX_FORCE),
            (-value[stands] / LENGTH_UNIT, -leg_range[stands, 1] / LENGTH_UNIT),
            (value[stands] / LENGTH_UNIT, leg_range[stands, 0] / LENGTH_UNIT),
        ]
        return self._solve(falling, np.concatenate([a for a, _ in limits]), np.concatenate([b for _, b in limits]))

    def solve_horizontal(
        self,
        com: tuple[np.ndarray, np.ndarray],
        vertical: tuple[np.ndarray, np.ndarray],
        polygons: Sequence[SupportPolygon | None],
        reserve: float,
    ) -> np.ndarray:
        """(C, 2) control values of the root's horizontal position.

        Args:
            com: (N, 3) position [m] and acceleration [m/s^2] of the centre of mass before the displacement.
            vertical: its height (N,) [m] above the floor, and the vertical force per mass (N,) [m/s^2], after the
                vertical displacement.
            polygons: N support polygons; None in the air.
            reserve: [m] distance to keep from the edges.
        """
        value, bend = self._inner
        (places, bends), (height, press) = com, vertical
        none = np.zeros_like(bend[self._is_airborne])
        straight = (
            np.block([[bend[self._is_airborne], none], [none, bend[self._is_airborne]]]) / GRAVITY,
            -bends[self._is_airborne, :2].T.ravel() / GRAVITY,
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
        scale = LENGTH_UNIT * GRAVITY
        return self._solve(straight, np.concatenate(rows) / scale, np.concatenate(least) / scale, 2).reshape(2, -1).T

    def _solve(
        self, wanted: tuple[np.ndarray, np.ndarray], matrix: np.ndarray, least: np.ndarray, axes: int = 1
    ) -> np.ndarray:
        """(axes C,) control values: smallest in the metric, with wanted rows met; matrix @ x >= least if feasible."""
        m, count = axes * self._metric.shape[0], len(least)
        metric = np.kron(np.eye(axes), self._metric) / LENGTH_UNIT**2
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
                    ("limit",) * count + ("fixed posture",) * len(none),
                ),
                np.concatenate([np.full(m, -np.inf), np.zeros(count)]),
                np.full(m + count, np.inf),
            ),
            BACKEND,
        )
        found = np.zeros((axes, self._metric.shape[0] + 2 * REST_CONTROLS))
        if solution.usable:  # otherwise no displacement: the repair starts from the keys
            found[:, REST_CONTROLS:-REST_CONTROLS] = solution.x[:m].reshape(axes, -1)
        return found.ravel()
