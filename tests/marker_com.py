"""Centre of mass straight from markers (de Leva's mass fractions), to test signals without calibration or tracking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline

from solver.formats.opensim_storage import read_forces
from solver.formats.trc import read_trc
from solver.signals import FilterPreset, low_pass, resample
from solver.values.motion import Markers
from solver.values.wrenches import Wrenches

Places = Mapping[str, tuple[str, ...]]
SUBJECT_A: Places = {
    **{f"{what}_right": (f"R_{name}",) for what, name in (("hip", "HJC"), ("shoulder", "Shoulder"))},
    **{f"{what}_left": (f"L_{name}",) for what, name in (("hip", "HJC"), ("shoulder", "Shoulder"))},
    **{f"{what}_right": (f"r_{name}",) for what, name in (("knee", "knee"), ("ankle", "ankle"), ("toe", "toe"))},
    **{f"{what}_left": (f"L_{name}",) for what, name in (("knee", "knee"), ("ankle", "ankle"), ("toe", "toe"))},
    "heel_right": ("r_calc",),
    "heel_left": ("L_calc",),
    **{f"elbow_{side}": (f"{s}_elbow_lat", f"{s}_elbow_med") for side, s in (("right", "R"), ("left", "L"))},
    **{f"wrist_{side}": (f"{s}_wrist_radius", f"{s}_wrist_ulna") for side, s in (("right", "R"), ("left", "L"))},
}
RUNNER: Places = {
    place: names
    for side, s in (("right", "R"), ("left", "L"))
    for place, names in {
        f"hip_{side}": (f"{s}ASI", f"{s}PSI"),
        f"knee_{side}": (f"{s}TH3",),
        f"ankle_{side}": (f"{s}TB2",),
        f"toe_{side}": (f"{s}TOE",),
        f"heel_{side}": (f"{s}CAL",),
        f"shoulder_{side}": (f"{s}ACR",),
        f"elbow_{side}": (f"{s}LEL", f"{s}MEL"),
        f"wrist_{side}": (f"{s}FAradius", f"{s}FAulna"),
    }.items()
}
# (mass fraction, from, to, share of the way); hands ride on the forearms.
LIMBS = (
    (0.1416, "hip", "knee", 0.41),
    (0.0433, "knee", "ankle", 0.44),
    (0.0137, "heel", "toe", 0.44),
    (0.0271, "shoulder", "elbow", 0.577),
    (0.0162, "elbow", "wrist", 0.457),
    (0.0061, "elbow", "wrist", 1.3),
)
TRUNK, HEAD = 0.4346, 0.0694


@dataclass(frozen=True, slots=True)
class Body:
    """What the tests need of one recorded trial, filtered."""

    times: np.ndarray  # (N,)
    velocity: np.ndarray  # (N, 3) of the centre of mass
    acceleration: np.ndarray  # (N, 3)
    feet: np.ndarray  # (N, 4, 3)
    root: np.ndarray  # (N, 3)
    native: Wrenches
    filtered: Wrenches  # at the times
    load: np.ndarray  # (N,) unfiltered vertical force


def body(markers_file: Path, forces_file: Path, places: Places, preset: FilterPreset) -> Body:
    """One trial read from its files."""
    markers, native = read_trc(markers_file)[0], read_forces(forces_file)[0]
    times = markers.times
    points = {place: _mean(markers, names) for place, names in places.items()}
    com, root = _com(points)
    rate = (len(times) - 1) / (times[-1] - times[0])
    spline = make_interp_spline(times, low_pass(com, rate, preset), k=5)
    feet = np.stack([points[f"{what}_{side}"] for what in ("toe", "heel") for side in ("right", "left")], axis=1)
    load = np.interp(times, native.times, native.total[:, 2])
    return Body(times, spline(times, 1), spline(times, 2), feet, root, native, resample(native, times, preset), load)


def _mean(markers: Markers, names: tuple[str, ...]) -> np.ndarray:
    """Mean of markers, gaps bridged linearly."""
    tracks = []
    for name in names:
        track = np.array(markers.of(name))
        seen = np.isfinite(track[:, 0])
        for axis in range(3):
            track[:, axis] = np.interp(markers.times, markers.times[seen], track[seen, axis])
        tracks.append(track)
    return np.mean(tracks, axis=0)


def _com(points: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and middle of the hips."""
    hips = 0.5 * (points["hip_right"] + points["hip_left"])
    shoulders = 0.5 * (points["shoulder_right"] + points["shoulder_left"])
    spine = shoulders - hips
    total = TRUNK * (hips + 0.569 * spine) + HEAD * (shoulders + 0.45 * spine)
    for fraction, start, stop, share in LIMBS:
        for side in ("right", "left"):
            a, b = points[f"{start}_{side}"], points[f"{stop}_{side}"]
            total = total + fraction * (a + share * (b - a))
    return total, hips
