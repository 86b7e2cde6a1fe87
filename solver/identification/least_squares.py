"""Minimum-norm least squares, jovic2016 (5), (6): uses the data alone; often not physically consistent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import svd

from ..base.errors import InvalidValue
from ..qp import Status
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .estimate import Estimate
from .regression import Regression

if TYPE_CHECKING:
    from .identify import IdentifyOptions

RANK_TOLERANCE = 1e-10
"""Singular values below this fraction of the largest count as zero; the paper's parameters are not scaled."""


def minimum_norm(regression: Regression, rig: Rig, *, tolerance: float = RANK_TOLERANCE) -> Estimate:
    """phi = Y^+ f: of all parameters that explain the wrench best, those of least norm; no prior, no constraint.

    The notes list links with negative masses; the settings hold the numerical rank.

    Raises:
        InvalidValue: the regression is empty.
    """
    began = time.perf_counter()
    U, s, Vt = svd(regression.factor, full_matrices=False, check_finite=False)
    if not len(s) or not s[0] > 0.0:
        raise InvalidValue("the regression holds no equation")
    rank = int(np.sum(s > tolerance * s[0]))
    phi = Vt[:rank].T @ ((U[:, :rank].T @ regression.target) / s[:rank])
    parameters = InertialParameters.from_vector(regression.links, phi)
    negative = [link for link, mass in zip(parameters.links, parameters.masses) if mass < 0.0]
    notes = (f"negative masses: {', '.join(negative)}",) if negative else ()
    return Estimate(
        "minimum_norm",
        parameters,
        rig.prior,
        Status.OPTIMAL,
        regression.cost(parameters),
        regression.cost(rig.prior),
        settings={"rank": rank, "columns": regression.factor.shape[1], "condition": float(s[0] / s[rank - 1])},
        notes=notes,
        seconds=time.perf_counter() - began,
    )


def fit(regression: Regression, rig: Rig, options: IdentifyOptions) -> Estimate:
    """The method ``minimum_norm`` of `identification_methods`."""
    return minimum_norm(regression, rig)
