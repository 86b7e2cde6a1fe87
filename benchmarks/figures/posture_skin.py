"""Identification of simulated people whose skin follows posture: `python -m benchmarks posture-skin`.

Everything here is simulated. The people of `volunteers`, whose skeleton differs from the calibrated one, and the
inertials and plates of `coverage`; only skin and motions are others. `volunteers` scales the skin to a fixed root mean
square whatever the range of motion, so slow and small motions there have the skin of large ones. Here a marker moves by
so many millimetres for each radian of the joints beside its segment, in step with the posture, as fluoroscopy and
pins in bones show (reviews: Leardini et al. 2005, Gait Posture 21:212; Peters et al. 2010, Gait Posture 31:1), and, as
soft mass does, against the acceleration of its segment. `SKIN_PER_RADIAN` has round values of that size, and the
factors 1 and 1.5 stand for how much people and authors differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.signal import butter, sosfiltfilt

from solver.coordinates import coordinate_links, joint_coordinates
from solver.demo.laboratory import record_markers
from solver.demo.motions import standing_posture, still_motion
from solver.dynamics import integrate, link_motions
from solver.identification.identify import IdentifyOptions, identify_trials
from solver.motion import Markers, Motion
from solver.rig import Rig
from solver.signals import smooth_motion
from solver.threads import one_blas_thread
from solver.trial import Recording

from .coverage import GROUPS, Coverage, compute_coverage, simulate_study
from .figure import Bound, Figure, at_least, at_most
from .table import FigureTable, table_parser
from .volunteers import ARMS_AWAY, CENTRES, MARKER_NOISE, MOTIONS, SHARED, Volunteer, volunteer

PEOPLE, QUICK_PEOPLE = 5, 2
FACTORS, QUICK_FACTORS = (1.0, 1.5), (1.5,)
SKIN_PER_RADIAN = {
    "pelvis": 3.2e-3, "torso": 3.7e-3, "head": 1.7e-3, "upper_arm": 3.7e-3, "forearm": 2.7e-3, "hand": 1.7e-3,
    "thigh": 4.7e-3, "shank": 2.7e-3, "foot": 1.7e-3,
}  # fmt: skip
"""[m/rad] Expected root mean square displacement of a marker when one joint coordinate beside its segment turns by a
radian. From 1.7 to 4.7 mm, in the order in which `volunteers.SKIN` ranks the segments."""
SOFT_MASS_FREQUENCY = 8.0
"""[Hz] Natural frequency of the soft mass of a thigh: its markers lag by acceleration / (2 pi 8 Hz)^2, 0.4 mm for
1 m/s^2; those of other segments less, as `SKIN_PER_RADIAN`."""
RATE, STATIC_SECONDS, SECONDS = 50.0, 1.0, 12.0
SLOW = 0.8
"""[Hz] Cut-off frequency of the slowed dance."""
DANCE = ((0.2, 0.7, 1.0), (0.9, 1.8, 0.3))
"""Least and largest frequency [Hz] of a dance's sinusoids, and their share of the amplitude."""
RANDOM_FAST, RANDOM_SLOW = (0.5, 2.0), (0.05, 0.3)
"""[Hz] Bands of the random motions."""
RANDOM_SHARE = 0.6
"""Root mean square of a random motion as a share of the amplitude of a sinusoid."""
SQUAT_FREQUENCY, RAISE_FREQUENCY = 0.4, 0.25
SQUAT = {"thigh": (1, -0.9), "shank": (0, 1.6), "foot": (1, -0.7), "torso": (1, 0.4)}
"""Coordinate of a link's joint that a squat turns, and by how much [rad] at the bottom."""
RAISES = ((-1.2, 0.3), (0.3, -1.2))
"""[rad] First two coordinates of the shoulders when an arm is raised sideways and forwards, mirrored on the left."""

Steps = Callable[[Rig, np.ndarray, np.random.Generator], np.ndarray]
"""Rig, times (N,) and generator to tangent steps (N, nv) from the mean posture."""


