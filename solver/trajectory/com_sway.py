"""Smallest displacement of the body with which contacts can give the wrench that a motion needs.

The whole body follows a displacement, and its accelerations need another wrench: a linear response to the displacement
of all frames. A trunk that turns gives the yaw moment that a heel or the toes cannot: an edge hardly resists one. Every
limit on contact forces is linear in the wrench, near the wrench of the motion.
All frames together are one sparse quadratic program in the control values of a spline. It anticipates changes of
support, like a preview controller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .. import qp
from ..tracking.retargeting.interpolation import BOUND_RATE, DEGREE, select_frames, spline_bases

SWAY_UNIT = 0.01
"""Unit of length, as a share of the height of the centre of mass."""
LIMIT_PENALTY, RESERVE_PENALTY = 6000.0, 200.0
"""Cost of one unit beyond a limit, and beyond its reserve; a constant sway by one unit of length costs one."""
TURN_UNIT, TURN_ACCELERATION = 0.02, 10.0
"""[rad, rad/s^2] Turn and angular acceleration of the trunk that cost as much as a sway by one unit.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT` among .01 and .1, .02 and 10, .03 and 15, and .05 and 20."""
BACKEND = qp.SPARSE
QP_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class WrenchLimits:
    """R limits that are linear in the change of a frame's wrench and displacement: margin + slopes . change.

    Attributes:
        frames: (R,) of each limit.
        margins: (R,) in units of violation, negative beyond the limit.
        slopes: (R, 6) by the wrench over the weight, world axes, about the world's origin.
        own_slopes: (R, 4) by the displacement of the frame itself.
        group: (R,) limits of one group and frame are violated together.
        penalties: (R,) cost of a violation by one unit.
    """

    frames: np.ndarray
    margins: np.ndarray
    slopes: np.ndarray
    own_slopes: np.ndarray
    group: np.ndarray
    penalties: np.ndarray


@dataclass(frozen=True, slots=True)
class SwayingBody:
    """A motion of N frames that may sway.

    Attributes:
        times: (N,) [s].
        displacement: (N, 4) [m, m, m, rad] so far: of the body in the world, and of the trunk about the vertical.
        responses: (6 N, N) sparse, of each of the four: wrench of each frame over the weight, world axes, about the
            world's origin, per displacement of each frame.
        height: [m] typical height of the centre of mass.
        from_rest: whether the motion starts from rest and comes to rest.
    """

    times: np.ndarray
    displacement: np.ndarray
    responses: tuple[sparse.csr_array, ...]
    height: float
    from_rest: bool = False


def solve_least_sway(body: SwayingBody, limits: WrenchLimits, gravity: float) -> np.ndarray | None:
    """Further displacement (N, 4) [m, m, m, rad]; None: no solution.

    The total displacement is minimised, with the least violation of limits.
    """
    times, given = body.times, body.displacement.T
    looked = select_frames(times, 1.0 / BOUND_RATE)
    positions, bend = _spline_bases(times, times, body.from_rest)
    at, bend = positions[looked], bend[looked]
    count, m = len(looked), at.shape[1]
    units = [(SWAY_UNIT * body.height, SWAY_UNIT * gravity)] * 3 + [(TURN_UNIT, TURN_ACCELERATION)]
    metrics, wishes = [], []
    for so_far, (size, rate) in zip(given, units):
        bending = np.gradient(np.gradient(so_far, times), times)[looked]
        metrics.append((at.T @ at / size**2 + bend.T @ bend / rate**2) * (2.0 / count))
        wishes.append((at.T @ so_far[looked] / size**2 + bend.T @ bending / rate**2) * (2.0 / count))
    own = np.flatnonzero(np.isin(limits.frames, looked))
    if not len(own):
        return np.zeros(body.displacement.shape)
    frames, entries = limits.frames[own], np.arange(6 * len(own))
    columns = (6 * frames[:, None] + np.arange(6)).ravel()
    slopes = sparse.csr_array((limits.slopes[own].ravel(), (entries // 6, columns)), shape=(len(own), 6 * len(times)))
    rows = [
        slopes @ (response @ positions) + sparse.diags_array(by_place) @ positions[frames]
        for response, by_place in zip(body.responses, limits.own_slopes[own].T)
    ]
    kinds, first, give = np.unique(limits.group[own] * len(times) + frames, return_index=True, return_inverse=True)
    slack = sparse.csr_array((np.ones(len(own)), (np.arange(len(own)), give.reshape(-1))))
    problem = qp.Problem(
        sparse.block_diag([*metrics, sparse.csc_array((len(kinds), len(kinds)))], "csc"),
        np.concatenate([*wishes, limits.penalties[own][first] / count]),
        qp.Rows(
            sparse.csr_array(sparse.hstack([*rows, slack])), -limits.margins[own], np.full(len(own), np.inf),
            ("limit",) * len(own),
        ),
        np.concatenate([np.full(len(given) * m, -np.inf), np.zeros(len(kinds))]),
        np.full(len(given) * m + len(kinds), np.inf),
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
