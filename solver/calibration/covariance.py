"""Covariance of the joint centres and marker locations of a calibration: soft tissue under the markers, and the prior.

The least-squares estimate of joint centres, marker locations and poses responds linearly to small changes of the
markers and of the prior means. The soft tissue moves the markers with the angles of the joints beside their link, by
gains that are the same in every frame (`tracking.motion_errors`); the prior means err by their standard deviations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..coordinates import coordinate_links, joint_coordinates
from ..tracking.motion_errors import SHARED, soft_tissue_std
from .fit import CalibrationFrame, SubjectFit


def calibration_covariance(
    fit: SubjectFit,
    theta: np.ndarray,
    samples: list[CalibrationFrame],
    sizes: Mapping[str, float],
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance (T, T) [m^2] of a finished fit's unknowns, and the configuration (nq,) about which soft tissue moves.

    Args:
        fit: of joint centres and marker locations.
        theta: (T,) solution.
        samples: with the poses of the solution.
        sizes: [m/rad] of the soft tissue by segment.
    """
    rig = fit.rig
    frames = fit.linearise(samples, fit.set_joint_centres(theta), exact=False)
    blocks = frames.build_equations(fit.unknowns, exact=False)
    cross = blocks.cross[:, :, :-1]
    response = np.linalg.solve(blocks.pose_hessian, cross)
    # frames f, coordinates v, unknowns t and s
    schur_complement = fit.information + blocks.theta_hessian - np.tensordot(cross, response, axes=((0, 1), (0, 1)))
    angles = joint_coordinates(rig, np.array([sample.q for sample in samples]))
    middle = int(np.argmin(((angles - angles.mean(axis=0)) ** 2).sum(axis=1)))
    angles = angles - angles[middle]
    square = fit.information.copy()
    for coordinate, (link,) in enumerate(coordinate_links(rig)):
        own = rig.index(link)
        moved = replace(frames, weights=angles[:, coordinate, None] * frames.weights)
        hessian = moved.theta_hessian(fit.unknowns)
        for carrier in (own, rig.parents[own]):
            markers = np.flatnonzero(fit.links == carrier)
            columns = (3 * fit.joints + 3 * markers + np.arange(3)[:, None]).reshape(-1)
            part = angles[:, coordinate, None, None] * cross[:, :, columns]
            # unknowns t, axes and markers of the displacements
            pulls = hessian[:, columns] - np.tensordot(response, part, axes=((0, 1), (0, 1)))
            together = pulls.reshape(len(pulls), 3, -1).sum(axis=2)
            variance = soft_tissue_std(rig, carrier, sizes) ** 2
            square += variance * (SHARED * together @ together.T + (1.0 - SHARED) * pulls @ pulls.T)
    inverse = np.linalg.inv(schur_complement)
    return inverse @ square @ inverse, samples[middle].q