def find_amplitudes(rig: Rig) -> np.ndarray:
    """Amplitudes (nv,) [m], [rad] of all joints that `volunteers.MOTIONS` moves, and of the root."""
    size = np.zeros(rig.nv)
    size[:6] = 0.05, 0.05, 0.05, 0.15, 0.2, 0.2
    for ending, values in (pair for moved in MOTIONS.values() for pair in moved):
        for link in (link for link in rig.links if link.endswith(ending)):
            start = rig.v_slices[rig.index(link)].start
            size[start : start + len(values)] = np.maximum(size[start : start + len(values)], values)
    return size


def dance(rig: Rig, times: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Two sinusoids in every joint."""
    steps = np.zeros((len(times), rig.nv))
    for low, high, share in DANCE:
        frequency = generator.uniform(low, high, rig.nv)
        phase = 2.0 * np.pi * generator.uniform(size=rig.nv)
        steps += share * np.sin(2.0 * np.pi * np.outer(times, frequency) + phase)
    return find_amplitudes(rig) * steps


def slow_dance(rig: Rig, times: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The same dance without what is faster than `SLOW`."""
    return sosfiltfilt(butter(4, SLOW, fs=RATE, output="sos"), dance(rig, times, generator), axis=0)


def squats(rig: Rig, times: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Squats over a foot that stays in place, and arms that are raised sideways and forwards in turn."""
    steps = np.zeros((len(times), rig.nv))
    depth = 0.5 - 0.5 * np.cos(2.0 * np.pi * SQUAT_FREQUENCY * times)
    lifted = 0.5 - 0.5 * np.cos(2.0 * np.pi * RAISE_FREQUENCY * times + 0.1 * generator.standard_normal())
    turn = np.floor(RAISE_FREQUENCY * times).astype(int) % len(RAISES)
    for link in rig.links:
        start = rig.v_slices[rig.index(link)].start
        segment = link.removeprefix("left_").removeprefix("right_")
        if segment in SQUAT:
            coordinate, angle = SQUAT[segment]
            steps[:, start + coordinate] += angle * depth
        if segment == "upper_arm":
            side = -1.0 if link.startswith("left_") else 1.0
            steps[:, start : start + 2] += lifted[:, None] * np.array(RAISES)[turn] * [side, 1.0]
    q = np.array([integrate(rig, standing_posture(rig, ()), step) for step in steps])
    foot = link_motions(rig, smooth_motion(rig, times, q, None)).position[:, rig.index("left_foot")].T
    steps[:, :3] = foot[0] - foot
    return steps


def random_motion(band: tuple[float, float]) -> Steps:
    """Noise in every joint between two frequencies [Hz]."""

    def draw_steps(rig: Rig, times: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        noise = generator.standard_normal((len(times), rig.nv))
        noise = sosfiltfilt(butter(2, band, btype="band", fs=RATE, output="sos"), noise, axis=0)
        return RANDOM_SHARE * find_amplitudes(rig) * noise / noise.std(axis=0)

    return draw_steps


KINDS: dict[str, Steps] = {
    "dance": dance,
    f"dance below {SLOW:g} Hz": slow_dance,
    "squats with raises": squats,
    "random fast": random_motion(RANDOM_FAST),
    "random slow": random_motion(RANDOM_SLOW),
}


def draw_person(seed: int, kind: str, factor: float, draw_steps: Steps | None = None) -> Volunteer:
    """A volunteer's body with one motion and skin that follows posture, times a factor.

    Body, marker places and response of the skin are the same for every kind of motion and factor. The motion is one of
    `KINDS`, or what ``draw_steps`` draws.
    """
    body = volunteer(seed)
    rig, generator = body.rig, np.random.default_rng((seed, 29))
    times = np.arange(0.0, SECONDS, 1.0 / RATE)
    still = still_motion(rig, standing_posture(rig, ARMS_AWAY), times[: round(STATIC_SECONDS * RATE)])
    base = standing_posture(rig, () if kind == "squats with raises" else CENTRES)
    steps = (draw_steps or KINDS[kind])(rig, times, np.random.default_rng((seed, 30)))
    q = np.array([integrate(rig, base, step) for step in steps])
    motions = {"static": still, kind: smooth_motion(rig, times, q, None)}
    skin = displace_skin(body, motions, factor, np.random.default_rng((seed, 31)))
    recordings = []
    for name, motion in motions.items():
        markers = record_markers(rig, motion, body.placements, generator, MARKER_NOISE)
        recordings.append(Recording(name, Markers(markers.times, markers.names, markers.positions + skin[name])))
    return replace(body, recordings=tuple(recordings), motions=motions)


def displace_skin(
    body: Volunteer, motions: dict[str, Motion], factor: float, generator: np.random.Generator
) -> dict[str, np.ndarray]:
    """World displacement (N, M, 3) [m] of every marker by trial, zero in the first frame of the static one."""
    rig = body.rig
    angles = {name: joint_coordinates(rig, motion.q) for name, motion in motions.items()}
    rest = angles["static"][0]
    owners = [rig.index(link) for (link,) in coordinate_links(rig)]
    poses = {name: link_motions(rig, motion) for name, motion in motions.items()}
    result = {name: np.zeros((len(motion), len(body.placements), 3)) for name, motion in motions.items()}
    for link in dict.fromkeys(placement.link for placement in body.placements):
        index = rig.index(link)
        beside = [k for k, owner in enumerate(owners) if owner == index or rig.parents[owner] == index]
        size = factor * SKIN_PER_RADIAN[link.removeprefix("left_").removeprefix("right_")]
        lag = size / SKIN_PER_RADIAN["thigh"] / (2.0 * np.pi * SOFT_MASS_FREQUENCY) ** 2
        common = generator.standard_normal((len(beside), 3))
        for column in [k for k, placement in enumerate(body.placements) if placement.link == link]:
            own = generator.standard_normal((len(beside), 3))
            gains = size / np.sqrt(3.0) * (np.sqrt(SHARED) * common + np.sqrt(1.0 - SHARED) * own)
            for name, motion in poses.items():
                local = (angles[name] - rest)[:, beside] @ gains - lag * motion.acceleration[:, index].T
                result[name][:, column] = np.einsum("rcn,nc->nr", motion.rotation[:, :, index], local)
    return result


def measure_person(seed: int, kind: str, factor: float) -> Coverage:
    """Errors and intervals of one person's identification from one motion."""
    given = simulate_study(draw_person(seed, kind, factor), np.random.default_rng((seed, 98)))
    options = IdentifyOptions(total_mass=given.truth.total_mass, cross_validate=False, jobs=1)
    return compute_coverage(given, identify_trials(given.rig, given.trials, options))


def measure_cell(people: int, kind: str, factor: float) -> list[Figure]:
    """Link masses and intervals of several people from one kind of motion."""
    found = [measure_person(seed, kind, factor) for seed in range(people)]
    data = f"simulated, {people} people, {kind}, skin x {factor:g}"
    ratios = [float(one.error[0] / one.prior[0]) for one in found]
    ratio = float(np.mean([one.error[0] for one in found]) / np.mean([one.prior[0] for one in found]))
    listed = ", ".join(f"{each:.2f}" for each in ratios)
    tables = np.mean([one.prior[0] for one in found])
    figures = [
        Figure("RMS error of link masses, identified / tables", data, ratio, "", at_most(1.1), at_most(1.0),
               f"by person {listed}; tables {tables:.2f} kg")
    ]  # fmt: skip
    for group, (name, _, unit, scale) in enumerate(GROUPS):
        covered = 100.0 * float(np.mean([one.covered[group] for one in found]))
        width = scale * float(np.mean([one.width[group] for one in found]))
        figures.append(
            Figure(f"  95 % intervals that contain the truth: {name}", data, covered, "%", at_least(90.0),
                   Bound(93.0, 97.0, "93 to 97"), f"mean width {width:.3g} {unit}")
        )  # fmt: skip
    return figures


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 when a must is missed."""
    parser = table_parser("posture-skin", __doc__, quick=f"{QUICK_PEOPLE} people, skin x {QUICK_FACTORS[0]:g} only")
    options = parser.parse_args(list(arguments))
    people, factors = (QUICK_PEOPLE, QUICK_FACTORS) if options.quick else (PEOPLE, FACTORS)
    table = FigureTable(["posture-skin", *arguments], options.output)
    with one_blas_thread():
        for factor in factors:
            for kind in KINDS:
                table.measure(partial(measure_cell, people, kind, factor))
    return table.close()
