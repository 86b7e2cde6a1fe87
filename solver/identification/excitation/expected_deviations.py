"""Expected standard deviations of all base parameters after candidate motions.

The criterion (12) considers each link alone and ignores correlations between the columns of different links. Here the
whole information matrix W_b' P W_b is used, with a prior (each parameter has the size of its kind), so that it is
regular from the first motion on.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from ...dynamics import STATIC_PARAMETERS
from ...skeleton.rig import Rig
from ...values.inertials import PER_LINK, InertialParameters
from ...values.motion import Motion
from ..base_parameters import BaseParameters
from .excitation import base_regressor
from .wrench_noise import WrenchNoise

DESIGN_NOISE = np.array([0.2, 0.2, 0.2, 0.02, 0.02, 0.02])
"""[N, N m] noise of a good plate. Chosen on dances of HOAP-3: those designed for 2 N and 1 N m, where the prior counts
more, were 8 % worse at either noise."""
DESIGN_RATE = 50.0
"""[1/s] of the frames whose information is computed, bonnet2016's sampling."""
PLATE_NOISE_ONLY = WrenchNoise(DESIGN_NOISE, DESIGN_RATE)


def parameter_sizes(structure: BaseParameters, prior: InertialParameters) -> np.ndarray:
    """(B,) root mean square of the base parameters of the same kind: masses, first moments, inertias."""
    values, parameter = structure.project(prior), structure.independent % PER_LINK
    kind = (parameter > 0).astype(int) + (parameter >= STATIC_PARAMETERS)
    rms = np.array([np.sqrt(np.mean(values[kind == k] ** 2)) if (kind == k).any() else 1.0 for k in range(3)])
    return np.maximum(rms, np.finfo(float).tiny)[kind]


class ExpectedDeviations:
    """Geometric mean of the base parameters' standard deviations, each divided by the size of its kind.

    Every parameter counts equally, whether it is well known or badly: the arithmetic mean (A-optimal) depends on the
    worst. Dances of 12 postures of HOAP-3 designed with the arithmetic mean were 16 % worse on geometric average
    (simulated).

    Has the same interface as `GramMatrices`; its matrices are (1, B, B), in units of the sizes.

    Args:
        structure: B base parameters.
        prior: gives the sizes.
        noise: of the equations.
        mirror: (B, B) base parameters of the mirrored body from its own, `mirrored_parameters`; with it each motion
            also counts as danced in the mirror. None: it does not.
    """

    def __init__(
        self,
        structure: BaseParameters,
        prior: InertialParameters,
        noise: WrenchNoise = PLATE_NOISE_ONLY,
        mirror: np.ndarray | None = None,
    ) -> None:
        self.structure, self.noise = structure, noise
        self._scale = parameter_sizes(structure, prior)
        self._mirror = None if mirror is None else mirror * self._scale / self._scale[:, None]

    @property
    def prior_matrices(self) -> np.ndarray:
        """(1, B, B) before any motion: each parameter has the size of its kind."""
        return np.eye(len(self._scale))[None]

    def motion_matrices(self, rig: Rig, motion: Motion, groups: int = 1) -> np.ndarray:
        """Information (groups, 1, B, B) of a motion's frames, divided into equal groups."""
        own = (
            self.noise.whitening(rig, motion)
            @ base_regressor(rig, motion, self.structure)
            * (self._scale / np.sqrt(DESIGN_RATE))
        )
        own = own.reshape(groups, -1, len(self._scale))
        return self._with_image(own.transpose(0, 2, 1) @ own)[:, None]

    def value(self, matrices: np.ndarray) -> np.ndarray:
        """Geometric mean of the deviations (...,)."""
        information = matrices[..., 0, :, :]
        flat = information.reshape(-1, *information.shape[-2:])
        means = [np.exp(np.log(self._deviations(matrix)).mean()) for matrix in flat]
        return np.array(means).reshape(information.shape[:-2])

    def deviations(self, matrices: np.ndarray) -> np.ndarray:
        """(B,) of every base parameter after information (1, B, B), over the size of its kind."""
        return self._deviations(matrices[0])

    def gradient(self, rig: Rig, motion: Motion, rows: np.ndarray, history: np.ndarray, share: float) -> np.ndarray:
        """Derivative (N, 6, B) of the criterion by a motion's rows (N, 6, B) of W_b, divided by their share.

        The noise is taken as constant; the trials of a step account for its dependence on the motion.
        """
        whitening = self.noise.whitening(rig, motion) / np.sqrt(DESIGN_RATE)
        scaled = whitening @ rows * self._scale
        flat = scaled.reshape(-1, len(self._scale))
        inverse = np.linalg.inv(history[0] + share * self._with_image(flat.T @ flat))
        variances = np.maximum(inverse.diagonal(), 1e-300)
        weights = np.exp(0.5 * np.log(variances).mean()) / len(variances) / variances
        moved = inverse * weights @ inverse
        if self._mirror is not None:
            moved = moved + self._mirror @ moved @ self._mirror.T
        return -(whitening.swapaxes(1, 2) @ scaled) @ moved * self._scale

    def _with_image(self, information: np.ndarray) -> np.ndarray:
        """Information (..., B, B) of a motion, and of its mirror image if it is danced too."""
        return information if self._mirror is None else information + self._mirror.T @ information @ self._mirror

    def _deviations(self, matrix: np.ndarray) -> np.ndarray:
        factor, failed = dpotrf(matrix, lower=1)
        inverse, _ = dtrtri(factor, lower=1)
        # rows i of the inverse factor, base parameters j: the diagonal of the inverse
        return np.sqrt(np.einsum("ij,ij->j", inverse, inverse)) if not failed else np.full(len(matrix), np.inf)
