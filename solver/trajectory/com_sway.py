"""Smallest horizontal displacement of the centre of mass with the zero-moment point inside the support in all frames.

For an inverted pendulum with the body's height, a displacement d moves the zero-moment point to zmp + d - lever d''.
A trunk that turns gives the yaw moment that a heel or the toes cannot: an edge hardly resists one.
All frames together are one sparse quadratic program in the control values of a spline. It anticipates changes of
support, like a preview controller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from ..contacts.support import SupportPolygon
from ..tracking.retargeting.interpolation import BOUND_RATE, DEGREE, select_frames, spline_bases

SWAY_UNIT = 0.01
"""Unit of length, as a share of the height of the centre of mass."""
LOAD_RANGE = 0.05, 3.0
"""Vertical force over the weight by which distances are multiplied: its bounds.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`; no other values were tried."""
SUPPORT_PENALTY, RESERVE_PENALTY = 3000.0, 100.0
"""Cost of one unit outside the support, and outside the reduced support; a constant sway by one unit costs one."""
TURN_UNIT, TURN_ACCELERATION = 0.02, 10.0
"""[rad, rad/s^2] Turn and angular acceleration of the trunk that cost as much as a sway by one unit.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT` among .01 and .1, .02 and 10, .03 and 15, and .05 and 20."""
TURN_RESERVE = 0.005
"""[m] Yaw moment over the weight that is kept in reserve. Chosen on the same walks among 0 and 5 mm."""
BACKEND = qp.SPARSE
QP_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class SupportRegions:
    """Support polygons in N frames.

    Attributes:
        phase: (N,) index of each frame's polygon.
        polygons: of each phase; None while airborne.
        reduced_polygons: the same, shrunk.
    """

    phase: np.ndarray
    polygons: tuple[SupportPolygon | None, ...]
    reduced_polygons: tuple[SupportPolygon | None, ...]


@dataclass(frozen=True, slots=True)
class TrunkTurn:
    """Turn of the trunk about the vertical in N frames.

    Attributes:
        angle: (N,) [rad] so far.
        moments: (N, 3) [m s^2] about the zero-moment point over the weight per angular acceleration: by which it moves
            forwards and to the left, and of yaw.
        margins: (N, 2) [m] of yaw moment over the weight that feet can give, further to the left and to the right;
            infinite in flight.
    """

    angle: np.ndarray
    moments: np.ndarray
    margins: np.ndarray


@dataclass(frozen=True, slots=True)
class Pendulum:
    """Inverted-pendulum model of a motion of N frames.

    Attributes:
        times: (N,) [s].
        zmp: (N, 2) [m] zero-moment points.
        lever: (N,) [s^2] height of the centre of mass above the ground over the vertical force per mass.
        displacement: (N, 2) [m] of the centre of mass so far.
        load: (N,) vertical force over the weight.
        height: [m] typical height of the centre of mass.
        from_rest: whether the motion starts from rest and comes to rest.
        turn: of the trunk; None: it does not turn.
    """

    times: np.ndarray
    zmp: np.ndarray
    lever: np.ndarray
    displacement: np.ndarray
    load: np.ndarray
    height: float
    from_rest: bool = False
    turn: TrunkTurn | None = None


def solve_least_sway(pendulum: Pendulum, supports: SupportRegions, gravity: float) -> np.ndarray | None:
    """Further displacement (N, 2) [m] of the centre of mass, and turn [rad] of the trunk as a third; None: no solution.

    The total displacement is minimised. Distances from the edges of supports are multiplied by the load: they are
    moments, which stay small where the zero-moment point is far away because the feet hardly carry.
    """
    times = pendulum.times
    looked = select_frames(times, 1.0 / BOUND_RATE)
    (at, bend), (positions, _) = (
        _spline_bases(times, instants, pendulum.from_rest) for instants in (times[looked], times)
    )
    unit, count, m = SWAY_UNIT * pendulum.height, len(looked), at.shape[1]
    given, units = pendulum.displacement.T, 2 * [(unit, SWAY_UNIT * gravity)]
    if (turn := pendulum.turn) is not None:
        given, units = np.vstack([given, turn.angle]), [*units, (TURN_UNIT, TURN_ACCELERATION)]
    metrics, wishes = [], []
    for so_far, (size, rate) in zip(given, units):
        bending = np.gradient(np.gradient(so_far, times), times)[looked]
        metrics.append((at.T @ at / size**2 + bend.T @ bend / rate**2) * (2.0 / count))
        wishes.append((at.T @ so_far[looked] / size**2 + bend.T @ bending / rate**2) * (2.0 / count))
    load, zmp = np.clip(pendulum.load[looked], *LOAD_RANGE), pendulum.zmp[looked]
    pieces = []  # frames, directions, least change, and slack of rows
    for place, polygons in enumerate((supports.polygons, supports.reduced_polygons)):
        for number, polygon in enumerate(polygons):
            own = np.flatnonzero(supports.phase[looked] == number)
            if polygon is None or not len(own):
                continue
            for normal, offset in zip(polygon.normals, polygon.offsets):
                least = load[own] * (offset - zmp[own] @ normal)
                pieces.append((own, np.tile([*normal, 0.0], (len(own), 1)), least, place * count + own))
    for sign, margins in zip((-1.0, 1.0), [] if turn is None else turn.margins[looked].T):
        own = np.flatnonzero(np.isfinite(margins))
        for place, reserve in enumerate((0.0, TURN_RESERVE)):
            way = np.tile([0.0, 0.0, sign], (len(own), 1))
            pieces.append((own, way, reserve - margins[own], place * count + own))
    if not pieces:
        return np.zeros_like(given.T)
    chosen, toward, below, give = (np.concatenate(each) for each in zip(*pieces))
    moved = sparse.csr_array(sparse.diags_array(load) @ (at - sparse.diags_array(pendulum.lever[looked]) @ bend))
    rows = [sparse.diags_array(toward[:, axis]) @ moved[chosen] for axis in (0, 1)]
    if turn is not None:
        rows.append(sparse.diags_array((toward * turn.moments[looked][chosen]).sum(axis=1)) @ bend[chosen])
    price = np.repeat([SUPPORT_PENALTY, RESERVE_PENALTY], count) / count
    fall_short = sparse.csr_array(
        (np.full(len(give), unit), (np.arange(len(give)), give)), shape=(len(give), 2 * count)
    )
    problem = qp.Problem(
        sparse.block_diag([*metrics, sparse.csc_array((2 * count, 2 * count))], "csc"),
        np.concatenate([*wishes, price]),
        qp.Rows(
            sparse.csr_array(sparse.hstack([*rows, fall_short])), below, np.full(len(below), np.inf),
            ("support",) * len(below),
        ),
        np.concatenate([np.full(len(given) * m, -np.inf), np.zeros(2 * count)]),
        np.full(len(given) * m + 2 * count, np.inf),
    )  # fmt: skip
    solution = qp.solve(problem, BACKEND, tolerance=QP_TOLERANCE)
    return np.asarray(positions @ solution.x[: len(given) * m].reshape(-1, m).T) if solution.usable else None


def _spline_bases(
    times: np.ndarray, instants: np.ndarray, from_rest: bool
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and second derivatives (M, m) of basis functions of splines, at rest at both ends on request."""
    value, bend = spline_bases(times, instants)
    if not from_rest:
        return value, bend
    # equal control values at an end are rest
    count = value.shape[1]
    inner = count - 2 * DEGREE
    tied = np.concatenate([np.zeros(DEGREE, int), np.arange(1, inner + 1), np.full(DEGREE, inner + 1)])
    ties = sparse.csr_array((np.ones(count), (np.arange(count), tied)))
    return sparse.csr_array(value @ ties), sparse.csr_array(bend @ ties)
