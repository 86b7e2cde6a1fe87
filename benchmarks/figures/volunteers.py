"""Simulated volunteers drawn from the population, whose skin moves over their bones: accuracy of the calibration.

Everything here is simulated. Bodies: stature and body mass index of adults of each sex; limb segments 4 % (standard
deviation) off those of stature, left and right 0.5 % apart; pelvis as computed tomography has it, the hip centres from
Hara et al. 2016 (Sci Rep 6:37707) by leg length, which calibration does not use, +- 5 mm per axis. Markers: palpated
with half the spread that the landmarks have between people, their noise 1 mm per coordinate; the skin moves them with
the joints beside their segment (`SKIN`), which is what no rigid skeleton follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from solver.calibration import Calibration, MarkerSet, fit_calibration, load_marker_set
from solver.coordinates import coordinate_links, joint_coordinates
from solver.demo.laboratory import MarkerPlacement, record_markers
from solver.demo.motions import standing_posture, still_motion
from solver.dynamics import integrate, link_motions
from solver.motion import Markers, Motion
from solver.rig import Rig
from solver.rigs import human
from solver.rigs.human_skeleton import LATERAL_SIGN, default_lengths
from solver.threads import one_blas_thread
from solver.tracking import track_markers
from solver.trial import Recording

from .figure import Figure, at_most

VOLUNTEERS, QUICK_VOLUNTEERS = 10, 2
MARKER_SETS = ("plug_in_gait", "limb_clusters")
STATURE = {"male": (1.76, 0.07), "female": (1.63, 0.065)}
"""[m] Mean and standard deviation."""
BODY_MASS_INDEX = (23.5, 2.5)
"""[kg/m^2] Mean and standard deviation."""
LENGTH_SPREAD, SIDE_SPREAD = 0.04, 0.005
ASIS_WIDTH, PELVIS_DEPTH = (0.240, 0.016), (0.175, 0.015)
"""[m] Mean and standard deviation, over the skin."""
LUMBAR_HEIGHT = {"male": 0.126, "female": 0.172}
"""L5S1 above the ASIS in shares of their distance (Reed et al. 1999)."""
LEG_LENGTH = 0.53
"""ASIS to medial malleolus in shares of stature."""
BONE_SPREAD = 0.005
"""[m] Standard deviation of hip centres and L5S1 about what the regressions say, each axis."""
PALPATION = 0.5
FREE_PLACEMENT = 0.015
"""[m] Standard deviation of where a marker that marks no landmark is glued."""
MARKER_NOISE = 0.001
SKIN = {
    "pelvis": 0.005, "torso": 0.006, "head": 0.002, "upper_arm": 0.006, "forearm": 0.004, "hand": 0.002,
    "thigh": 0.008, "shank": 0.004, "foot": 0.002,
}  # fmt: skip
"""[m] Root mean square of skin over bone by segment: round values of the size that bone pins and fluoroscopy showed."""
SHARED = 0.5
"""Share of the skin's mean square motion that all markers of a segment have together."""
RATE, STATIC_SECONDS, SECONDS = 50.0, 1.0, 8.0
PULSES, SLOW_PULSES = (0.2, 0.9), (0.05, 0.3)
"""[Hz] Least and largest frequency of the joints' sinusoids, and those of slow motion."""
MOTIONS = {
    "legs": (("thigh", (0.25, 0.45, 0.2)), ("shank", (0.5,)), ("foot", (0.1, 0.3, 0.1)), ("torso", (0.1, 0.15, 0.15))),
    "arms": (("upper_arm", (0.4, 0.6, 0.3)), ("forearm", (0.6,)), ("hand", (0.3, 0.4, 0.3)), ("head", (0.2, 0.2, 0.4)),
             ("torso", (0.2, 0.3, 0.35))),
}  # fmt: skip
"""Amplitudes [rad] by the end of a link's name."""
CENTRES = (
    ("right_thigh", (-0.2, -0.4, 0.0)), ("left_thigh", (0.2, -0.4, 0.0)), ("shank", (0.7,)), ("foot", (0.0, -0.1, 0.0)),
    ("right_upper_arm", (-0.7, -0.4, 0.0)), ("left_upper_arm", (0.7, -0.4, 0.0)), ("forearm", (0.9,)),
)  # fmt: skip
ARMS_AWAY = (("right_upper_arm", (-0.35, 0.0, 0.0)), ("left_upper_arm", (0.35, 0.0, 0.0)), ("forearm", (0.15,)))
THINNED = 4
"""One frame in so many is tracked for the marker error."""


@dataclass(frozen=True, slots=True)
class Volunteer:
    """What the simulation knows, and what the laboratory records of it.

    Attributes:
        rig: true skeleton.
        placements: true marker places.
        recordings: static, legs, arms.
        motions: true motions by recording; positions only.
    """

    rig: Rig
    placements: tuple[MarkerPlacement, ...]
    recordings: tuple[Recording, ...]
    motions: Mapping[str, Motion]

    @property
    def hips(self) -> np.ndarray:
        """(2, 3) [m] true hip centres, left and right, from the middle of the ASIS."""
        return hip_centres(self.rig, {placement.marker: placement.position for placement in self.placements})

    def calibrated(self) -> Calibration:
        """What calibration makes of the recordings, stature, mass and sex stated."""
        known = self.rig.provenance
        return fit_calibration(self.recordings, mass=known["mass"], sex=known["sex"], height=known["height"])  # type: ignore[arg-type]


