"""Estimators by name with one interface, and estimates of a study's trials: from its folder to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ..base.errors import InputError, InvalidValue, UnknownName, UnknownPreset
from ..base.progress import Progress, silent
from ..base.threads import one_blas_thread
from ..formats.csv_tables import write_table
from ..scene.motion_record import MOTION, MotionRecord
from ..scene.result import COVARIANCE, RESULT
from ..scene.study_folder import (
    COVARIANCE_FILE,
    ESTIMATE_END,
    ESTIMATE_TABLE_END,
    MOTION_END,
    RESULT_FILE,
    read_trial_files,
    trial_files,
)
from ..storage.manifest import stored_file
from ..storage.output_folder import read_consistent, write_folder
from ..values.inertials import InertialParameters
from .baselines import extended_kalman, force_only, kinematic, linear_fusion
from .complementary import causal_complementary, complementary
from .complementary_filters import FLIGHT
from .inputs import centroidal_data
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
Body = tuple[InertialParameters, np.ndarray | None]
"""Inertials, and a square root (M, L, 10) of their path if it is known."""


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


def estimate_study(
    folder: str | Path,
    *,
    method: str = DEFAULT_METHOD,
    trials: Sequence[str] = (),
    prior: bool = False,
    progress: Progress = silent,
) -> dict[str, CentroidalEstimate]:
    """Centre of mass and momentum rate of a study's trials with forces.

    Args:
        folder: that `identify` wrote.
        method: one of `estimate.METHODS`.
        trials: names; all with forces by default.
        prior: kinematics of the prior's inertials instead of the identified ones.
        progress: receives progress.

    Raises:
        InputError: no such folder, or no trial with forces in it.
        UnknownName: no such trial.
        InvalidValue: a trial's signals cannot be estimated; it is named.

    Example:
        >>> import tempfile
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> settings = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=settings)
        >>> folder = tempfile.mkdtemp()
        >>> names = solver.write_study(folder, study, simulated=True)
        >>> found = solver.estimate_study(folder)["dance"]
        >>> found.com.shape == found.momentum_rate.shape == (len(found), 3)
        True
    """
    records, body = read_study_trials(folder, trials, prior=prior)
    found = {}
    for number, (name, record) in enumerate(records.items()):
        progress(number / len(records), f"estimating {name}")
        parameters, root = (record.rig.prior, None) if body is None else body
        assert record.trial is not None
        data = centroidal_data(record.rig, record.trial, parameters, root)
        try:
            found[name] = estimate_centroidal(data, method)
        except InvalidValue as error:
            raise InvalidValue(f"trial {name!r}: {error}") from None
    progress(1.0, "estimated")
    return found


def write_estimates(folder: str | Path, estimates: dict[str, CentroidalEstimate]) -> tuple[str, ...]:
    """``NAME.centroidal.npz`` and ``NAME.centroidal.csv`` of every trial, complete or not at all; the files' names.

    Raises:
        InputError: the folder cannot be written.

    Example:
        >>> import solver
        >>> found = solver.estimate_study("results")  # doctest: +SKIP
        >>> solver.write_estimates("momentum", found)  # doctest: +SKIP
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


def read_study_trials(
    folder: str | Path, trials: Sequence[str] = (), *, prior: bool = False
) -> tuple[dict[str, MotionRecord], Body | None]:
    """The trials with forces of a study's folder, and the identified body; None for the prior.

    Args:
        folder: that `identify` wrote.
        trials: names; all with forces by default.
        prior: leave the identified body out.

    Raises:
        InputError: no such folder, or no trial with forces in it.
        UnknownName: no such trial.
    """
    folder = Path(folder)
    if not os.path.isdir(folder):
        raise InputError(
            folder, "is not the folder of a study", remedy="Give the folder that `identify --output` wrote"
        )
    return read_consistent(folder, lambda: _read(folder, trials, prior))


def _read(folder: Path, requested: Sequence[str], prior: bool) -> tuple[dict[str, MotionRecord], Body | None]:
    files = trial_files(folder)
    for name in requested:
        if name not in files:
            raise UnknownName(name, files)
    read = read_trial_files(folder, MOTION_END, MOTION, requested)
    records = {name: record for name, record in read.items() if record.trial is not None and record.trial.counted.any()}
    if not records:
        what = f"{', '.join(requested)}: no forces" if requested else f"holds no {MOTION_END} with forces"
        raise InputError(folder, what, remedy="Identify with force files")
    result = stored_file(folder, RESULT_FILE)
    if prior or not os.path.exists(result):
        return records, None
    parameters, path = RESULT.read(result).parameters, stored_file(folder, COVARIANCE_FILE)
    if not os.path.exists(path):
        return records, (parameters, None)
    covariance = COVARIANCE.read(path)
    if covariance.links != parameters.links:
        raise InputError(path, "has other links than the result", remedy="Identify again")
    return records, (parameters, covariance.root)
