"""Table of the estimators by name, with one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..errors import UnknownPreset
from ..threads import one_blas_thread
from .baselines import extended_kalman, force_only, kinematic, linear_fusion
from .complementary import causal_complementary, complementary
from .smoother import smooth_centroidal
from .values import CentroidalData, CentroidalEstimate

DEFAULT_METHOD = "smoother"
METHODS: Mapping[str, Callable[[CentroidalData], CentroidalEstimate]] = MappingProxyType(
    {
        "smoother": smooth_centroidal,
        "complementary": complementary,
        "causal": causal_complementary,
        "ekf": extended_kalman,
        "fusion": linear_fusion,
        "force": force_only,
        "kinematic": kinematic,
    }
)
"""Each with its default settings."""


def estimate_centroidal(data: CentroidalData, method: str = DEFAULT_METHOD) -> CentroidalEstimate:
    """Centre of mass and momentum rate of a recording.

    Args:
        data: signals.
        method: one of `METHODS`, ``"smoother"`` by default.

    Raises:
        UnknownPreset: no such method.
        InvalidValue: the sample rate is too low for the method's filters.

    Example:
        >>> import numpy as np
        >>> import solver
        >>> times, still = np.arange(100) / 100.0, np.zeros((100, 3))
        >>> com = still + [0.0, 0.0, 0.9]
        >>> wrench = np.tile([0.0, 0.0, 60.0 * 9.81, 0.0, 0.0, 0.0], (100, 1))
        >>> data = solver.centroidal.CentroidalData(times, 60.0, com, still, still, still, wrench)
        >>> solver.centroidal.estimate_centroidal(data).com[50].round(3).tolist()
        [0.0, 0.0, 0.9]
    """
    if method not in METHODS:
        raise UnknownPreset(method, METHODS)
    # the band is factorised in many small products, which several threads slow down, up to 400 times
    with one_blas_thread():
        return METHODS[method](data)
