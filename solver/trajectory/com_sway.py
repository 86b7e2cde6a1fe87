"""Smallest horizontal displacement of the centre of mass with the zero-moment point inside the support in all frames.

For an inverted pendulum with the body's height, a displacement d moves the zero-moment point to zmp + d - lever d''.
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
    """

    times: np.ndarray
    zmp: np.ndarray
    lever: np.ndarray
    displacement: np.ndarray
    load: np.ndarray
    height: float
    from_rest: bool = False


def solve_least_sway(pendulum: Pendulum, supports: SupportRegions, gravity: float) -> np.ndarray | None:
    """Further displacement (N, 2) [m] of the centre of mass; None: no solution.

    The total displacement is minimised. Distances from the edges of supports are multiplied by the load: they are
    moments, which stay small where the zero-moment point is far away because the feet hardly carry.
    """
    times = pendulum.times
    looked = select_frames(times, 1.0 / BOUND_RATE)
    (at, bend), (positions, _) = (
        _spline_bases(times, instants, pendulum.from_rest) for instants in (times[looked], times)
    )
    unit, count, m = SWAY_UNIT * pendulum.height, len(looked), at.shape[1]
    even = pendulum.height / gravity
    metric = (at.T @ at + even**2 * bend.T @ bend) * (2.0 / (count * unit**2))
    swaying = np.gradient(np.gradient(pendulum.displacement, times, axis=0), times, axis=0)[looked]
    wish = (at.T @ pendulum.displacement[looked] + even**2 * bend.T @ swaying) * (2.0 / (count * unit**2))
    load, lever = np.clip(pendulum.load[looked], *LOAD_RANGE), sparse.diags_array(pendulum.lever[looked])
    moved = sparse.csr_array(sparse.diags_array(load) @ (at - lever @ bend))
    rows, least, slack = [], [], []
    for place, polygons in enumerate((supports.polygons, supports.reduced_polygons)):
        for number, polygon in enumerate(polygons):
            own = np.flatnonzero(supports.phase[looked] == number)
            if polygon is None or not len(own):
                continue
            for normal, offset in zip(polygon.normals, polygon.offsets):
                rows.append(sparse.hstack([normal[0] * moved[own], normal[1] * moved[own]]))
                least.append(load[own] * (offset - pendulum.zmp[looked][own] @ normal))
                slack.append(place * count + own)
    if not rows:
        return np.zeros_like(pendulum.displacement)
    price = np.repeat([SUPPORT_PENALTY, RESERVE_PENALTY], count) / count
    give, below = np.concatenate(slack), np.concatenate(least)
    fall_short = sparse.csr_array(
        (np.full(len(give), unit), (np.arange(len(give)), give)), shape=(len(give), 2 * count)
    )
    problem = qp.Problem(
        sparse.block_diag([metric, metric, sparse.csc_array((2 * count, 2 * count))], "csc"),
        np.concatenate([wish.T.ravel(), price]),
        qp.Rows(
            sparse.csr_array(sparse.hstack([sparse.vstack(rows), fall_short])), below, np.full(len(below), np.inf),
            ("support",) * len(below),
        ),
        np.concatenate([np.full(2 * m, -np.inf), np.zeros(2 * count)]),
        np.full(2 * m + 2 * count, np.inf),
    )  # fmt: skip
    solution = qp.solve(problem, BACKEND, tolerance=QP_TOLERANCE)
    return np.asarray(positions @ solution.x[: 2 * m].reshape(2, m).T) if solution.usable else None


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
