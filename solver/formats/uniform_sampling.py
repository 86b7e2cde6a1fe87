"""Resampling of rows at non-uniform times to a uniform rate, which filters and derivatives need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..base.clock import LOST, interpolate, uniform_times
from ..base.errors import InputError
from ..base.so3 import continuous_signs
from ..values.wrenches import Wrenches
from .text_files import Warn, check_rate
from .wrench_checks import MISSING_REMEDY

_QUATERNION = re.compile(r"(.*)q[xyzw0-4]$")
"""Pattern of the column names of a quaternion's components."""


def resample_rows(
    path: str | Path,
    times: np.ndarray,
    values: np.ndarray,
    lines: np.ndarray,
    warn: Warn,
    names: Sequence[str] = (),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Resample a table to a uniform rate; times, values and line numbers.

    Time stamps that are uniform, or were only rounded, are kept. Others are resampled at their median step, with a
    warning. Lost samples become missing ones.

    Args:
        path: the file they came from.
        times: (N,) [s], increasing, freed of rounding.
        values: (N, C), NaN where missing.
        lines: (N,) line number of each row.
        warn: receives the warning.
        names: C column names; components of quaternions, ``NAMEqx`` to ``NAMEqw``, are interpolated together.

    Raises:
        InputError: times in milliseconds, or more than half of the samples of the uniform times are missing.
    """
    check_rate(times, lines, path)
    steps = np.diff(times)
    step = float(np.median(steps)) if len(steps) else 1.0
    with np.errstate(over="ignore"):  # infinitely many
        lost = float(np.sum(np.maximum(np.round(steps / step) - 1, 0)[steps > LOST * step]))
    if not lost <= len(times):  # before there is a grid, which may be of any length
        row = int(np.argmax(steps)) + 1
        problem = f"the time step before this row is {steps[row - 1]:g} s, others are {step:g} s"
        remedy = "Split the file there, or export every frame; a missing sample is an empty cell"
        raise InputError(path, problem, place=f"line {lines[row]}", remedy=remedy)
    grid, even = uniform_times(times)
    if even:
        return times, values, lines
    found = _interpolate(times, values, grid, _quaternion_columns(names))
    text = f"{Path(path).name}: resampled to a uniform {1.0 / step:.4g} Hz, because its time steps vary from "
    text += f"{steps.min():.3g} to {steps.max():.3g} s"
    warn(f"{text}; {lost:.0f} lost samples are treated as missing" if lost else text)
    return grid, found, lines[np.searchsorted(times, grid).clip(0, len(lines) - 1)]


def resample_wrenches(path: str | Path, wrenches: Wrenches, lines: np.ndarray, missing: str, warn: Warn) -> Wrenches:
    """Resample wrenches to a uniform rate; the same axes are measured in all rows.

    Moments about a fixed point are interpolated because, unlike centres of pressure, they are linear in the load.

    Args:
        path: the file they came from.
        wrenches: as read.
        lines: (N,) line number of each sample.
        missing: ``"error"`` refuses lost samples, ``"keep"`` leaves them NaN.
        warn: receives the warning.

    Raises:
        InputError: see `resample_rows`; or samples were lost.
    """
    flat = wrenches.values.reshape(len(wrenches), -1)
    times, values, own = resample_rows(path, wrenches.times, flat, lines, warn)
    if times is wrenches.times:
        return wrenches
    found = values.reshape(len(times), -1, 6)
    lost = ~np.isfinite(found[:, :, :3]).all(axis=(1, 2))
    if lost.any() and missing == "error":
        place = f"line {own[int(np.argmax(lost))]}"
        raise InputError(path, f"{int(lost.sum())} force samples are missing", place=place, remedy=MISSING_REMEDY)
    assert wrenches.measured is not None
    return Wrenches(times, wrenches.frames, found, np.tile(wrenches.measured[0], (len(times), 1)))


def _interpolate(
    times: np.ndarray, values: np.ndarray, grid: np.ndarray, quaternions: Sequence[Sequence[int]]
) -> np.ndarray:
    """Values (K, C) interpolated at a grid; quaternions keep their lengths."""
    values = np.array(values, float)
    for four in quaternions:
        known = np.isfinite(values[:, four]).all(axis=1)
        values[np.ix_(known, four)] = continuous_signs(values[np.ix_(known, four)])
    found = interpolate(times, values, grid)
    for four in quaternions:
        lengths = np.linalg.norm(values[:, four], axis=1, keepdims=True)
        own = np.linalg.norm(found[:, four], axis=1, keepdims=True)
        found[:, four] *= interpolate(times, lengths, grid) / np.where(own > 0.0, own, 1.0)
    return found


def _quaternion_columns(names: Sequence[str]) -> list[list[int]]:
    """Columns of each quaternion."""
    groups: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        if match := _QUATERNION.fullmatch(name):
            groups.setdefault(match[1], []).append(column)
    return [columns for columns in groups.values() if len(columns) == 4]
