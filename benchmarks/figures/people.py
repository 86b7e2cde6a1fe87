"""Virtual people on whom the identification is validated, whom it does not assume.

Everything here is simulated, and nothing is drawn around the estimator's own prior. Bodies: stature and body mass index
of adults of each sex; limb segments 4 % (standard deviation) off those of stature, left and right 0.5 % apart; the
trunk in three parts, whose spine bends between pelvis and thorax; pelvis as computed tomography has it, the hip centres
from Hara et al. 2016 (Sci Rep 6:37707) by leg length, which calibration does not use, +- 5 mm per axis. Inertials:
those of one segment table, and as far from it as people are from their regressions. Markers: palpated with half the
spread that the landmarks have between people, their noise 1 mm per coordinate; the skin moves them with the joints
beside their segment and, as soft mass does, against its acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

from solver.base.so3 import conjugate, product, quaternion_exp, quaternion_log
from solver.calibration import Calibration, MarkerSet, fit_calibration, load_marker_set
from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.demo.laboratory import MIN_LOAD_SHARE, MarkerPlacement, record_markers, write_forces, write_trc
from solver.demo.motions import Stance, ease, follow_path, standing_posture, still_motion
from solver.demo.person import ARMS_ABDUCTED, CROUCH
from solver.dynamics import difference, ground_wrench, integrate, link_motions
from solver.dynamics.coordinates import coordinate_links, joint_coordinates
from solver.identification.body_coordinates import parameters_from_pseudo_inertias
from solver.options.dances import human_options
from solver.rigs import human
from solver.rigs.anthropometry import TABLES
from solver.rigs.human_skeleton import LATERAL_SIGN, default_lengths
from solver.signals import smooth_motion
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.person import SIDES
from solver.values.wrenches import Wrenches
from tests.simulated_walk import Gait, plates_of, walking

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
MASS_SPREAD = {
    "pelvis": 0.13, "abdomen": 0.13, "torso": 0.13, "head": 0.065, "upper_arm": 0.09, "forearm": 0.085, "hand": 0.14,
    "thigh": 0.08, "shank": 0.065, "foot": 0.10,
}  # fmt: skip
"""Relative standard deviation of a segment's mass in people of one mass and stature: residuals of Zatsiorsky's
regressions of 100 men over their mean."""
COM_SPREAD, SIZE_SPREAD = 0.12, 0.06
"""Standard deviation of a centre of mass in radii of gyration along each axis (residuals there: 1.0 to 1.4 cm along the
segment), and relative one of each radius."""
ASYMMETRY = 0.25
"""Share of these spreads by which left and right differ."""
FURTHER = {
    "pavol": {"head": 6.62, "torso": 32.5, "pelvis": 16.2, "upper_arm": 2.99, "forearm": 1.75, "hand": 0.65,
              "thigh": 11.3, "shank": 4.41, "foot": 1.27},
    "chen": {"head": 7.13, "torso": 35.3, "pelvis": 11.2, "upper_arm": 3.73, "forearm": 1.33, "hand": 0.57,
             "thigh": 11.4, "shank": 4.48, "foot": 1.66},
}  # fmt: skip
"""Masses [%] of tables that the prior never uses: Pavol et al. 2002 (J Biomech 35:707, older American men), Chen et al.
2011 (Taiwanese men); centres and radii are the mean of the others'."""
SOURCES = (*TABLES, *FURTHER)
SKIN = {
    "pelvis": 6.0e-3, "abdomen": 6.0e-3, "torso": 6.0e-3, "head": 2.0e-3, "upper_arm": 7.0e-3, "forearm": 5.0e-3,
    "hand": 2.0e-3, "thigh": 8.5e-3, "shank": 4.5e-3, "foot": 3.0e-3,
}  # fmt: skip
"""[m/rad] Root mean square displacement of a marker when a joint coordinate beside its segment turns by a radian: 7 to
10 mm at the thigh, half of it at the shank (fluoroscopy and pins in bones over the knee's range in gait and steps;
reviews: Leardini et al. 2005, Gait Posture 21:212; Peters et al. 2010, Gait Posture 31:1); others by analogy."""
SHARED = 0.5
"""Share of the skin's mean square motion that all markers of a segment have together."""
SOFT_MASS_FREQUENCY = 8.0
"""[Hz] Natural frequency of the soft mass of a thigh: its markers lag by acceleration / (2 pi 8 Hz)^2, 0.4 mm for
1 m/s^2; those of other segments less, as `SKIN`."""
LUMBAR_SHARE = 0.4
"""Share of the trunk's bending and leaning that takes place at L5S1; the rest, and all twisting, at T12L1."""
STATIC_SECONDS = 2.0
RATES = (50.0, 100.0)
"""[Hz] Of markers and plates, in turn."""
PLATE_NOISE = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])
"""[N], [N m] of every sample of a single plate."""
LIFTED = 0.01
"""[m] Height of an ankle above its lowest from which the other foot carries everything."""
UNSEEN, REPEATED = "swings", "dance performed again"
"""Kinds of motion from which nothing is identified; the recording of either has the name of the first."""
PERFORMER = (0.8, 0.12, 0.12)
"""How a dance is performed: cut-off [Hz] of what the performer leaves out; standard deviation of amplitude and of delay
[s] of each limb."""

