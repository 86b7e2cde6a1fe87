"""Inverse kinematics of legs: leg joints from the poses of pelvis and foot.

Pelvis and feet move freely. The joints between them are solved by Newton's method, on all frames at once, and their
velocities and accelerations follow from the derivatives of the closed chain. So a planted foot has no velocity or
acceleration whatever the pelvis does: (17) holds to rounding, and single and double support are exact.

A leg of five joints can follow its root in some directions only (`trajectory.root_constraints`). Its joints are solved
by least squares, and a foot with a remaining error counts as not reached.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import Exponential, log, vee
from ..skeleton.rig import ROOT_NV, Rig
from .foot_motion import Rates, RelativeMotion, motion_relative_to_root
from .leg_chain import LegChain, bent_posture

POSE_TOLERANCE = 1e-12
"""[m, rad] Error at which a leg counts as solved."""
SHORT_STEP = 1e-7
"""[rad, m] A shorter Newton step leaves less than that error: its square times half the chain's curvature, below 40."""
ITERATIONS = 12
MOBILE_SHARE = 0.9
"""Six joints are suitable if their mobility is at least this share of the largest mobility of six joints."""
MIN_MOBILITY = 1e-6
"""Smallest determinant [m^3] of six joints' Jacobian, over the cube of the leg length, that can plant a foot."""
MIN_REGULARITY = 0.7
"""A leg with a smaller regularity counts as stretched."""
DAMPED_REGULARITY, MAX_DAMPING = 0.02, 1e-6
"""Regularity below which joint speeds are damped, because they would be very large; and largest damping."""
MAX_STEP = 0.5
"""[rad] Largest Newton step, since a larger one may leave the knee on the wrong side."""
REACH_TOLERANCE = 1e-6
"""[m, rad] A leg of five joints does not reach if the error before a short step, where least squares end, is larger."""
MIN_DAMPING, REFINEMENTS = 1e-12, 1
"""Damping of least squares with five joints, and number of iterative refinements."""
MIN_LEG_JOINTS = 5
"""Smallest number of joints of a leg that can be planted."""
FOOT_SIZE = 6
"""Coordinates of a foot: position [m] of its link's origin and rotation vector [rad], world. By definition."""
DAMPED_ITERATIONS = 40
"""Iterations of damped least squares where Newton's method does not converge."""
DAMPING = 1e-4
CLOSE_ERROR = 1e-13
"""Error at which damped least squares ends."""


