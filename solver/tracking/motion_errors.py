"""Errors of a tracked motion that follow posture: soft tissue under the markers, and joint centres.

Soft tissue moves the markers of a link with the angles of the joints beside it. The skeleton that calibration found
deviates from the true one. The tracker answers both by its own normal equations J'WJ dq = J'W du (`Kinematics`), so
that whole subtrees move, and the root with them. Gains and skeleton belong to the body: they are the same in every
frame and recording, and no length of recording averages them out.

A link's markers enter the normal equations only by their pull: the weighted sum of their displacements, and of the
moments of these about the link's origin. Each link therefore has six independent errors for each coordinate beside
it, however many markers it carries.

`MotionErrors` is the only description of these errors. The covariance of the equations (`identification.error_model`),
intervals of joint moments (`study.motion_draws`) and designs of dances use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.so3 import skew
from ..dynamics.coordinates import continuous_coordinates, coordinate_links
from ..skeleton.rig import PARTS, ROOT_NV, Rig
from ..values.person import SIDES
from .kinematics import Kinematics
from .options import TrackingOptions
from .tasks import Attachment

SOFT_TISSUE = {
    "pelvis": 6e-3, "abdomen": 7e-3, "torso": 7e-3, "head": 2e-3, "clavicle": 6e-3, "scapula": 6e-3,
    "upper_arm": 7e-3, "forearm": 4e-3, "hand": 2e-3, "thigh": 8.5e-3, "shank": 5e-3, "foot": 2e-3,
}  # fmt: skip
"""[m/rad] Root mean square in space of a marker's displacement from its bone, per radian of each coordinate beside the
segment. Only abstracts were read. Walking, seen by fluoroscopy in six people with artificial knees: the thigh's markers
move by 18 mm together and 4 to 16 mm singly, the shank's by 17 mm together (PMC8631460); knee and hip turn by 1 and .7
radian, which makes 14 mm/rad. At the hips of eleven young people 3 to 54 mm by marker and activity (Fiorentino et al.
2017, Gait Posture 55:184). Backs bent in an upright scanner: 9 to 11 mm (Zemp et al. 2014, PLoS One 9:e95426). Dimples
of the posterior iliac spines: 1.5 mm for 10 degrees of tilt (Drerup and Hierholzer 1987, abstract without journal).
Earlier reviews: 1.7 to 4.7 mm/rad, largest at the thigh (Leardini et al. 2005, Gait Posture 21:212; Peters et al. 2010,
Gait Posture 31:1). The thigh is set between patients and reviews; its artefact is linear in the angles of hip and knee
(Bonci et al. 2014, J Biomech 47). Arms, hands, head and feet are guesses without a source."""
OTHER_SOFT_TISSUE = 6e-3
"""[m/rad] Of a segment without a name in `SOFT_TISSUE`."""
SHARED = 0.5
"""Share of the mean square that all markers of a segment have in common: bone pins in thighs."""
CENTRE_STD = 7e-3
"""[m] Standard deviation of a joint centre along each axis where no calibration states it: regressions of the hip from
the pelvis (`calibration.priors.REGRESSION_STD`), and the mean of what calibrations of simulated people find."""
TINY = 1e-18
"""[m^2] Keeps the covariance of a single marker's pull regular."""
SMALL_VARIANCE = 1e-6
"""Variances below this fraction of the largest are dropped: deviations of micrometres."""
CHUNK_FRAMES = 128
"""Frames whose Jacobians are in memory at once."""