Steps = Callable[[np.ndarray], np.ndarray]
"""Times (N,) [s] to tangent steps (N, nv) from the start posture."""


@dataclass(frozen=True, slots=True)
class Person:
    """What the simulation knows, and what the laboratory records of it.

    Attributes:
        rig: true skeleton, with a trunk of three; its prior are the true inertials.
        placements: true marker places.
        recordings: ``static`` and the others, markers and plates.
        motions: true motions by recording.
        source: table around which the inertials were drawn, of `SOURCES`.
    """

    rig: Rig
    placements: tuple[MarkerPlacement, ...]
    recordings: tuple[Recording, ...]
    motions: Mapping[str, Motion]
    source: str

    @property
    def hips(self) -> np.ndarray:
        """(2, 3) [m] true hip centres, left and right, from the middle of the ASIS."""
        return hip_centres(self.rig, {placement.marker: placement.position for placement in self.placements})

    def calibrated(self, trunk: str = "one") -> Calibration:
        """What calibration makes of the recordings, stature, mass and sex stated."""
        known: Any = self.rig.provenance
        stated = {name: known[name] for name in ("mass", "sex", "height")}
        return fit_calibration(self.recordings, **stated, trunk=trunk)

    def write(self, folder: Path) -> None:
        """Write a .trc and a .mot for every recording."""
        for recording in self.recordings:
            assert recording.markers is not None
            assert recording.wrenches is not None
            write_trc(folder / f"{recording.name}.trc", recording.markers)
            write_forces(folder / f"{recording.name}.mot", recording.wrenches)


def hip_centres(rig: Rig, places: Mapping[str, np.ndarray]) -> np.ndarray:
    """(2, 3) [m] hip centres of a rig, left and right, from the middle of its ASIS markers at ``places``."""
    hips = np.array([rig.joints[rig.index(f"{side}_thigh")].position for side in ("left", "right")])
    return hips - 0.5 * (places["LASI"] + places["RASI"])


