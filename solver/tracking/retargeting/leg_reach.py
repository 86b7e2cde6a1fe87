"""Reach of a rig's legs: how far hips come down so that bent legs reach, and how far swinging feet give way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...values.person import SIDES
from ..anatomy import LEG, find_anatomy, find_joint_centres
from .interpolation import ACCELERATION_UNIT, smooth_between
from .pose_solver import PoseSolver, PoseTargets, SolvedPoses, knee_hinges

KNEE_BEND = 0.3
"""[rad] Bend of the knee at the reach of a leg: a straight one cannot keep its foot in place while the body moves.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT` among .2 and .3."""
RELEASE = 0.95
"""Freedom of a foot in the middle of its swing: it gives way where joints meet limits, or the leg would swivel.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT` among .999, .99, .95 and .9."""
REACH_SOFTNESS = 0.005
"""[m] Distance within which a swinging foot begins to give way. Chosen on the walks of
`contacts.rolling.TOUCHING_HEIGHT`; no other value was tried."""

HIP_SHARE = 0.25
"""Acceleration by which hips come down, as a share of the root mean square of their own, that costs as much as 3 cm:
hips of a jump come down and rise again. Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT`, which it leaves at
the smallest unit, and on a public clip of a jump; no other value was tried."""


@dataclass(frozen=True, slots=True)
class LegReach:
    """Legs of a rig.

    Attributes:
        hips: (2, 3) [m] right and left, axes of the root.
        reach: (2,) [m] from hip to foot link with bent knees.
    """

    hips: np.ndarray
    reach: np.ndarray

    @staticmethod
    def of(posing: PoseSolver) -> LegReach:
        """Legs of a solver's rig."""
        rig, y = posing.rig, np.array(posing.rest_coordinates)
        for column, sign in knee_hinges(rig):
            y[column] = sign * KNEE_BEND
        starts, (turn, place) = find_joint_centres(rig, find_anatomy(rig).parts), (part[0] for part in rig.rest)
        hips = np.array([turn.T @ (starts[f"{side}_{LEG[0]}"] - place) for side in SIDES])
        y[:3] = 0.0
        placed = posing.link_frames(SolvedPoses(np.eye(3)[None], y[None]))
        feet = np.array([posing.tree.link_origins(placed, link)[:, 0] for link in posing.feet])
        return LegReach(hips, np.linalg.norm(feet - hips, axis=1))

    def lower_hips(
        self, times: np.ndarray, poses: SolvedPoses, targets: PoseTargets, freedom: np.ndarray
    ) -> np.ndarray:
        """(N,) [m] by which the hips of poses come down so that the legs reach feet that are not free (N, 2).

        The least displacement and acceleration: hips that drop quickly would change the load on the feet.
        """
        away = self.ways(poses, self.yield_feet(poses, targets, freedom))
        level = np.sqrt(np.maximum(self.reach**2 - (away[..., :2] ** 2).sum(axis=2), 0.0))
        least = (-away[..., 2] - level).max(axis=1)
        unit = HIP_SHARE * float(np.std(np.gradient(np.gradient(poses.y[:, 2], times), times)))
        return smooth_between(times, least, np.full(len(times), np.inf), max(ACCELERATION_UNIT, unit))

    def yield_feet(self, poses: SolvedPoses, targets: PoseTargets, freedom: np.ndarray) -> PoseTargets:
        """Targets whose feet are within reach where they are free (N, 2): a kicking leg does not pull the body."""
        away = self.ways(poses, targets)
        distance = np.linalg.norm(away, axis=2)
        beyond = REACH_SOFTNESS * np.logaddexp(0.0, (distance - self.reach) / REACH_SOFTNESS)
        near = targets.foot_positions - (freedom * beyond / distance)[..., None] * away
        return replace(targets, foot_positions=near, foot_freedom=RELEASE * freedom)

    def ways(self, poses: SolvedPoses, targets: PoseTargets) -> np.ndarray:
        """Ways (N, 2, 3) [m] from the hips to the feet."""
        hips = poses.y[:, None, :3] + (poses.root_rotations[:, None] @ self.hips[:, :, None])[..., 0]
        return np.asarray(targets.foot_positions - hips)