@dataclass(frozen=True, slots=True)
class MotionErrors(ArrayValue):
    """Sizes of the errors of a person's tracked motion, and the markers through which they act.

    A pull (6) of a link is the sum of w u and of w p x u over its markers at p, in its axes: u the displacements, w the
    weights. L links have L - 1 joint centres, those of links 1 and later.

    Attributes:
        posture: (nq,) configuration about which the errors vary: there the calibration absorbed them.
        stiffness: (L, 6, 6) pull by a displacement of all markers of a link together, then by a rotation of them.
        soft_tissue: (L, 6, 6) root R of the covariance R R' of a link's pull, per radian of each coordinate beside it.
        skeleton: (K, 3 (L - 1) + 6 L) errors of the calibration whose squares sum to their covariance: of joint centres
            [m] in their parents' frames, and pulls of misplaced markers.
    """

    posture: Annotated[np.ndarray, Array(None)]
    stiffness: Annotated[np.ndarray, Array("L", 6, 6)]
    soft_tissue: Annotated[np.ndarray, Array("L", 6, 6)]
    skeleton: Annotated[np.ndarray, Array(None, None)]

    @staticmethod
    def from_attachments(
        rig: Rig,
        attachments: Sequence[Attachment],
        posture: np.ndarray,
        covariance: np.ndarray,
        sizes: Mapping[str, float] = SOFT_TISSUE,
    ) -> MotionErrors:
        """Errors of a motion tracked from markers.

        Args:
            rig: of the motion.
            attachments: M tracked markers.
            posture: (nq,) about which the errors vary.
            covariance: (T, T) [m^2] of the joint centres, then of the markers' locations, 3 (L - 1 + M) numbers.
            sizes: [m/rad] by segment, see `SOFT_TISSUE`.
        """
        links, joints = len(rig.links), 3 * (len(rig.links) - 1)
        owner = np.array([rig.index(each.link) for each in attachments])
        weights, points = np.array([a.weight for a in attachments]), np.array([a.position for a in attachments])
        stiffness, soft_tissue = np.zeros((2, links, 6, 6))
        reduction = np.zeros((joints + 6 * links, len(covariance)))
        reduction[:joints, :joints] = np.eye(joints)
        for link in np.unique(owner[weights > 0.0]):
            own = np.flatnonzero(owner == link)
            arms = skew(points[own])
            maps = np.concatenate([np.broadcast_to(np.eye(3), arms.shape), arms], axis=1)  # (m, 6, 3)
            pulls = weights[own, None, None] * maps
            stiffness[link] = np.tensordot(pulls, maps, axes=((0, 2), (0, 2)))
            alone, together = pulls.transpose(1, 0, 2).reshape(6, -1), pulls.sum(axis=0)
            square = soft_tissue_std(rig, int(link), sizes) ** 2 * (
                SHARED * together @ together.T + (1.0 - SHARED) * alone @ alone.T
            )
            soft_tissue[link] = np.linalg.cholesky(square + TINY * np.eye(6))
            columns = (joints + 3 * own[:, None] + np.arange(3)).reshape(-1)
            reduction[joints + 6 * link : joints + 6 * link + 6, columns] = alone
        return MotionErrors(posture, stiffness, soft_tissue, _root(reduction @ covariance @ reduction.T))

    @staticmethod
    def of_rig(rig: Rig) -> MotionErrors:
        """Errors of a motion whose markers are not known: every link carries some at the corners of its box."""
        corners = np.stack(np.meshgrid(*3 * [[0, 1]], indexing="ij"), axis=-1).reshape(-1, 3)
        places = [box[corners, np.arange(3)] for box in rig.boxes]
        attachments = [Attachment("", link, place) for link, own in zip(rig.links, places) for place in own]
        stds = np.zeros(3 * (len(rig.links) - 1 + len(attachments)))
        stds[: 3 * (len(rig.links) - 1)] = CENTRE_STD
        return MotionErrors.from_attachments(rig, attachments, rig.neutral, np.diag(stds**2))

    def pairs(self, rig: Rig) -> tuple[np.ndarray, np.ndarray]:
        """Links with markers, and the coordinates beside them whose soft tissue moves: indices (p,) each."""
        links, owners = np.arange(len(rig.links))[:, None], [rig.index(link) for (link,) in coordinate_links(rig)]
        beside = (links == owners) | (links == np.array(rig.parents)[owners])
        pulled, coordinates = np.nonzero(beside & (self.stiffness[:, 0, :1] > 0.0))
        return pulled, coordinates

    def angles(self, rig: Rig, q: np.ndarray) -> np.ndarray:
        """Joint coordinates (N, nv - 6) of a motion (N, nq) less those of the posture."""
        found = continuous_coordinates(rig, np.vstack([self.posture[None], q]))
        return np.asarray(found[1:] - found[0])

    def responses(self, rig: Rig, q: np.ndarray) -> Iterator[TrackedPoses]:
        """How the tracker answers the errors at configurations (N, nq), some frames at a time."""
        for start in range(0, len(q), CHUNK_FRAMES):
            yield self._respond(Kinematics(rig), q[start : start + CHUNK_FRAMES])

    def _respond(self, kinematics: Kinematics, q: np.ndarray) -> TrackedPoses:
        found = []
        for pose in q:
            kinematics.update_kinematics(pose)
            found.append((kinematics.rotations.copy(), kinematics.positions.copy(), kinematics.jacobian.copy()))
        rotations, positions, jacobian = map(np.array, zip(*found))
        count, freedoms = len(q), jacobian.shape[2]
        bare = TrackedPoses(rotations, positions, jacobian, kinematics.moved_by, np.zeros((count, freedoms, 0)))
        turns, moved = bare.turns, bare.jacobians(np.zeros((rotations.shape[1], 3)))
        held = turns @ self.stiffness @ turns.swapaxes(2, 3) @ moved
        price = np.where(np.arange(freedoms) < ROOT_NV, 0.0, TrackingOptions().posture_weight)
        flat = moved.reshape(count, -1, freedoms)
        normal = flat.swapaxes(1, 2) @ held.reshape(flat.shape) + np.diag(price)
        # joints k, links l, frames f, axes i, coordinates v
        carried = np.einsum("kl,fliv->fkvi", kinematics.descendants[1:].astype(float), held[:, :, :3], optimize=True)
        parts = carried @ rotations[:, kinematics.parents[1:]], moved.swapaxes(2, 3) @ turns
        right = np.concatenate([part.swapaxes(1, 2).reshape(count, freedoms, -1) for part in parts], axis=2)
        return replace(bare, response=-np.linalg.solve(normal, right))