def hip_centres(rig: Rig, places: Mapping[str, np.ndarray]) -> np.ndarray:
    """(2, 3) [m] hip centres of a rig, left and right, from the middle of its ASIS markers at ``places``."""
    hips = np.array([rig.joints[rig.index(f"{side}_thigh")].position for side in ("left", "right")])
    return hips - 0.5 * (places["LASI"] + places["RASI"])


def volunteer(
    seed: int,
    pulses: tuple[float, float] = PULSES,
    moving: Mapping[str, Sequence[tuple[str, tuple[float, ...]]]] = MappingProxyType(MOTIONS),
) -> Volunteer:
    """A volunteer with a body, marker places and motions of its own; men and women, marker sets take turns.

    Args:
        seed: of everything that differs between people.
        pulses: [Hz] least and largest frequency of the motions.
        moving: amplitudes of the motions by name, as `MOTIONS`.
    """
    generator = np.random.default_rng((seed, 21))
    sex = ("male", "female")[seed % 2]
    stature = float(generator.normal(*STATURE[sex]))
    mass = float(generator.normal(*BODY_MASS_INDEX)) * stature**2
    usual = default_lengths(stature, sex)
    lengths = {name: length * (1.0 + LENGTH_SPREAD * generator.standard_normal()) for name, length in usual.items()}
    for name in ("upper_arm", "forearm", "thigh", "shank"):
        lengths[f"left_{name}"] = lengths[name] * (1.0 + SIDE_SPREAD * generator.standard_normal())
    pelvis, hips = _pelvis(stature, sex, generator)
    rig = human(stature, mass, sex, lengths=lengths, joints=hips)
    marker_set = load_marker_set(MARKER_SETS[seed // 2 % len(MARKER_SETS)])
    placements = _placements(rig, marker_set, pelvis, stature, generator)
    stands = standing_posture(rig, ARMS_AWAY)
    times = np.arange(0.0, SECONDS, 1.0 / RATE)
    motions = {"static": still_motion(rig, stands, times[: round(STATIC_SECONDS * RATE)])}
    motions |= {name: _motion(rig, amplitudes, times, generator, pulses) for name, amplitudes in moving.items()}
    shown = {name: record_markers(rig, motion, placements, generator, MARKER_NOISE) for name, motion in motions.items()}
    skin = _skin(rig, motions, placements, generator)
    return Volunteer(
        rig,
        placements,
        tuple(
            Recording(name, Markers(markers.times, markers.names, markers.positions + skin[name]))
            for name, markers in shown.items()
        ),
        motions,
    )


def _pelvis(
    stature: float, sex: str, generator: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, list[float]]]:
    """Pelvic landmarks and hip centres (3,) [m] from L5S1; x-y plane through ASIS and PSIS."""
    width, depth = generator.normal(*ASIS_WIDTH), generator.normal(*PELVIS_DEPTH)
    front = np.array([0.5 * depth, 0.0, -LUMBAR_HEIGHT[sex] * width]) + BONE_SPREAD * generator.standard_normal(3)
    front[1] = 0.0
    leg = 1e3 * LEG_LENGTH * stature
    landmarks, hips = {"sacrum": front - [depth, 0.0, 0.0]}, {}
    for side, outwards in LATERAL_SIGN.items():
        landmarks[f"{side} asis"] = front + np.array([0.0, 0.5 * outwards * width, 0.0])
        landmarks[f"{side} psis"] = front + np.array([-depth, 0.2 * outwards * width, 0.0])
        hara = 1e-3 * np.array([11.0 - 0.063 * leg, outwards * (8.0 + 0.086 * leg), -9.0 - 0.078 * leg])
        hips[side] = front + hara
    residual = BONE_SPREAD * generator.standard_normal(3)
    return landmarks, {
        f"{side}_thigh": [float(x) for x in hip + residual * [1.0, LATERAL_SIGN[side], 1.0]]
        for side, hip in hips.items()
    }


def _placements(
    rig: Rig, marker_set: MarkerSet, pelvis: Mapping[str, np.ndarray], stature: float, generator: np.random.Generator
) -> tuple[MarkerPlacement, ...]:
    joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
    result = []
    for name, place in marker_set.locations.items():
        landmark = marker_set.landmarks.get(name, "")
        if landmark in pelvis:
            position = pelvis[landmark] + MARKER_NOISE * generator.standard_normal(3)
        else:
            spread = PALPATION * place.std if place.anatomical else np.full(3, FREE_PLACEMENT)
            position = place.position(joints, stature) + spread * generator.standard_normal(3)
        result.append(MarkerPlacement(name, place.link, position))
    return tuple(result)


def _motion(
    rig: Rig,
    amplitudes: Sequence[tuple[str, tuple[float, ...]]],
    times: np.ndarray,
    generator: np.random.Generator,
    pulses: tuple[float, float],
) -> Motion:
    """Slow sinusoids in the joints about a posture with bent knees and the arms away; the body turns a little."""
    base = standing_posture(rig, CENTRES)
    size = np.zeros(rig.nv)
    size[:6] = 0.05, 0.05, 0.05, 0.15, 0.2, 0.2
    for ending, values in amplitudes:
        for link in rig.links:
            if link.endswith(ending):
                at = rig.v_slices[rig.index(link)].start
                size[at : at + len(values)] = values
    phase = 2.0 * np.pi * generator.uniform(size=len(size))
    pulse = 2.0 * np.pi * generator.uniform(*pulses, len(size))
    steps = size * np.sin(np.outer(times, pulse) + phase)
    q = np.array([integrate(rig, base, step) for step in steps])
    zeros = np.zeros_like(steps)
    return Motion(times, q, zeros, zeros)


def _skin(
    rig: Rig, motions: Mapping[str, Motion], placements: Sequence[MarkerPlacement], generator: np.random.Generator
) -> dict[str, np.ndarray]:
    """World displacement (N, M, 3) [m] of every marker by trial: a linear answer to the joints beside its segment.

    Nothing moves in the posture of the static trial; the root mean square over the moving trials is `SKIN`.
    """
    angles = {name: joint_coordinates(rig, motion.q) for name, motion in motions.items()}
    rest = angles["static"][0]
    owners = [rig.index(link) for (link,) in coordinate_links(rig)]
    poses = {name: link_motions(rig, motion) for name, motion in motions.items()}
    result = {name: np.zeros((len(motion), len(placements), 3)) for name, motion in motions.items()}
    for link in dict.fromkeys(placement.link for placement in placements):
        index = rig.index(link)
        beside = [k for k, owner in enumerate(owners) if owner == index or rig.parents[owner] == index]
        size = SKIN[link.removeprefix("left_").removeprefix("right_")]
        common = generator.standard_normal((len(beside), 3))
        for column in [k for k, placement in enumerate(placements) if placement.link == link]:
            own = generator.standard_normal((len(beside), 3))
            gains = np.sqrt(SHARED) * common + np.sqrt(1.0 - SHARED) * own
            local = {name: (angle - rest)[:, beside] @ gains for name, angle in angles.items()}
            moved = np.concatenate([shift for name, shift in local.items() if name != "static"])
            gain = size / np.sqrt((moved**2).sum(axis=1).mean())
            for name, shift in local.items():
                result[name][:, column] = gain * np.einsum("rcn,nc->nr", poses[name].rotation[:, :, index], shift)
    return result


@dataclass(frozen=True, slots=True)
class TrackedVolunteer:
    """Calibration and tracking of one volunteer.

    Attributes:
        tracked: [m] marker error over the moving trials.
        hips: (2, 3) [m] error of the hip centres from the middle of the ASIS: forwards, outwards, up; left, right.
        warnings: of the calibration.
    """

    tracked: float
    hips: np.ndarray
    warnings: tuple[str, ...]


def track_volunteer(body: Volunteer) -> TrackedVolunteer:
    """Calibrate on all recordings, and track the moving ones."""
    found = body.calibrated()
    errors = []
    for recording in body.recordings[1:]:
        markers = recording.markers
        assert markers is not None
        thinned = Markers(markers.times[::THINNED], markers.names, markers.positions[::THINNED])
        errors.append(track_markers(found.rig, found.attachments, thinned).rmse)
    places = {attachment.marker: attachment.position for attachment in found.attachments}
    outwards = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
    return TrackedVolunteer(
        float(np.mean(errors)), outwards * (hip_centres(found.rig, places) - body.hips), found.warnings
    )


def volunteer_figures(quick: bool) -> list[Figure]:
    """Marker error and hip centres of every volunteer, and whether the calibrations that failed say so."""
    count = QUICK_VOLUNTEERS if quick else VOLUNTEERS
    with one_blas_thread():
        found = [track_volunteer(volunteer(seed)) for seed in range(count)]
    data = f"simulated, {count} volunteers, skin motion"
    silent = [one.tracked for one in found if not one.warnings]
    listed = ", ".join(f"{1e3 * one.tracked:.1f}{' (warned)' if one.warnings else ''}" for one in found)
    hips = 1e3 * np.array([one.hips for one in found])
    apart = np.linalg.norm(hips, axis=2)
    mean, spread = hips.mean(axis=(0, 1)), hips.std(axis=(0, 1))
    axes = ", ".join(f"{axis} {a:+.1f} +- {s:.1f}" for axis, a, s in zip(("forwards", "outwards", "up"), mean, spread))
    return [
        Figure("calibration, largest marker error without a warning", data, 1e3 * max(silent, default=0.0), "mm",
               at_most(6.0), at_most(5.0), listed),
        Figure("  the same, hip centres against the ASIS, mean distance", data, float(apart.mean()), "mm", None,
               at_most(5.0), f"largest {apart.max():.1f}; mean and standard deviation {axes} mm"),
    ]  # fmt: skip