class Leg:
    """The chain of joints from the root link to a foot.

    Attributes:
        side: ``"right"`` or ``"left"``.
        patch: name of the sole.
        link: the foot.
        columns: (n,) joint coordinates of the chain, counted from the first joint after the root.
        solved: (6,) those of ``columns`` that follow from the poses, or all five. Other joints of longer chains stay
            free, and coupled ones are constant.
        bent_posture: (n,) coordinates with the knee slightly bent.
    """

    def __init__(self, rig: Rig, side: str) -> None:
        self.side, self.patch = side, rig.sides[side]
        self.link = rig.patch(self.patch).link
        path = rig.path(rig.index(self.link))
        starts = np.cumsum([0, *(joint.nv for joint in rig.joints)])
        self.columns = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in path]) - ROOT_NV
        require_joints(rig, self.link, f"the {side} leg")
        self._uncoupled = np.flatnonzero(~coupled_coordinates(rig)[self.columns])
        self.chain = LegChain(rig, path)
        self.lower, self.upper = rig.limits.lower[self.columns], rig.limits.upper[self.columns]
        self.bent_posture = bent_posture(self.chain, self.lower, self.upper, rig.forward)
        own, self._mobility = self._choose_joints()
        if self._mobility <= MIN_MOBILITY * self.chain.length**3:
            raise InvalidValue(
                f"the joints of the {side} leg of rig {rig.name!r} cannot move {self.link!r} in "
                f"{'all six' if len(own) == FOOT_SIZE else 'five'} directions: a planted foot would tie the root"
            )
        self.solved = self.columns[list(own)]
        # a slice where it can be one: taking columns of a stack of matrices by it copies nothing
        self._solved_columns: slice | list[int] = slice(len(own)) if own == tuple(range(len(own))) else list(own)
        self._free_columns = np.setdiff1d(np.arange(len(self.columns)), own)

    def follow_foot(self, rates: Rates, foot: Rates, *, approach: bool = False) -> np.ndarray:
        """Write the joints of this leg under a foot into flat coordinates (N, nv or more), in place.

        Args:
            rates: root and joints with derivatives; the leg's own coordinates are the first guess.
            foot: (N, 6) pose of the foot, with derivatives.
            approach: where the leg does not reach, bring the foot as near as possible; otherwise keep the guess.

        Returns:
            Whether each frame was solved, (N,).
        """
        y, dy, ddy = rates
        own, root = ROOT_NV + self.columns, slice(ROOT_NV)
        pose = motion_relative_to_root((y[:, root], dy[:, root], ddy[:, root]), foot)
        find = self.solve_nearest if approach else self.solve
        y[:, own], good = find(pose.rotation, pose.position, y[:, own])
        dy[:, own], ddy[:, own] = self.rates(y[:, own], dy[:, own], ddy[:, own], pose)
        return good

    def update(self, rates: Rates, foot: Rates, *, positions_only: bool = False) -> None:
        """`follow_foot` after the root, or free joints of the leg, changed a solution by a finite-difference step.

        One Newton step has an error of the square of the change. A stretched leg is solved again.

        Args:
            rates, foot: as in `follow_foot`.
            positions_only: derivatives are not updated.
        """
        y, dy, ddy = rates
        own, root = ROOT_NV + self.columns, slice(ROOT_NV)
        pose = motion_relative_to_root((y[:, root], dy[:, root], ddy[:, root]), foot)
        x = y[:, own]
        foot_rotation, foot_position, jacobian = self.forward_kinematics(x)
        easy = self._regularity(jacobian) > MIN_REGULARITY
        error = self._pose_error(foot_rotation, foot_position, pose.rotation, pose.position)[easy]
        step = np.zeros((len(x), len(self.solved)))
        step[easy] = _solve(jacobian[easy][:, :, self._solved_columns], error)
        x[:, self._solved_columns] += step
        x[~easy], _ = self.solve_nearest(pose.rotation[~easy], pose.position[~easy], x[~easy])
        y[:, own] = x
        if not positions_only:
            dy[:, own], ddy[:, own] = self.rates(x, dy[:, own], ddy[:, own], pose)

    def place_static(self, y: np.ndarray, foot: np.ndarray) -> np.ndarray:
        """`follow_foot` at rest: write the joints of this leg into flat coordinates (N, nv), in place.

        Args:
            y: root and joints; the leg's own coordinates are the first guess.
            foot: pose.

        Returns:
            Whether each frame was solved, (N,).
        """
        own = ROOT_NV + self.columns
        back = Exponential(y[:, 3:ROOT_NV]).matrix.swapaxes(1, 2)
        # n frames, i axes of the root, j axes of the world
        position = np.einsum("nij,nj->ni", back, foot[:, :3] - y[:, :3])
        y[:, own], good = self.solve(back @ Exponential(foot[:, 3:]).matrix, position, y[:, own])
        return good

    def regularity(self, x: np.ndarray) -> np.ndarray:
        """Regularity (N,): determinant of the Jacobian over that of `bent_posture`; 1 there, 0 with a stretched leg."""
        return self._regularity(self.forward_kinematics(x)[2])

    def _regularity(self, jacobian: np.ndarray) -> np.ndarray:
        return _volume(jacobian[:, :, self._solved_columns]) / self._mobility

    def _choose_joints(self) -> tuple[tuple[int, ...], float]:
        """The six joints that follow from the poses, and the determinant of their Jacobian with the knee bent.

        They are the first ones from the root that are mobile enough.
        """
        jacobian = self.forward_kinematics(self.bent_posture[None])[2][0]
        choices = list(combinations(self._uncoupled.tolist(), min(FOOT_SIZE, len(self._uncoupled))))
        sizes = _volume(jacobian[:, choices].swapaxes(0, 1))
        first = int(np.argmax(sizes >= MOBILE_SHARE * sizes.max()))
        return choices[first], float(sizes[first])

    def forward_kinematics(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Foot rotation (N, 3, 3), position (N, 3) and Jacobian (N, 6, n) by coordinates x (N, n), root axes."""
        placed = self.chain.place(x)
        return placed.rotation.transpose(2, 0, 1), placed.position.T, placed.jacobian()

    def solve(self, rotation: np.ndarray, position: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (N, n) that bring the foot to a pose in root axes, and whether each frame was solved (N,).

        A nearly stretched leg does not count as solved, because its joint speeds would be very large.

        Args:
            rotation, position: (N, 3, 3), (N, 3) [m] of the foot link in the root's axes.
            guess: (N, n) start; the n - 6 columns that are not solved are kept.
        """
        x = np.array(guess, float)
        good = np.zeros(len(x), bool)
        active = np.arange(len(x))
        for _ in range(ITERATIONS):
            foot_rotation, foot_position, jacobian = self.forward_kinematics(x[active])
            error = self._pose_error(foot_rotation, foot_position, rotation[active], position[active])
            done = np.abs(error).max(axis=1) < POSE_TOLERANCE
            good[active[done]] = self._regularity(jacobian[done]) > MIN_REGULARITY
            active, error, jacobian = active[~done], error[~done], jacobian[~done]
            if not len(active):
                break
            step = _solve(jacobian[:, :, self._solved_columns], error)
            longest = np.abs(step).max(axis=1, keepdims=True)
            here = x[active]
            here[:, self._solved_columns] += step * np.minimum(1.0, MAX_STEP / np.maximum(longest, 1e-300))
            x[active] = here
            if (short := longest[:, 0] < SHORT_STEP).any():
                short[short] = self._regularity(jacobian[short]) > MIN_REGULARITY
                if len(self.solved) < FOOT_SIZE:
                    short &= np.abs(error).max(axis=1) < REACH_TOLERANCE
                good[active[short]] = True
                active = active[~short]
                if not len(active):
                    break
        return np.where(good[:, None], x, guess), good

    def solve_nearest(
        self, rotation: np.ndarray, position: np.ndarray, guess: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (N, n) with the foot at poses in root axes, or nearest to them; and whether they were reached.

        Frames that `solve` leaves, such as those of stretched legs, are solved by damped least squares.
        """
        x = np.array(guess, float)
        error = self._pose_residual(x, rotation, position)
        met = (error**2).sum(axis=1) <= CLOSE_ERROR**2  # a fixed key, say: it stays to the last digit
        left = np.flatnonzero(~met)
        knee = np.flatnonzero(self.bent_posture)
        straight = np.abs(x[left][:, knee]) < np.abs(self.bent_posture[knee])  # from there a knee may bend either way
        x[np.ix_(left, knee)] = np.where(straight, self.bent_posture[knee], x[np.ix_(left, knee)])
        x[left], good = self.solve(rotation[left], position[left], x[left])
        met[left] = good
        error[left] = self._pose_residual(x[left], rotation[left], position[left])
        active = left[~good]
        damping = np.full(len(x), DAMPING)
        for _ in range(DAMPED_ITERATIONS):
            active = active[(error[active] ** 2).sum(axis=1) > CLOSE_ERROR**2]
            if not len(active):
                break
            jacobian = self.forward_kinematics(x[active])[2][:, :, self._solved_columns]
            square = jacobian.swapaxes(1, 2) @ jacobian + damping[active, None, None] * np.eye(len(self.solved))
            right = jacobian.swapaxes(1, 2) @ error[active, :, None]
            trial = x[active].copy()
            trial[:, self._solved_columns] += np.linalg.solve(square, right)[:, :, 0]
            new = self._pose_residual(trial, rotation[active], position[active])
            better = (new**2).sum(axis=1) < (error[active] ** 2).sum(axis=1)
            x[active[better]], error[active[better]] = trial[better], new[better]
            damping[active] = np.clip(damping[active] * np.where(better, 0.1, 10.0), 1e-14, 1e6)
        return x, met

    def _pose_error(
        self, foot_rotation: np.ndarray, foot_position: np.ndarray, rotation: np.ndarray, position: np.ndarray
    ) -> np.ndarray:
        """(N, 6) remaining displacement and rotation vector of the foot, root axes."""
        return np.concatenate([position - foot_position, log(rotation @ foot_rotation.swapaxes(1, 2))], axis=1)

    def _pose_residual(self, x: np.ndarray, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        """(N, 6) remaining displacement of the foot, and axis of the remaining rotation times its sine, root axes."""
        foot_rotation, foot_position, _ = self.forward_kinematics(x)
        return np.concatenate([position - foot_position, vee(rotation @ foot_rotation.swapaxes(1, 2))], axis=1)

    def rates(
        self, x: np.ndarray, dx: np.ndarray, ddx: np.ndarray, foot: RelativeMotion
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives (N, n) of solved coordinates; dx, ddx (N, n) hold those of the free coordinates.

        A stretched leg follows its foot only as far as damping permits, to limit joint speeds.
        """
        placed = self.chain.place(x)
        jacobian = placed.jacobian()
        damping = MAX_DAMPING * np.clip(1.0 - self._regularity(jacobian) / DAMPED_REGULARITY, 0.0, 1.0) ** 2
        dx, ddx = dx.copy(), ddx.copy()
        own, free = jacobian[:, :, self._solved_columns], jacobian[:, :, self._free_columns]
        # frames n, components i of the foot's velocity, free coordinates j
        dx[:, self._solved_columns] = _solve(
            own, foot.velocity - np.einsum("nij,nj->ni", free, dx[:, self._free_columns]), damping
        )
        bias = self.chain.bias_acceleration(placed, dx)
        wanted = foot.acceleration - bias - np.einsum("nij,nj->ni", free, ddx[:, self._free_columns])
        ddx[:, self._solved_columns] = _solve(own, wanted, damping)
        return dx, ddx


def build_legs(rig: Rig) -> tuple[Leg, Leg]:
    """Right and left leg.

    Raises:
        InvalidValue: the rig has no soles, its legs share joints, or a leg cannot move its foot in all six directions.
    """
    right, left = Leg(rig, "right"), Leg(rig, "left")
    ways = [rig.path(rig.index(leg.link)) for leg in (right, left)]
    if shared := [k for k in ways[0] if k in ways[1]]:
        raise InvalidValue(
            f"both legs of rig {rig.name!r} share joint {', '.join(rig.joints[k].name for k in shared)} below its "
            f"root {rig.links[0]!r}, so that neither foot can be planted by itself: name its feet when its file is "
            f"read (--feet {left.link} {right.link}), which makes {rig.links[shared[-1]]!r} the root if these "
            "joints are revolute, prismatic or fixed"
        )
    return right, left


def coupled_coordinates(rig: Rig) -> np.ndarray:
    """(nv - 6,) True for coordinates of coupled joints, sources and followers."""
    sources = {joint.mimic.source for joint in rig.joints if joint.mimic is not None}
    coupled = [[joint.mimic is not None or joint.name in sources] * joint.nv for joint in rig.joints[1:]]
    return np.array([held for own in coupled for held in own], bool)


def require_joints(rig: Rig, foot: str, leg: str = "a leg") -> None:
    """Raise `InvalidValue` if a foot has too few joint coordinates above it to be planted."""
    path = rig.path(rig.index(foot))
    starts = np.cumsum([0, *(joint.nv for joint in rig.joints)]) - ROOT_NV
    coupled = coupled_coordinates(rig)
    count = sum(rig.joints[k].nv - int(coupled[starts[k] : starts[k + 1]].sum()) for k in path)
    if count < MIN_LEG_JOINTS:
        raise InvalidValue(
            f"{leg} of rig {rig.name!r} has {count} joint coordinates between {rig.links[0]!r} and {foot!r} that move "
            f"independently; a planted foot needs {MIN_LEG_JOINTS}. Motions of this rig can be checked, tracked and "
            "identified, but not designed or repaired"
        )


def _volume(matrix: np.ndarray) -> np.ndarray:
    """(N,) volume spanned by the columns of matrices (N, 6, k): the absolute determinant for k = 6."""
    if matrix.shape[2] == FOOT_SIZE:
        return np.abs(np.linalg.det(matrix))
    return np.sqrt(np.maximum(np.linalg.det(matrix.swapaxes(1, 2) @ matrix), 0.0))


def _solve(matrix: np.ndarray, right: np.ndarray, damping: np.ndarray | None = None) -> np.ndarray:
    """Solutions (N, k), damped where a damping (N,) is positive or the matrix is singular."""
    free = np.ones(len(right), bool) if damping is None else damping <= 0.0
    result = np.empty((len(right), matrix.shape[2]))
    if matrix.shape[2] < FOOT_SIZE:
        small = np.full(len(right), MIN_DAMPING) if damping is None else np.maximum(damping, MIN_DAMPING)
        result = _damped(matrix, right, small)
        for _ in range(REFINEMENTS):
            result[free] += _damped(matrix, right - (matrix @ result[:, :, None])[:, :, 0], small)[free]
        return result
    try:
        result[free] = np.linalg.solve(matrix[free], right[free, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # Newton's convergence test then rejects it
        result[free] = _damped(matrix[free], right[free], np.full(int(free.sum()), 1e-10))
    if damping is not None and not free.all():
        result[~free] = _damped(matrix[~free], right[~free], damping[~free])
    return result


def _damped(matrix: np.ndarray, right: np.ndarray, damping: np.ndarray) -> np.ndarray:
    across = matrix.swapaxes(1, 2)
    square = across @ matrix + damping[:, None, None] * np.eye(matrix.shape[2])
    return np.linalg.solve(square, across @ right[:, :, None])[:, :, 0]