@dataclass(frozen=True, slots=True)
class TrackedPoses:
    """Tracked poses of n frames, and how they answer errors.

    Attributes:
        rotations: (n, L, 3, 3) link axes to world axes.
        positions: (n, L, 3) [m] link origins, world.
        jacobian: (n, 6, nv) as `Kinematics.jacobian`.
        moved_by: (L, nv) True where a coordinate moves a link.
        response: (n, nv, 3 (L - 1) + 6 L) change of the pose from the tracked to the true one by an error of each joint
            centre, then by each link's pull.
    """

    rotations: np.ndarray
    positions: np.ndarray
    jacobian: np.ndarray
    moved_by: np.ndarray
    response: np.ndarray

    @property
    def turns(self) -> np.ndarray:
        """(n, L, 6, 6) rotations of a pair of vectors from link to world axes."""
        result = np.zeros((*self.rotations.shape[:2], 6, 6))
        result[:, :, :3, :3] = result[:, :, 3:, 3:] = self.rotations
        return result

    def jacobians(self, offsets: np.ndarray) -> np.ndarray:
        """Jacobians (n, L, 6, nv) of a point at ``offsets`` (L, 3) [m] on each link, then of its rotation, world."""
        points = (self.rotations @ offsets[:, :, None])[..., 0] + self.positions
        linear, angular = self.jacobian[:, None, :3], self.jacobian[:, None, 3:]
        moved = linear - skew(points) @ angular
        both = np.concatenate([moved, np.broadcast_to(angular, moved.shape)], axis=2)
        return np.asarray(both * self.moved_by[:, None])


def _root(covariance: np.ndarray) -> np.ndarray:
    """(K, n) rows whose squares sum to a covariance (n, n), without those that are rounding."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > SMALL_VARIANCE * values[-1]
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def soft_tissue_std(rig: Rig, link: int, sizes: Mapping[str, float]) -> float:
    """[m/rad] Standard deviation of a marker's displacement along each axis, by ``sizes`` of the segments in space."""
    parts = {str(own): str(part) for part, own in dict(rig.provenance.get(PARTS, {})).items()}  # type: ignore[call-overload]
    name = parts.get(rig.links[link], rig.links[link])
    segment = name.removeprefix(f"{SIDES[0]}_").removeprefix(f"{SIDES[1]}_")
    return float(sizes.get(segment, OTHER_SOFT_TISSUE) / np.sqrt(3.0))
