"""Separates overlapping links of a retargeted motion: hands and thighs, arms and chest, the two feet.

A robot's links are thicker or shorter than a person's, so that they may overlap where the person's do not touch.

1. If feet or shanks overlap while both feet stand, the stance becomes wider in the whole motion.
2. Other links are separated in the frames around their overlap. These frames are posed again near their own posture,
   with the given feet; the change is smoothed over time and repeated. At first only limbs give way, since a trunk that
   bends moves the centre of mass. Feet in the air give way as well.
3. Where links other than the feet are below the floor, the body is raised above it.
4. If a third of all pairs overlaps, the shapes are unusable, and the motion stays as it is.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ..base.arrays import list_names
from ..base.file_arrays import cut_frames
from ..base.so3 import continuous_signs, exp, log, to_quaternion
from ..feasibility.collisions import CollisionDetector, Contacts
from ..feasibility.link_pairs import SOCKET_DISTANCE
from ..options.authoring import RetargetOptions
from ..options.checks import CheckOptions
from ..scene.labels import display_name, format_length
from ..skeleton.rig import ROOT_NV
from ..tracking.anatomy import LEG, find_anatomy
from ..tracking.retargeting.batch_kinematics import to_configurations
from ..tracking.retargeting.foot_paths import FootPaths
from ..tracking.retargeting.interpolation import (
    smooth_between,
    smooth_maximum,
)
from ..tracking.retargeting.leg_reach import LegReach
from ..tracking.retargeting.performer import Performer
from ..tracking.retargeting.pose_solver import PosePrior, PoseSolver, SolvedPoses
from ..tracking.retargeting.retarget import RetargetedMotion, retarget_motion
from ..tracking.retargeting.retargeter import SMOOTH_PATH_WEIGHT
from ..tracking.retargeting.separation import SeparationRows
from ..values.person import SIDES
from .separation_directions import PlacedContacts, steady_directions

SEPARATION, SEPARATION_REACH = 0.012, 0.03
"""[m] Distance to which links are separated, and distance below which pairs are considered. Smoothing reduces it."""
STANCE_STEP, MAX_STANCE_STEPS = 0.01, 3
"""[m] Distance by which the feet are separated beyond the overlap of the legs, and largest number of repetitions."""
MAX_ITERATIONS, POSE_STEPS, REPOSE_STEPS = 8, 4, 3
SMOOTHING_GAIN = 1.8
"""Factor of a smoothed change, since smoothing lowers its peak. Chosen on HRP-2 with legs turned out in the air: with
1.4 they overlap by .2 mm after eight iterations, with 1.8 and 2.2 no more after five and two."""
WINDOW, SMOOTHING_WIDTH = 0.5, 0.25
"""[s] of the recording that change before and after an overlap; and width of the moving average, applied thrice.
Chosen on the walks of `contacts.rolling.TOUCHING_HEIGHT` among 0.3 and 0.12 s, 0.5 and 0.25 s, and 1 and 0.3 s."""
FLOOR_PASSES = 3
"""Times that legs reach again for the floor under a body that was raised: standing feet of G1 that gets up from the
floor, in a public clip, miss their place by 39, 7 and 1 mm after one, two and three."""
MAX_OVERLAPPING_SHARE = 0.3
"""If a larger share of the pairs overlaps, the shapes are unusable."""


class OverlapFinder:
    """Finds links that overlap in a motion, deeper than the check of collisions tolerates."""

    def __init__(self, given: RetargetedMotion, check_options: CheckOptions) -> None:
        self.rig, self.detector = given.rig, CollisionDetector(given.rig, check_options)
        self.tolerance = check_options.tolerance
        self.posing = PoseSolver(given.rig, given.mapping, given.foot_paths.links)
        self.reach = LegReach.of(self.posing)
        rig, parts = given.rig, find_anatomy(given.rig).parts
        self.shanks = np.array([rig.descendants[rig.index(parts[f"{side}_{LEG[1]}"])] for side in SIDES])
        """(2, L) links of the right and the left leg from the knee down."""
        self.links = np.array([[rig.index(link) for link in pair] for pair in self.detector.pairs], int).reshape(-1, 2)

    def find_overlaps(self, poses: SolvedPoses, frames: np.ndarray | None = None) -> Contacts:
        """Pairs that overlap, in all frames or selected ones (n,)."""
        if frames is None:
            return self.find(poses, -self.tolerance)
        found = self.find_overlaps(poses.select(frames))
        return replace(found, frames=frames[found.frames])

    def find(self, poses: SolvedPoses, reach: float) -> Contacts:
        """Pairs nearer than ``reach`` [m]."""
        parts = []
        for frames in cut_frames(len(poses)):
            own = poses.select(frames)
            q = to_configurations(self.rig, continuous_signs(to_quaternion(own.root_rotations)), own.y)
            touches = self.detector.find_contacts(q, *self._place_links(own), reach)
            parts.append(replace(touches, frames=touches.frames + frames.start))
        return Contacts(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Contacts)))

    def floor_distances(self, poses: SolvedPoses, ground: float) -> np.ndarray:
        """(N, L) [m] height of the lowest point of each link above the ground; infinite without shapes."""
        return self.detector.floor_distances(*self._place_links(poses), ground)

    def _place_links(self, poses: SolvedPoses) -> tuple[np.ndarray, np.ndarray]:
        """Axes (N, L, 3, 3) and origins (N, L, 3) [m] of all links."""
        placed, every = self.posing.link_frames(poses), np.arange(len(self.rig.links))
        places = np.array([self.posing.tree.link_origins(placed, link) for link in every]).transpose(2, 0, 1)
        return self.posing.tree.link_rotations(placed, every), places

    def has_unusable_shapes(self, contacts: Contacts) -> bool:
        """Whether so many pairs overlap that the shapes are unusable."""
        return len(np.unique(contacts.pairs)) > MAX_OVERLAPPING_SHARE * len(self.detector.pairs)

    def shank_overlap(self, contacts: Contacts, chosen: np.ndarray) -> float:
        """[m] Largest overlap of the shanks or feet in chosen frames (N,); 0 without overlap."""
        own = chosen[contacts.frames] & self.is_between_shanks(contacts)
        return max(0.0, -float(contacts.distances[own].min(initial=0.0)))

    def is_between_shanks(self, contacts: Contacts) -> np.ndarray:
        """(M,) True for pairs of shanks or feet."""
        first, second = self.links[contacts.pairs].T
        right, left = self.shanks
        return np.asarray((right[first] & left[second]) | (left[first] & right[second]))

    def separation_rows(self, poses: SolvedPoses, contacts: Contacts, step: float) -> SeparationRows:
        """Rows that separate the links, in a steady direction while they are near."""
        links, frames = self.links[contacts.pairs], contacts.frames
        placed, tree = self.posing.link_frames(poses), self.posing.tree
        turns, places = tree.link_poses(placed, links, frames[:, None])
        contacts = steady_directions(
            PlacedContacts(self.detector, contacts, turns, places), poses.root_rotations, step, SEPARATION
        )
        points = (turns.swapaxes(-1, -2) @ (contacts.points - places)[..., None])[..., 0]
        # links in each other's sockets never part by much; distances include the allowed overlap, points do not
        allowed = self.detector.allowances[contacts.pairs]
        least = np.where(allowed > 0.0, SOCKET_DISTANCE, SEPARATION)
        return SeparationRows(frames, links, points, contacts.normals, least - allowed, contacts.distances < least)


def separate_legs_and_links(
    performer: Performer, given: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions
) -> tuple[RetargetedMotion, RetargetOptions]:
    """The motion with overlapping links separated, by a wider stance if legs overlap; with a note, and its options.

    Args:
        performer: source of the motion.
        given: retargeted motion.
        options: of the retargeting.
        check_options: pairs that must not touch.
    """
    overlaps, first = OverlapFinder(given, check_options), options.stance_widening
    touches = overlaps.find_overlaps(given.poses)
    for _ in range(MAX_STANCE_STEPS):
        deep = overlaps.shank_overlap(touches, given.foot_paths.in_stance.all(axis=0))
        if not deep or overlaps.has_unusable_shapes(touches):
            break
        wider = replace(options, stance_widening=options.stance_widening + deep + STANCE_STEP)
        tried = retarget_motion(performer, given.rig, given.mapping, wider)
        touches = overlaps.find_overlaps(tried.poses)
        if overlaps.shank_overlap(touches, tried.foot_paths.in_stance.all(axis=0)) >= deep:  # as if legs are crossed
            touches = overlaps.find_overlaps(given.poses)
            break
        given, options = tried, wider
    if options.stance_widening > first:
        note = f"feet are {format_length(options.stance_widening - first)} farther apart, because the legs overlapped"
        given = replace(given, notes=(*given.notes, note))
    return _raise_above_floor(overlaps, _separate(overlaps, given, options, touches)), options


def _raise_above_floor(overlaps: OverlapFinder, given: RetargetedMotion) -> RetargetedMotion:
    """The motion with all links but the feet above the floor, and a note that names those that were on it."""
    posing, rig, poses, times = overlaps.posing, given.rig, given.poses, given.motion.times
    y, feet, heights = np.array(poses.y), given.foot_paths, overlaps.floor_distances(poses, given.schedule.ground)
    heights[:, rig.descendants[list(feet.links)].any(axis=0)] = np.inf
    low = SEPARATION - heights.min(axis=1)
    if (low <= 0.0).all():
        return given
    lift = smooth_between(times, np.maximum(low, 0.0), np.full(len(times), np.inf))[:, None] * [0.0, 0.0, 1.0]
    y[:, :3] += lift
    feet = replace(
        feet,
        positions=feet.positions + feet.swing_weights.T[..., None] * lift,
        root_heights=feet.root_heights + lift[:, 2],
    )
    given = replace(given, foot_paths=feet).with_poses(SolvedPoses(poses.root_rotations, y))
    note = list_names(display_name(link) for link, own in zip(rig.links, heights.T) if own.min() < SEPARATION)
    note += (
        f" touched the floor, up to {format_length(float(low.max()))} too low: they are kept above it, carry nothing"
    )
    for _ in range(FLOOR_PASSES):
        given = given.keep_feet(posing, overlaps.reach)
    return replace(given, notes=(*given.notes, note))


def separate_links(given: RetargetedMotion, options: RetargetOptions, check_options: CheckOptions) -> RetargetedMotion:
    """The motion with overlapping links separated, and a note; unchanged without overlaps.

    Args:
        given: retargeted motion.
        options: of the retargeting.
        check_options: pairs that must not touch.
    """
    overlaps = OverlapFinder(given, check_options)
    return _separate(overlaps, given, options, overlaps.find_overlaps(given.poses))


def _separate(
    overlaps: OverlapFinder, given: RetargetedMotion, options: RetargetOptions, before: Contacts
) -> RetargetedMotion:
    """The motion with overlapping links separated."""
    if not len(before.frames) or overlaps.has_unusable_shapes(before):
        return given
    best, left, found, now = given, before, given, before
    for number in range(MAX_ITERATIONS):
        weights = overlaps.posing.limb_weights if number < MAX_ITERATIONS // 2 else SMOOTH_PATH_WEIGHT
        found, around = separate_around(overlaps, found, now, weights)
        now = overlaps.find_overlaps(found.poses, around)
        if now.distances.sum() > left.distances.sum():  # less deep in all
            best, left = found, now  # other frames are unchanged and without overlap
        if not len(now.frames):
            break
    slow = best if options.keep_timing else best.slow_to_speed_limits(overlaps.posing, overlaps.reach)
    if slow is not best:
        left = overlaps.find_overlaps(slow.poses)
    return replace(slow, notes=(*slow.notes, _format_note(overlaps, before, left)))


def _format_note(overlaps: OverlapFinder, before: Contacts, after: Contacts) -> str:
    deepest = int(np.argmin(before.distances))
    pair = overlaps.detector.pairs[before.pairs[deepest]]
    rest = (
        "nothing overlaps now" if not len(after.frames) else f"{format_length(-float(after.distances.min()))} are left"
    )
    return (
        f"links are separated: {display_name(pair[0])} and {display_name(pair[1])} overlapped by up to "
        f"{format_length(-float(before.distances[deepest]))}, {rest}"
    )


def separate_around(
    overlaps: OverlapFinder,
    motion: RetargetedMotion,
    contacts: Contacts,
    weights: float | np.ndarray,
) -> tuple[RetargetedMotion, np.ndarray]:
    """Separate links smoothly in the frames around overlaps; also returns these frames.

    Args:
        overlaps: of the motion.
        motion: with overlaps.
        contacts: overlapping links.
        weights: of the prior at the poses.
    """
    # at the recording's speed, so that a slowed motion changes as much more slowly
    times, posing = motion.motion.times / motion.duration_ratio, overlaps.posing
    step = float(np.median(np.diff(times)))
    mask = np.zeros(len(times), bool)
    mask[contacts.frames] = True
    width = max(1, round(SMOOTHING_WIDTH / step))
    near = 2 * int(np.ceil(WINDOW / step) + 2 * width) + 1
    around = np.flatnonzero(maximum_filter1d(mask, near, mode="nearest"))
    poses = motion.poses.select(around)
    touches = overlaps.find(poses, SEPARATION_REACH)
    free, reach = motion.foot_paths.swing_weights[around], overlaps.reach
    wanted = reach.yield_feet(poses, motion.targets(posing, poses, around), free)
    pushed = replace(wanted, separation=overlaps.separation_rows(poses, touches, step))
    moved, _ = posing.solve(pushed, poses, POSE_STEPS, PosePrior(poses, weights))
    change = np.zeros((len(times), poses.y.shape[1]))
    change[around] = moved.y - poses.y
    change[around, 3:ROOT_NV] = log(moved.root_rotations @ poses.root_rotations.swapaxes(1, 2))
    # pairs that are only near are separated up to the last frame; this change is faded out, or poses would jump
    fading = smooth_maximum(times, mask.astype(float), WINDOW, SMOOTHING_WIDTH)
    for _ in range(3):
        change = uniform_filter1d(change, width, axis=0, mode="nearest")
    change = SMOOTHING_GAIN * (fading[:, None] * change)[around]
    path = SolvedPoses(exp(change[:, 3:ROOT_NV]) @ poses.root_rotations, poses.y + change)
    path.y[:, 3:ROOT_NV] = 0.0
    path = SolvedPoses(path.root_rotations, np.clip(path.y, posing.lower, posing.upper))
    legs = np.zeros(len(times))
    legs[contacts.frames[overlaps.is_between_shanks(contacts)]] = 1.0
    legs_free = smooth_maximum(times, legs, WINDOW, SMOOTHING_WIDTH)[around, None] * free
    motion = replace(motion, foot_paths=_move_swings(overlaps, motion.foot_paths, path, around, legs_free))
    wanted = reach.yield_feet(poses, motion.targets(posing, poses, around), free)
    again, done = posing.solve(
        wanted, path, REPOSE_STEPS, PosePrior(path, np.maximum(posing.leg_weights, SMOOTH_PATH_WEIGHT))
    )
    turn, y, converged = (
        np.array(values) for values in (motion.poses.root_rotations, motion.poses.y, motion.converged)
    )
    turn[around], y[around], converged[around] = again.root_rotations, again.y, done
    return motion.with_poses(SolvedPoses(turn, y), converged), around


def _move_swings(
    overlaps: OverlapFinder, feet: FootPaths, path: SolvedPoses, frames: np.ndarray, freedom: np.ndarray
) -> FootPaths:
    """Foot paths that swing as the poses of selected frames (n,) do, as far as they are free (n, 2)."""
    placed, tree = overlaps.posing.link_frames(path), overlaps.posing.tree
    rotations, positions = np.array(feet.rotations), np.array(feet.positions)
    for number, link in enumerate(feet.links):
        free = freedom[:, number, None]
        positions[number, frames] += free * (tree.link_origins(placed, link).T - positions[number, frames])
        turned = log(tree.link_rotations(placed, np.array([link]))[:, 0] @ rotations[number, frames].swapaxes(1, 2))
        rotations[number, frames] = exp(free * turned) @ rotations[number, frames]
    return replace(feet, rotations=rotations, positions=positions)