def draw_person(seed: int, durations: Mapping[str, float], source: str = "") -> Person:
    """A person with a body and marker places of its own, standing still and moving; men and women take turns.

    Args:
        seed: of everything that differs between people; it also chooses marker set, rate, and one plate or two.
        durations: [s] by kind of motion, of `MOTIONS`.
        source: table of the inertials, of `SOURCES`; by the seed if empty.
    """
    generator = np.random.default_rng((seed, 21))
    source = source or SOURCES[seed % len(SOURCES)]
    sex, rate, plates = ("male", "female")[seed % 2], RATES[seed // 2 % 2], 1 + (seed // 3 + seed) % 2
    stature = float(generator.normal(*STATURE[sex]))
    mass = float(generator.normal(*BODY_MASS_INDEX)) * stature**2
    usual = default_lengths(stature, sex)
    lengths = {name: length * (1.0 + LENGTH_SPREAD * generator.standard_normal()) for name, length in usual.items()}
    for name in ("upper_arm", "forearm", "thigh", "shank"):
        lengths[f"left_{name}"] = lengths[name] * (1.0 + SIDE_SPREAD * generator.standard_normal())
    pelvis, hips = _pelvis(stature, sex, generator)
    simple, own = (
        human(stature, mass, sex, tables=tables_of(source), trunk=trunk, lengths=lengths, joints=hips)
        for trunk in ("one", "three")
    )
    own = own.with_prior(draw_inertials(own, source, generator))
    placements = _placements(simple, pelvis, MARKER_SETS[seed // 2 % 2], stature, generator)
    still = np.arange(0.0, STATIC_SECONDS, 1.0 / rate)
    motions = {"static": still_motion(simple, standing_posture(simple, ARMS_ABDUCTED), still)}
    moving = np.random.default_rng((seed, 22))
    for kind, seconds in durations.items():
        motions |= MOTIONS[kind](simple, seconds, rate, moving)
    motions = {name: bend_spine(simple, own, motion) for name, motion in motions.items()}
    placements = tuple(_on_thorax(own, placement) for placement in placements)
    skin = displace_skin(own, motions, placements, moving)
    recordings = []
    for name, motion in motions.items():
        markers = record_markers(own, motion, placements, generator, MARKER_NOISE)
        wrenches = record_plates(own, motion, own.prior, generator, plates)
        recordings.append(Recording(name, replace(markers, positions=markers.positions + skin[name]), wrenches))
    return Person(own, placements, tuple(recordings), motions, source)


def tables_of(source: str) -> tuple[str, ...]:
    """The tables that give people of a source their centres and radii."""
    return (source,) if source in TABLES else TABLES


def kept_tables(source: str) -> tuple[str, ...]:
    """The tables of a prior that does not know people of a source."""
    return tuple(table for table in TABLES if table != source)


def draw_inertials(rig: Rig, source: str, generator: np.random.Generator) -> InertialParameters:
    """Inertials of somebody with this skeleton: a table's, which the rig has, scaled, stretched and shifted."""
    prior, links = rig.prior, rig.links
    masses = _table_masses(rig, source)
    draws: dict[str, np.ndarray] = {}
    for link in links:
        draws.setdefault(segment_of(link), generator.standard_normal(7))
    values = np.empty((len(links), 10))
    for index, link in enumerate(links):
        segment = segment_of(link)
        draw = draws[segment].copy()
        if link != segment:
            draw = np.sqrt(1.0 - ASYMMETRY**2) * draw + ASYMMETRY * generator.standard_normal(7)
            draw[2] *= 1.0 if link.startswith("left") else -1.0  # y points to the left in every link
        pseudo = masses[index] / prior.masses[index] * prior.pseudo_inertias[index]
        com = pseudo[:3, 3] / pseudo[3, 3]
        radii = np.sqrt(np.diag(pseudo[:3, :3] / pseudo[3, 3] - np.outer(com, com)))
        stretch = np.diag(1.0 + SIZE_SPREAD * draw[4:])
        move = np.eye(4)
        move[:3, :3], move[:3, 3] = stretch, com + COM_SPREAD * draw[1:4] * radii - stretch @ com
        values[index] = parameters_from_pseudo_inertias(np.exp(MASS_SPREAD[segment] * draw[0]) * move @ pseudo @ move.T)
    return InertialParameters(links, values).scaled(prior.total_mass)


def _table_masses(rig: Rig, source: str) -> np.ndarray:
    """(L,) [kg] of a rig's own prior, or of one of `FURTHER`, whose torso abdomen and thorax share."""
    masses = rig.prior.masses
    if source in TABLES:
        return masses
    torso = [rig.index(link) for link in ("abdomen", "torso") if link in rig.links]
    result = np.array([FURTHER[source].get(segment_of(link), 0.0) for link in rig.links])
    result[torso] = FURTHER[source]["torso"] * masses[torso] / masses[torso].sum()
    return result


def segment_of(link: str) -> str:
    """``"thigh"`` of ``"left_thigh"``."""
    return link.removeprefix("left_").removeprefix("right_")


def owner_of(link: str) -> str:
    """Link of a trunk of one to which a link of a trunk of three belongs."""
    return "torso" if link == "abdomen" else link


def place_inertials(inertials: InertialParameters, axes: np.ndarray, links: Sequence[str]) -> InertialParameters:
    """Inertials of a trunk of three for links with a trunk of one: ``axes`` (K, 4, 4) are those of the K true links in
    the axes of the links to which they belong."""
    owners = [links.index(owner_of(link)) for link in inertials.links]
    placed = np.zeros((len(links), 4, 4))
    np.add.at(placed, owners, axes @ inertials.pseudo_inertias @ axes.swapaxes(1, 2))
    return InertialParameters(tuple(links), np.array([parameters_from_pseudo_inertias(each) for each in placed]))


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
    rig: Rig, pelvis: Mapping[str, np.ndarray], name: str, stature: float, generator: np.random.Generator
) -> tuple[MarkerPlacement, ...]:
    marker_set: MarkerSet = load_marker_set(name)
    joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
    result = []
    for marker, place in marker_set.locations.items():
        landmark = marker_set.landmarks.get(marker, "")
        if landmark in pelvis:
            position = pelvis[landmark] + MARKER_NOISE * generator.standard_normal(3)
        else:
            spread = PALPATION * place.std if place.anatomical else np.full(3, FREE_PLACEMENT)
            position = place.position(joints, stature) + spread * generator.standard_normal(3)
        result.append(MarkerPlacement(marker, place.link, position))
    return tuple(result)


def _on_thorax(rig: Rig, placement: MarkerPlacement) -> MarkerPlacement:
    """The same place on a rig whose torso starts at T12L1."""
    if placement.link != "torso":
        return placement
    return replace(placement, position=placement.position - rig.joints[rig.index("torso")].position)


def bend_spine(simple: Rig, rig: Rig, motion: Motion) -> Motion:
    """A motion of a trunk of one by a trunk of three: the thorax turns as the torso did, about another point."""
    whole = motion.q[:, simple.q_slices[simple.index("torso")]]
    q = np.empty((len(motion), rig.nq))
    q[:, : rig.q_slices[rig.index("abdomen")].start] = motion.q[:, : simple.q_slices[simple.index("torso")].start]
    for link in simple.links[1:]:
        q[:, rig.q_slices[rig.index(link)]] = motion.q[:, simple.q_slices[simple.index(link)]]
    lean = LUMBAR_SHARE * quaternion_log(whole)
    q[:, rig.q_slices[rig.index("abdomen")]] = lean[:, [1, 0]]
    low = product(quaternion_exp(lean * [0.0, 1.0, 0.0]), quaternion_exp(lean * [1.0, 0.0, 0.0]))
    q[:, rig.q_slices[rig.index("torso")]] = product(conjugate(low), whole)
    return smooth_motion(rig, motion.times, q, None)


def displace_skin(
    rig: Rig, motions: Mapping[str, Motion], placements: Sequence[MarkerPlacement], generator: np.random.Generator
) -> dict[str, np.ndarray]:
    """World displacement (N, M, 3) [m] of every marker by recording, zero in the first frame of the static one."""
    angles = {name: joint_coordinates(rig, motion.q) for name, motion in motions.items()}
    rest = angles["static"][0]
    owners = [rig.index(link) for (link,) in coordinate_links(rig)]
    poses = {name: link_motions(rig, motion) for name, motion in motions.items()}
    result = {name: np.zeros((len(motion), len(placements), 3)) for name, motion in motions.items()}
    for link in dict.fromkeys(placement.link for placement in placements):
        index = rig.index(link)
        beside = [k for k, owner in enumerate(owners) if owner == index or rig.parents[owner] == index]
        size = SKIN[segment_of(link)]
        lag = size / SKIN["thigh"] / (2.0 * np.pi * SOFT_MASS_FREQUENCY) ** 2
        common = generator.standard_normal((len(beside), 3))
        for column in [k for k, placement in enumerate(placements) if placement.link == link]:
            own = generator.standard_normal((len(beside), 3))
            gains = size / np.sqrt(3.0) * (np.sqrt(SHARED) * common + np.sqrt(1.0 - SHARED) * own)
            for name, motion in poses.items():
                local = (angles[name] - rest)[:, beside] @ gains - lag * motion.acceleration[:, index].T
                result[name][:, column] = np.einsum("rcn,nc->nr", motion.rotation[:, :, index], local)
    return result


def record_plates(
    rig: Rig, motion: Motion, truth: InertialParameters, generator: np.random.Generator, count: int = 1
) -> Wrenches:
    """What one plate reads, or one under each foot: the foot nearer to the centre of pressure carries more."""
    wrench = ground_wrench(rig, motion, truth)
    if count == 1:
        return Wrenches(
            motion.times, ("plate",), (wrench + PLATE_NOISE * generator.standard_normal(wrench.shape))[:, None]
        )
    feet = link_motions(rig, motion).position[:, [rig.index(f"{side}_foot") for side in ("left", "right")]]
    points = feet.transpose(2, 1, 0) * [1.0, 1.0, 0.0]
    pressure = np.column_stack([-wrench[:, 4], wrench[:, 3]]) / wrench[:, 2:3]
    line = (points[:, 0] - points[:, 1])[:, :2]
    left = np.sum((pressure - points[:, 1, :2]) * line, axis=1) / np.sum(line**2, axis=1)
    left = np.clip(left, MIN_LOAD_SHARE, 1.0 - MIN_LOAD_SHARE)
    lifted = feet[2] > feet[2].min(axis=1, keepdims=True) + LIFTED
    left[lifted[1]], left[lifted[0]] = 1.0, 0.0
    return plates_of(rig, motion, truth, np.column_stack([left, 1.0 - left]), points, generator)


def _column(rig: Rig, link: str) -> int:
    return rig.v_slices[rig.index(link)].start


def _planted(
    rig: Rig, seconds: float, rate: float, steps: Steps, sides: Sequence[str] = SIDES, balance_rounds: int = 3
) -> Motion:
    """A motion on planted feet along a path of tangent steps, which begins and ends at rest."""
    times = np.arange(0.0, seconds, 1.0 / rate)
    stance = Stance(
        standing_posture(rig, CROUCH),
        tuple(f"{side}_foot" for side in sides),
        tuple(f"{side}_{part}" for side in sides for part in ("thigh", "shank", "foot")),
    )
    return follow_path(
        rig, stance, lambda at: (ease(at) * ease(seconds - at))[:, None] * steps(at), times, balance_rounds
    )


def _sway(
    rig: Rig, seconds: float, rate: float, generator: np.random.Generator, joints: float, band: tuple[float, float]
) -> Motion:
    """Three sinusoids between two frequencies [Hz] in every joint above the legs, of a mean amplitude [rad], and of the
    root."""
    size = joints * np.concatenate([[0.08, 0.1, 0.08, 0.25, 0.3, 0.4], np.ones(rig.nv - 6)])
    frequency, phase = (generator.uniform(*limits, (3, rig.nv)) for limits in (band, (0.0, 1.0)))
    turns = 2.0 * np.pi
    return _planted(
        rig,
        seconds,
        rate,
        lambda times: size * np.sin(turns * (frequency[:, None] * times[None, :, None] + phase[:, None])).mean(axis=0),
    )


def stand(rig: Rig, seconds: float, rate: float, generator: np.random.Generator) -> dict[str, Motion]:
    """Quiet standing: sway of a few millimetres and hundredths of a radian."""
    return {"stand": _sway(rig, seconds, rate, generator, 0.03, (0.05, 0.5))}


def swing(rig: Rig, seconds: float, rate: float, generator: np.random.Generator) -> dict[str, Motion]:
    """Slow sinusoids in every joint above the legs and of the root."""
    return {UNSEEN: _sway(rig, seconds, rate, generator, 0.5, (0.2, 0.9))}


def squat(rig: Rig, seconds: float, rate: float, _: np.random.Generator) -> dict[str, Motion]:
    """Squats while the arms are raised forwards."""
    return {"squats": _planted(rig, seconds, rate, lambda times: _move(rig, times, SQUAT))}


def sit_to_stand(rig: Rig, seconds: float, rate: float, _: np.random.Generator) -> dict[str, Motion]:
    """Rising from a chair, which stands on the plate too, and sitting down again, every four seconds."""
    return {"sit_to_stand": _planted(rig, seconds, rate, lambda times: _move(rig, times, SIT), balance_rounds=0)}


def exercise(rig: Rig, seconds: float, rate: float, _: np.random.Generator) -> dict[str, Motion]:
    """Plain exercises one after the other: knees, arms sideways and forwards, trunk, elbows, head; then each leg."""
    each = 0.5 * seconds / len(EXERCISES)

    def steps(times: np.ndarray) -> np.ndarray:
        inside = [ease(times - k * each) * ease((k + 1) * each - times) for k in range(len(EXERCISES))]
        return sum(share[:, None] * _move(rig, times, moved) for share, moved in zip(inside, EXERCISES))

    motions = {"exercises": _planted(rig, 0.5 * seconds, rate, steps)}
    for side, other in (("right", "left"), ("left", "right")):
        motions[f"{side}_leg"] = _planted(rig, 0.25 * seconds, rate, _leg_steps(rig, side), (other,))
    return motions


SQUAT = (("pelvis", 2, -0.2, 0.4, True), ("torso", 1, 0.3, 0.4, True), ("upper_arm", 1, -1.1, 0.4, True))
SIT = (
    *(("pelvis", 0, -0.27, 0.25, True), ("pelvis", 2, -0.27, 0.25, True), ("torso", 1, 0.2, 0.25, True)),
    *(("torso", 1, 0.6, 0.5, True), ("upper_arm", 1, -0.5, 0.25, True)),
)
EXERCISES = (
    (("pelvis", 2, -0.18, 0.5, True),),
    (("upper_arm", 0, 1.3, 0.45, True),),
    (("upper_arm", 1, -1.4, 0.4, True), ("forearm", 0, 0.6, 0.4, True)),
    (("torso", 1, 0.45, 0.35, True),),
    (("torso", 2, 0.45, 0.3, False), ("torso", 0, 0.2, 0.4, False)),
    (("forearm", 0, 1.2, 0.6, True), ("hand", 1, 0.4, 0.8, False), ("head", 2, 0.5, 0.3, False)),
)
"""Link or segment, coordinate of its joint (of the pelvis: of the root), amplitude [rad, m], frequency [Hz], and
whether it moves to one side of the posture or to both."""


def _move(rig: Rig, times: np.ndarray, moved: Sequence[tuple[str, int, float, float, bool]]) -> np.ndarray:
    """Tangent steps (N, nv) of an exercise, the arms a little away from the body."""
    result = np.zeros((len(times), rig.nv))
    for link, coordinate, size, frequency, one_sided in (*moved, ("upper_arm", 0, 0.25, 0.0, False)):
        phase = 2.0 * np.pi * frequency * times
        wave = 0.5 - 0.5 * np.cos(phase) if one_sided else np.sin(phase) if frequency else 1.0
        for column, sign in _coordinates(rig, link, coordinate):
            result[:, column] += size * sign * wave
    return result


def _leg_steps(rig: Rig, side: str) -> Steps:
    """The steps of a free leg that swings to the front, bends its knee and swings to the side, over the other one."""
    outwards = LATERAL_SIGN[side]
    apart = abs(float(np.subtract(*(rig.joints[rig.index(f"{each}_thigh")].position[1] for each in SIDES))))
    thigh, knee, foot = (_column(rig, f"{side}_{part}") for part in ("thigh", "shank", "foot"))

    def steps(times: np.ndarray) -> np.ndarray:
        result = np.zeros((len(times), rig.nv))
        lifted = ease(times - 1.0) * ease(times[-1] - 1.0 - times)
        result[:, 1], result[:, 2] = -0.5 * outwards * apart, -0.02
        result[:, thigh] = lifted * outwards * (0.27 - 0.15 * np.cos(0.7 * np.pi * times))
        result[:, thigh + 1] = -lifted * (0.45 + 0.45 * np.sin(np.pi * times))
        result[:, knee] = lifted * (0.6 + 0.45 * np.sin(1.4 * np.pi * times))
        result[:, foot + 1] = lifted * 0.25 * np.sin(1.8 * np.pi * times)
        return result

    return steps


def _coordinates(rig: Rig, link: str, coordinate: int) -> list[tuple[int, float]]:
    """Columns of a coordinate of a link's joint, or of both sides' joints, with the sign that mirrors it."""
    if link in rig.links:
        return [(_column(rig, link) + coordinate, 1.0)]
    mirrored = coordinate != 1 and rig.joints[rig.index(f"left_{link}")].kind == "spherical"
    return [
        (_column(rig, f"{side}_{link}") + coordinate, sign if mirrored else 1.0) for side, sign in LATERAL_SIGN.items()
    ]


def walk(rig: Rig, seconds: float, rate: float, generator: np.random.Generator) -> dict[str, Motion]:
    """Walking at two speeds."""
    stride = 1.0 + 0.1 * generator.uniform()
    leg = -sum(rig.joints[rig.index(f"right_{part}")].position[2] for part in ("shank", "foot"))
    gaits = ((stride, 0.75 * leg), (1.2 * stride, 0.65 * leg))
    return {
        f"walk{number}": walking(rig, Gait(*gait, seconds=0.5 * seconds), rate)[0]
        for number, gait in enumerate(gaits, 1)
    }


@cache
def designed() -> Dance:
    """The default dance, of nobody in particular."""
    return design_dance(human(1.7, 65.0, "unknown"), human_options(workers=1))


def dance(rig: Rig, seconds: float, rate: float, _: np.random.Generator) -> dict[str, Motion]:
    """A designed dance, danced as designed."""
    planned = designed()
    motion = planned.sample(planned.rig, rate).part(0, round(seconds * rate))
    q = motion.q.copy()
    heights = [standing_posture(body, ())[2] for body in (rig, planned.rig)]
    q[:, :3] *= heights[0] / heights[1]
    return {"dance": smooth_motion(rig, motion.times, q, None)}


def perform(rig: Rig, seconds: float, rate: float, generator: np.random.Generator) -> dict[str, Motion]:
    """The same dance as somebody performs it."""
    (motion,) = dance(rig, seconds, rate, generator).values()
    return {"performed": perform_motion(rig, motion, generator)}


def perform_motion(rig: Rig, motion: Motion, generator: np.random.Generator) -> Motion:
    """A motion as somebody performs it: slower, with limbs that move too far or not far enough, early or late."""
    rate = motion.rate
    cutoff, size, delay = PERFORMER
    start = motion.q[0]
    steps = np.array([difference(rig, start, q) for q in motion.q])
    steps = sosfiltfilt(butter(2, cutoff, fs=rate, output="sos"), steps, axis=0)
    limbs = {limb: generator.standard_normal(2) for limb in ("arm left", "arm right", "leg left", "leg right", "trunk")}
    for link, columns in zip(rig.links[1:], rig.v_slices[1:]):
        segment = segment_of(link)
        limb = (
            "trunk"
            if segment == link
            else f"{'leg' if segment in ('thigh', 'shank', 'foot') else 'arm'} {link.split('_')[0]}"
        )
        shifted = np.clip(motion.times - delay * limbs[limb][1], motion.times[0], motion.times[-1])
        for column in range(columns.start, columns.stop):
            steps[:, column] = (1.0 + size * limbs[limb][0]) * np.interp(shifted, motion.times, steps[:, column])
    return smooth_motion(rig, motion.times, np.array([integrate(rig, start, step) for step in steps]), None)


Kind = Callable[[Rig, float, float, np.random.Generator], dict[str, Motion]]
"""Rig with a trunk of one, duration [s], rate [1/s] and generator to motions by name."""
MOTIONS: dict[str, Kind] = {
    "standing": stand,
    "squats": squat,
    "plain exercises": exercise,
    "walking": walk,
    "sit to stand": sit_to_stand,
    "dance": dance,
    "dance performed": perform,
    UNSEEN: swing,
    REPEATED: lambda *drawn: {UNSEEN: perform(*drawn)["performed"]},
}
