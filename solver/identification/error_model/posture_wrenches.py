"""Wrench errors of a tracked motion by the errors that follow posture (`tracking.motion_errors`)."""

from __future__ import annotations

import numpy as np

from ...base.so3 import skew
from ...dynamics import link_motions
from ...signals.trial import PostureWrenches
from ...skeleton.rig import Rig
from ...tracking.motion_errors import CHUNK_FRAMES, MotionErrors, TrackedPoses
from ...values.inertials import (
    FIRST_MOMENT,
    GRAVITY_VECTOR,
    INERTIA,
    PER_LINK,
    InertialParameters,
    steiner,
    symmetric_entries,
)
from ...values.motion import Motion

TIME_STEP = 0.08
"""[s] between the frames whose errors are computed: postures change slowly. Measured on a drop jump,
squats and a walk of one person: with .24 s the forces of the jump are predicted 2.5 % worse."""
MAX_SAMPLES = 2048
"""Frames of a trial beyond which blocks of them are left out: with their errors they need 30 MB."""


def posture_wrenches(rig: Rig, motion: Motion, errors: MotionErrors, base: int = 0) -> PostureWrenches:
    """Differences of the wrench that the true motion needs from that of the tracked one, by the rig's prior.

    The true pose has each link displaced by d, at its centre of mass, and turned by r. With x from the base to the
    centre of mass, w the angular velocity and I' = [w] I - I [w], let P be the sum of m d, A that of m x x d + I r, and
    B that of m x' x d + (I' + [I w]) r / 2. The force changes by P'', the moment about the tracked base by
    A'' - 2 B' + (g - base'') x P.

    The error of a joint centre also displaces a link's centre of mass by a constant, in its axes. That is the same as
    other parameters, which those that explain a motion best contain: it is no error of the equations but of the result,
    and returned apart as `PostureWrenches.origins`.

    To design motions for people, stack rows [E | Y_b] of each motion: E (6, S) these errors, Y_b (6, B) the columns of
    the base parameters, both whitened by the plate's noise. Their Gram matrices add up over motions, as the S gains and
    the B parameters are the same in all. The gains have a unit prior: add the identity to their block, and eliminate
    it; what is left is the information of the base parameters, which no length of recording takes beyond these errors.

    Args:
        rig: of the person.
        motion: tracked, at a constant rate.
        errors: of the motion.
        base: index of the base link.

    Returns:
        World axes, moments about the tracked origin of the base link; no frame of a motion shorter than two time steps.
    """
    period = float(np.median(np.diff(motion.times))) if len(motion) > 1 else TIME_STEP
    step = max(1, round(TIME_STEP / period))
    sampled, period = motion.frames(slice(None, None, step)), step * period
    skipped = -(-len(sampled) // MAX_SAMPLES)
    count, skeleton = len(rig.links), errors.skeleton.T
    pulled, coordinates = errors.pairs(rig)
    (middle,) = errors.responses(rig, errors.posture[None])
    origins = _displacements(rig, middle)[0, :, :3] @ skeleton
    frames, values = [np.zeros(0, int)], [np.zeros((0, 6, 6 * len(pulled) + skeleton.shape[1]), np.float32)]
    for start in range(0, len(sampled) - 2, skipped * (CHUNK_FRAMES - 2)):
        block = sampled.frames(slice(start, start + CHUNK_FRAMES))
        (poses,), (maps, falling) = errors.responses(rig, block.q), _momentum_maps(rig, block, base)
        turned, angles = maps @ poses.turns, errors.angles(rig, block.q)[:, None, coordinates, None]
        unit = _sum_links(turned, _displacements(rig, poses))
        # frames f, sums p, links l, axes j of a pull, errors k
        pulls = unit[:, :, -6 * count :].reshape(*unit.shape[:2], count, 6)
        tissue = np.einsum("fplj,ljk->fplk", pulls, errors.soft_tissue, optimize=True)[:, :, pulled] * angles
        moved = unit @ skeleton - _sum_links(turned[..., :3], origins[None])
        sums = np.concatenate([tissue.reshape(*unit.shape[:2], -1), moved], axis=2)
        change = np.diff(sums[:, :6], 2, axis=0) / period**2
        change[:, 3:] += skew(falling[1:-1]) @ sums[1:-1, :3] - (sums[2:, 6:] - sums[:-2, 6:]) / period
        values.append(change.astype(np.float32))
        frames.append(step * (start + 1 + np.arange(len(change))))
    shifts = _shift_coms(rig.prior, origins.transpose(2, 0, 1))
    return PostureWrenches(np.concatenate(frames), step * skipped, np.concatenate(values), shifts)


def _momentum_maps(rig: Rig, motion: Motion, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Maps (n, L, 9, 6) of each link's displacement and rotation to P, A and B, and g - base'' (n, 3)."""
    links, prior = link_motions(rig, motion), rig.prior
    rotations = links.rotation.transpose(3, 2, 0, 1)  # (n, L, 3, 3)
    origin, velocity, omega, acceleration = (
        vectors.transpose(2, 1, 0)
        for vectors in (links.position, *map(links.to_world, (links.velocity, links.omega, links.acceleration)))
    )
    arms = (rotations @ prior.coms[:, :, None])[..., 0]
    inertia, around = rotations @ prior.inertias_at_com @ rotations.swapaxes(2, 3), skew(omega)
    maps = np.zeros((*arms.shape[:2], 9, 6))
    maps[:, :, :3, :3] = np.eye(3)
    maps[:, :, 3:6, :3] = skew(origin + arms - origin[:, [base]])
    maps[:, :, 6:, :3] = skew(velocity + np.cross(omega, arms) - velocity[:, [base]])
    maps[..., :3] *= prior.masses[:, None, None]
    maps[:, :, 3:6, 3:] = inertia
    spin = skew((inertia @ omega[..., None])[..., 0])
    maps[:, :, 6:, 3:] = 0.5 * (around @ inertia - inertia @ around + spin)
    return maps, GRAVITY_VECTOR - acceleration[:, base]


def _displacements(rig: Rig, poses: TrackedPoses) -> np.ndarray:
    """(n, L, 6, 3 (L - 1) + 6 L) displacement of each centre of mass, then rotation of each link, from the tracked to
    the true pose, link axes, by unit errors."""
    moved = poses.jacobians(rig.prior.coms) @ poses.response[:, None]
    below, parents = rig.descendants[1:], np.array(rig.parents[1:])
    for joint, parent in enumerate(parents):
        moved[:, below[joint], :3, 3 * joint : 3 * joint + 3] += poses.rotations[:, parent, None]
    return np.asarray(poses.turns.swapaxes(2, 3) @ moved)


def _shift_coms(prior: InertialParameters, shifts: np.ndarray) -> np.ndarray:
    """(S, L, 10) changes of the parameters by displacements (S, L, 3) [m] of the centres of mass."""
    masses, result = prior.masses[:, None], np.zeros((*shifts.shape[:2], PER_LINK))
    result[:, :, FIRST_MOMENT] = masses * shifts
    # exact for a quadratic form
    result[:, :, INERTIA] = (
        masses * symmetric_entries(steiner(prior.coms + shifts) - steiner(prior.coms - shifts)) / 2.0
    )
    return result


def _sum_links(maps: np.ndarray, displacements: np.ndarray) -> np.ndarray:
    """Sum over links of maps (n, L, 9, k) times displacements (n or 1, L, k, s): (n, 9, s)."""
    count, links, rows, size = maps.shape
    flat = displacements.reshape(len(displacements), links * size, -1)
    return np.asarray(maps.swapaxes(1, 2).reshape(count, rows, links * size) @ flat)
