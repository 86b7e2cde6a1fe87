"""The pair-wise baseline of rapetti2020 section 5.1: the body cut into pieces of two orientations each.

Between a link with an orientation and the nearest one above it lies a chain of joints. Their relative orientation is
all that a piece is asked for, by instantaneous optimisation within its joints' limits, from where it was. No piece
knows of the others, so what one cannot reach another does not make up for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates import joint_slices
from ..errors import InvalidValue
from ..qp.principal_pivoting import Box, solve_box
from ..rig import ROOT_NV, Rig
from ..so3 import exp, to_quaternion, vee
from .joint_chains import find_chains
from .options import TrackingOptions
from .tasks import TargetSample, Tasks

STEEPEST = 1e-6
"""Price of a step beside a radian's error: joints of a chain that do the same share the work."""
LONGEST = 0.6
"""[rad] Longest step of a joint at once."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chain of joints between two orientations.

    Attributes:
        upper, lower: places of the two among the tasks' orientations.
        joints: (J,) links that its hinges move, from above.
        places: (J,) of their angles in q.
        low, high: (J,) [rad] their ranges.
    """

    upper: int
    lower: int
    joints: np.ndarray
    places: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Pairwise:
    """The pieces of a rig, and the pose that all of them together find for a sample."""

    def __init__(self, rig: Rig, tasks: Tasks, options: TrackingOptions) -> None:
        """Cut the rig.

        Raises:
            InvalidValue: no orientation of the root, a point elsewhere than on the root, or a joint that is no hinge.
        """
        turns = tasks.orientations
        if turns is None or 0 not in turns.links:
            raise InvalidValue("pair-wise tracking needs orientations, that of the root among them; markers have none")
        if tasks.positions is not None and tasks.positions.links.any():
            raise InvalidValue("pair-wise tracking takes points of the root alone; use 'dynamical' or 'whole_body'")
        self.rig, self.options, self._points = rig, options, tasks.positions
        self._root = int(np.flatnonzero(turns.links == 0)[0])
        into = [place for _, place, _ in joint_slices(rig)]
        tangent = [place for _, _, place in joint_slices(rig)]
        self.pieces: list[Piece] = []
        for chain in find_chains(rig, turns.links):
            for link in chain.links:
                if not rig.joints[link].hinge or rig.joints[link].nq != 1:
                    raise InvalidValue(f"pair-wise tracking takes hinges; {rig.joints[link].name!r} is none")
            free = np.array([tangent[k].start - ROOT_NV for k in chain.links])
            angles = np.array([into[k].start for k in chain.links])
            limits = rig.limits
            self.pieces.append(
                Piece(chain.upper, chain.lower, np.array(chain.links), angles, limits.lower[free], limits.upper[free])
            )

    def pose(self, q: np.ndarray, sample: TargetSample) -> tuple[np.ndarray, bool]:
        """Configuration (nq,) from one (nq,) for a sample, and whether every piece converged."""
        assert sample.rotations is not None
        result, converged = np.array(q), True
        rotations = sample.rotations
        if np.isfinite(rotations[self._root]).all():
            result[3:7] = to_quaternion(rotations[self._root])
            if self._points is not None and sample.positions is not None and np.isfinite(sample.positions[0]).all():
                result[:3] = sample.positions[0] - rotations[self._root] @ self._points.offsets[0]
        for piece in self.pieces:
            wanted = rotations[piece.upper].T @ rotations[piece.lower]
            if np.isfinite(wanted).all():
                result[piece.places], settled = self._solved(piece, result[piece.places], wanted)
                converged &= settled
        return result, converged

    def _solved(self, piece: Piece, angles: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, bool]:
        """Angles (J,) whose chain turns by ``wanted`` (3, 3), and whether the steps came to an end."""
        joints = [self.rig.joints[k] for k in piece.joints]
        none = np.zeros((0, len(angles)))
        for _ in range(self.options.iterations):
            turn, axes = np.eye(3), np.empty((3, len(angles)))
            for k, (joint, angle) in enumerate(zip(joints, angles)):
                turn = turn @ joint.rotation
                axes[:, k] = turn @ joint.axes[0]
                turn = turn @ exp(angle * joint.axes[0])
            error = vee(wanted @ turn.T)
            matrix = axes.T @ axes + STEEPEST * np.eye(len(angles))
            low, high = np.maximum(piece.low - angles, -LONGEST), np.minimum(piece.high - angles, LONGEST)
            box = Box(np.minimum(low, high), np.maximum(low, high), none, np.zeros(0))
            step = solve_box(matrix, axes.T @ error, box).x
            angles = angles + step
            if np.abs(step).max() < self.options.tolerance:
                return angles, True
        return angles, False
