"""Estimators by name with one interface, and the files of their estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ..base.errors import UnknownPreset, checked
from ..base.threads import one_blas_thread
from ..formats.csv_tables import write_table
from ..scene.study_folder import (
    ESTIMATE_END,
    ESTIMATE_TABLE_END,
)
from ..storage.output_folder import write_folder
from .baselines import extended_kalman, force_only, kinematic, linear_fusion
from .complementary import causal_complementary, complementary
from .complementary_filters import FLIGHT
from .kinetics import Kinetics
from .signal_checks import check_signals, flight_intervals
from .smoother import smooth_centroidal
from .values import COM, ESTIMATE, KINEMATIC, MOMENTUM, MOMENTUM_RATE, UNITS, WRENCH, CentroidalData, CentroidalEstimate

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


@checked
def estimate_centroidal(data: CentroidalData, method: str = DEFAULT_METHOD) -> CentroidalEstimate:
    """Centre of mass and momentum rate of a recording, with its flights and the values of each source alone.

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
        estimate = METHODS[method](data)
    kinetics = Kinetics.from_data(data, causal=False)
    com, rate = estimate.com.T, estimate.momentum_rate.T
    axis = np.where(kinetics.axis_weight > FLIGHT, kinetics.axis_point(com, rate), np.nan)
    turning = np.where(kinetics.weight > 0.0, kinetics.momentum_rate(com), np.nan)
    sources = {
        (KINEMATIC, COM): data.com,
        (KINEMATIC, MOMENTUM): data.momentum,
        (KINEMATIC, MOMENTUM_RATE): data.momentum_rate,
        (WRENCH, COM): axis.T,
        (WRENCH, MOMENTUM_RATE): turning.T,
    }
    return replace(
        estimate,
        notes=(*estimate.notes, *check_signals(data)),
        wrench=np.where(data.known[:, None], data.wrench, np.nan),
        flights=flight_intervals(data),
        sources={f"{who} {what}": values for (who, what), values in sources.items()},
    )


@checked
def write_estimates(folder: str | Path, estimates: dict[str, CentroidalEstimate]) -> tuple[str, ...]:
    """``NAME.centroidal.npz`` and ``NAME.centroidal.csv`` of every trial, complete or not at all; the files' names.

    Raises:
        InputError: the folder cannot be written.

    Example:
        >>> import solver
        >>> found = solver.load_study("results").centroidal()  # doctest: +SKIP
        >>> solver.centroidal.write_estimates("momentum", found)  # doctest: +SKIP
    """
    with write_folder(folder) as building:
        for name, found in estimates.items():
            ESTIMATE.write(building / f"{name}{ESTIMATE_END}", found)
            titles, values = _columns(found)
            write_table(building / f"{name}{ESTIMATE_TABLE_END}", found.times, titles, values)
        return tuple(sorted(file.name for file in building.iterdir()))


def _columns(found: CentroidalEstimate) -> tuple[tuple[str, ...], np.ndarray]:
    """Titles and values (N, C) of the table: the estimate, the contact wrench about the world origin that it requires,
    and the values of the sources."""
    force, moment = found.required_wrench[:, :3], found.required_wrench[:, 3:]
    estimated = (found.com, found.acceleration, found.momentum, found.momentum_rate, force, moment)
    named = dict(zip(UNITS.items(), estimated, strict=True))
    for source, values in found.sources.items():
        named[source.replace(" ", "_"), UNITS[source.split()[1]]] = values
    titles = tuple(f"{name}_{axis} [{unit}]" for name, unit in named for axis in "xyz")
    return titles, np.concatenate(list(named.values()), axis=1)
