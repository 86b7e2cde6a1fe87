"""Size: the stature that legs and shoulders show against the body's, or against the statures of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...formats.axes_and_units import LENGTH_UNITS, UNIT_NAMES
from ...signals.trial import Recording
from ...values.person import CHAINS, STATURES
from ..body_points import LEG_LENGTH
from ..check_definition import InputCheck, InputProblem, InputToCheck, OtherReading

RATIOS, POSTURE, CLOSE_RATIOS = (0.6, 1.6), 0.2, (0.75, 1.3)
"""Statures relative to the body's: accepted as they are, with markers of somebody who crouches, and by another unit."""
ADULTS = (1.2, 2.2)
"""[m] Statures for which another unit is accepted if no body is known. Measured on the recordings of
`formats.axes_and_units.AXIS_DOMINANCE`: a tenth and ten times the limits find the same."""
RIGHT_LEG = tuple(f"right_{part}" for part in CHAINS[1])
POWERS = [10.0**k for k in range(-6, 7)]
"""Powers of ten. By definition."""
FACTORS = (
    {
        **{
            f"lengths in {UNIT_NAMES.get(unit, unit)} instead of m": size
            for unit, size in LENGTH_UNITS.items()
            if size != 1.0
        },
        **{f"lengths {factor:g} times as large": factor for factor in (10.0, 100.0, 1000.0)},
        "lengths in inch instead of cm": 2.54,
        "lengths in inch instead of mm": 25.4,
    },
    {f"lengths {factor:g} times as large": factor for factor in POWERS},
    {
        f"lengths in {UNIT_NAMES.get(unit, unit)}, {power:g} times as large": LENGTH_UNITS[unit] * power
        for unit in ("inch", "cmu")
        for power in POWERS
    },
)
"""Lengths by another unit; by a power of ten, as of an import into Blender at another scale; by both. Each is tried if
none before fits. By definition of the units."""


def _range(inputs: InputToCheck, people: tuple[float, float], ratios: tuple[float, float]) -> np.ndarray:
    """[m] Lowest and highest accepted stature."""
    rig = inputs.rig
    if rig is None or not set(RIGHT_LEG) <= set(rig.links):
        return np.array(people)
    joints = rig.rest[1][[rig.index(link) for link in RIGHT_LEG]]
    return np.array(ratios) * np.linalg.norm(np.diff(joints, axis=0), axis=1).sum() / LEG_LENGTH


def _measure(inputs: InputToCheck) -> InputProblem | None:
    stature = np.nan if inputs.points is None else inputs.points.stature
    low, high = _range(inputs, STATURES, RATIOS if inputs.recording.markers is None else (POSTURE, RATIOS[1]))
    if not np.isfinite(stature) or low <= stature <= high:
        return None
    return InputProblem(
        f"the recorded body is {stature:.3g} m tall, the expected one {low:.2g} to {high:.2g} m",
        "State the unit of lengths (--units), or scale its object in Blender "
        f"by {10.0 ** round(np.log10(np.mean(ADULTS) / max(stature, 1e-6))):g}",
    )


def _readings(inputs: InputToCheck) -> Sequence[OtherReading]:
    assert inputs.points is not None
    low, high = _range(inputs, ADULTS, CLOSE_RATIOS)
    stature = inputs.points.stature
    fitting = ([item for item in each.items() if low <= item[1] * stature <= high] for each in FACTORS)
    found = next(filter(None, fitting), [])
    return tuple(OtherReading(name, "--units m", partial(_scale, factor)) for name, factor in found)


def _scale(factor: float, recording: Recording) -> Recording:
    """The recording with other lengths."""
    markers, segments = recording.markers, recording.segments
    if markers is not None:
        markers = replace(markers, positions=factor * markers.positions)
    if segments is not None and segments.positions is not None and segments.rest is not None:
        rest = replace(segments.rest, heads=factor * segments.rest.heads, tips=factor * segments.rest.tips)
        segments = replace(segments, positions=factor * segments.positions, rest=rest)
    return replace(recording, markers=markers, segments=segments)


SIZE = InputCheck(
    name="size",
    measures="stature by the legs, or by the way from feet to shoulders, against the body's, or that of people",
    measure=_measure,
    readings=_readings,
    option="units",
)
