"""Forces: each plate pushes up, no load is counted twice, and loads act where the body is."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...formats.axes_and_units import MIN_MARKERS_FOR_EXTENT
from ...formats.c3d_plates import CONTACT_FORCE
from ...formats.wrench_checks import LOADED_FRACTION, spread
from ...values.wrenches import Wrenches
from ..check_definition import InputCheck, InputProblem, InputToCheck

LEAST_SHARE = 0.05
"""Fraction of the largest total load below which a plate takes no part; idle plates read up to .03, measured on the
walks of a laboratory with tilted plates."""
MIN_SAMPLES = 10
"""Fewest loaded samples of a plate that say something. Measured on the recordings of `body_points.SAMPLES`: 2 find the
same, with 50 a run on its side passes."""
SAME_FORCE, SAME_PLACE = 0.01, 0.005
"""Relative difference and distance [m] up to which two plates hold the same load. Chosen on recordings of subjects
a, b, c, e, six Plug-in Gait laboratories and a flywheel: two loaded plates are .24 m or more apart."""
LOW = 0.35
"""[m] Markers up to this height above the lowest one of the same frame may be on what stands on a plate; chosen on the
same recordings, where .2 gives the same distances within 2 cm."""
MAX_DISTANCE, MAX_DISTANCE_OF_FEW = 0.3, 0.5
"""[m] Largest median distance of a plate's centre of pressure from the nearest low marker; the second, of few markers,
which may be far above the feet. Chosen on the same recordings: .07 m or less, .1 m with clusters on the shanks only."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    if inputs.recording.wrenches is None:
        return None
    wrenches = spread(inputs.recording.wrenches)
    vertical = np.nan_to_num(wrenches.values[:, :, 2])
    peaks = np.abs(vertical).max(axis=0)
    used = peaks > max(CONTACT_FORCE, LEAST_SHARE * float(np.abs(vertical.sum(axis=1)).max()))
    loaded = (np.abs(vertical) > np.maximum(CONTACT_FORCE, LOADED_FRACTION * peaks)) & used
    return (
        _find_pulling(inputs, vertical, loaded)
        or _find_repeated(wrenches, loaded)
        or _find_distant(inputs, wrenches, loaded)
    )


def _find_pulling(inputs: InputToCheck, vertical: np.ndarray, loaded: np.ndarray) -> InputProblem | None:
    """A plate can only push a body up; hands of a robot may pull."""
    assert inputs.recording.wrenches is not None
    frames = inputs.recording.wrenches.frames
    grips = {
        name
        for patch in (inputs.rig.contacts if inputs.rig else ())
        if not patch.sole
        for name in (patch.name, patch.link)
    }
    means = [float(vertical[own, k].mean()) if own.any() else 0.0 for k, own in enumerate(loaded.T)]
    if not (pulling := [name for name, mean in zip(frames, means) if mean < 0.0 and name not in grips]):
        return None
    listed = ", ".join(f"{name} {mean:+.0f} N" for name, mean in zip(frames, means) if mean)
    text = f"{', '.join(pulling)} would pull the body down while loaded, but a plate can only push up ({listed})"
    return InputProblem(
        text, "Correct the polarity of that plate in the recording system, or export the trial without it"
    )


def _find_repeated(wrenches: Wrenches, loaded: np.ndarray) -> InputProblem | None:
    """Two plates that cover one place hold one load twice."""
    places = wrenches.centres_of_pressure(loaded)
    for a, b in combinations(range(len(wrenches.frames)), 2):
        both = loaded[:, a] & loaded[:, b]
        if both.sum() < MIN_SAMPLES:
            continue
        forces = wrenches.values[both][:, [a, b], :3]
        same = np.linalg.norm(forces[:, 0] - forces[:, 1], axis=1) < SAME_FORCE * np.linalg.norm(forces[:, 0], axis=1)
        near = ~(np.linalg.norm(places[both, a] - places[both, b], axis=1) > SAME_PLACE)
        if np.mean(same & near) > 0.5:
            pair = f"{wrenches.frames[a]} and {wrenches.frames[b]}"
            return InputProblem(
                f"{pair} hold the same force at the same place: it would count twice", "Export each plate once"
            )
    return None


def _find_distant(inputs: InputToCheck, wrenches: Wrenches, loaded: np.ndarray) -> InputProblem | None:
    """The centre of pressure lies under what stands there."""
    markers = inputs.recording.markers
    if markers is None or not np.asarray(wrenches.measured)[:, 3:5].all():
        return None
    most = MAX_DISTANCE_OF_FEW if len(markers.names) < MIN_MARKERS_FOR_EXTENT else MAX_DISTANCE
    inside = (wrenches.times >= markers.times[0]) & (wrenches.times <= markers.times[-1])
    places = wrenches.centres_of_pressure(loaded & (wrenches.values[:, :, 2] > 0.0) & inside[:, None])
    for k, name in enumerate(wrenches.frames):
        samples = np.flatnonzero(np.isfinite(places[:, k, 0]))
        samples = samples[:: max(1, len(samples) // 200)]
        if len(samples) < MIN_SAMPLES:
            continue
        positions = markers.positions[np.searchsorted(markers.times, wrenches.times[samples])]
        seen = np.isfinite(positions[:, :, 2])
        lowest = np.where(seen, positions[:, :, 2], np.inf).min(axis=1, keepdims=True)
        away = np.linalg.norm(positions[:, :, :2] - places[samples, k, None, :2], axis=2)
        nearest = float(np.median(np.where(seen & (positions[:, :, 2] <= lowest + LOW), away, np.inf).min(axis=1)))
        if nearest > most:
            return InputProblem(
                f"the centre of pressure of {name} lies {nearest:.2g} m from the nearest marker near the floor",
                "Check the place of the plate (C3D: FORCE_PLATFORM:CORNERS and ORIGIN), the axes (--force-up), the "
                "units (--force-units mm; C3D: ANALOG:UNITS), and that forces and markers are of the same trial",
            )
    return None


FORCES = InputCheck(
    name="forces",
    measures="sign and place of the loads of plates against the markers and the body",
    measure=_measure,
)
