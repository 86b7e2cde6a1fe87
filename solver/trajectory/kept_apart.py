"""Links of a followed motion kept apart: hands in thighs, arms in a chest, feet in each other.

What a person's limbs do without touching, a robot's, which are thicker or shorter, often do not. Feet and shanks that
overlap go farther apart sideways, in the whole motion. Other links are pushed apart where they overlap: all frames
around are posed again near themselves, feet as they stood and, where it is led, the centre of mass where it was; the
change is smoothed over time and made again until it suffices. Feet in the air turn about the vertical where one leg is
inside the other. Where shapes overlap in a third of all pairs, they tell nothing and the motion stays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ..check_options import CheckOptions
from ..feasibility.collisions import CollisionDetector, Touches
from ..feasibility.construction import SOCKET
from ..person import SIDES
from ..rig import ROOT_NV
from ..scene.words import length, spoken
from ..so3 import continuous, exp, log, to_quaternion
from ..tracking.anatomy import LEG, anatomy_of
from ..tracking.retargeting import pace
from ..tracking.retargeting.apart import Apart
from ..tracking.retargeting.follower import FASTER, NEAR
from ..tracking.retargeting.footing import Footing
from ..tracking.retargeting.performer import Performer
from ..tracking.retargeting.posing import Likely, Poses, Posing, Wanted
from ..tracking.retargeting.retarget import retargeted
from ..tracking.retargeting.retargeted import Retargeted, RetargetOptions
from ..tracking.retargeting.whole_motion import configurations
from .sides import PlacedTouches, on_one_side

OVERLAP = 5e-4
"""[m] Deeper than this links count as overlapping."""
ROOM, WITHIN = 0.012, 0.03
"""[m] by which links are pushed apart, and from which on they are looked at: smoothing takes off a part."""
WIDER, TIMES = 0.01, 3
"""[m] by which feet are farther apart than legs overlap; times at most."""
ROUNDS, STEPS, AGAIN = 8, 4, 3
MORE = 1.4
"""By so much a smoothed change is larger: smoothing takes that off its top."""
AROUND, SMOOTH = 0.3, 0.12
"""[s] of the recording before and after an overlap that is changed; width over which changes are averaged thrice."""
MEANINGLESS = 0.3
"""Share of the pairs of links beyond which shapes that overlap tell nothing."""
EVERY = slice(None)
PIECE = 2048
"""Frames measured at once."""


class Overlaps:
    """What of a rig overlaps in a motion."""

    def __init__(self, given: Retargeted, held: CheckOptions) -> None:
        self.rig, self.detector = given.rig, CollisionDetector(given.rig, held)
        self.posing = Posing(given.rig, given.mapping, given.footing.links)
        rig, parts = given.rig, anatomy_of(given.rig).parts
        self.shanks = np.array([rig.below[rig.index(parts[f"{side}_{LEG[1]}"])] for side in SIDES])
        """(2, L) links of the right and the left leg from the knee down."""
        carries = rig.below[:, list(given.footing.links)]
        tops = carries & ~carries[:, ::-1]
        self.legs = np.array([rig.below[top].any(axis=0) for top in tops.T])
        """(2, L) links of either whole leg."""
        self.links = np.array([[rig.index(link) for link in pair] for pair in self.detector.pairs], int).reshape(-1, 2)

    def found(self, poses: Poses, within: float, chosen: np.ndarray | None = None) -> Touches:
        """Pairs that are nearer than so far [m], in all frames or some (n,)."""
        if chosen is not None:
            found = self.found(poses.frames(chosen), within)
            return replace(found, frames=chosen[found.frames])
        parts = []
        for start in range(0, len(poses), PIECE):
            own = poses.frames(slice(start, start + PIECE))
            placed = self.posing.placed(own)
            every = np.arange(len(self.rig.links))
            q = configurations(self.rig, continuous(to_quaternion(own.turn)), own.y)
            places = np.array([self.posing.tree.place(placed, link) for link in every]).transpose(2, 0, 1)
            touches = self.detector.touches(q, self.posing.tree.turns(placed, every), places, within)
            parts.append(replace(touches, frames=touches.frames + start))
        return Touches(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Touches)))

    def tells_nothing(self, touches: Touches) -> bool:
        """Whether so many pairs overlap that their shapes are none."""
        return len(np.unique(touches.pairs)) > MEANINGLESS * len(self.detector.pairs)

    def com(self, poses: Poses) -> np.ndarray:
        """(N, 2) [m] what the centre of mass is over."""
        return self.posing.tree.centre_of_mass(self.posing.placed(poses))[0][:, :2]

    def between_shanks(self, touches: Touches) -> float:
        """[m] By how much one shank or foot is inside the other at most; 0 where they do not overlap."""
        return max(0.0, -float(touches.distances[self._between(touches, self.shanks)].min(initial=0.0)))

    def between_legs(self, touches: Touches) -> np.ndarray:
        """Frames in which one leg is inside the other."""
        return np.unique(touches.frames[self._between(touches, self.legs)])

    def _between(self, touches: Touches, sides: np.ndarray) -> np.ndarray:
        """(M,) True for pairs of a link (2, L) of either side."""
        first, second = self.links[touches.pairs].T
        right, left = sides
        return np.asarray((right[first] & left[second]) | (left[first] & right[second]))

    def apart(self, poses: Poses, touches: Touches, step: float) -> Apart:
        """Rows that push them apart, past each other on one side for as long as they are near."""
        links, frames = self.links[touches.pairs], touches.frames
        placed, tree = self.posing.placed(poses), self.posing.tree
        turns, places = tree.each(placed, links, frames[:, None])
        touches = on_one_side(PlacedTouches(self.detector, touches, turns, places), poses.turn, step, ROOM)
        points = (turns.swapaxes(-1, -2) @ (touches.points - places)[..., None])[..., 0]
        # links in each other's sockets never part by much
        least = np.where(self.detector.forgiven[touches.pairs] > 0.0, SOCKET, ROOM)
        return Apart(frames, links, points, touches.normals, least, touches.distances < least)


@dataclass(frozen=True, slots=True)
class Kept:
    """A motion whose links are kept apart, and the options with which it follows."""

    motion: Retargeted
    options: RetargetOptions


def links_apart(performer: Performer, given: Retargeted, options: RetargetOptions, held: CheckOptions) -> Kept:
    """The motion with links that overlap kept apart, which is told; the same where none does.

    Args:
        performer: who is followed.
        given: the motion as it follows.
        options: with which it does.
        held: which pairs must not touch.
    """
    overlaps, first = Overlaps(given, held), options.wider
    touches = overlaps.found(given.poses, -OVERLAP)
    for _ in range(TIMES):
        deep = overlaps.between_shanks(touches)
        if not deep or overlaps.tells_nothing(touches):
            break
        options = replace(options, wider=options.wider + deep + WIDER)
        given = retargeted(performer, given.rig, given.mapping, options)
        touches = overlaps.found(given.poses, -OVERLAP)
    if options.wider > first:
        told = f"feet are {length(options.wider)} farther apart: one leg was inside the other"
        given = replace(given, told=(*given.told, told))
    return Kept(_all_pushed(overlaps, given, options, touches, None), options)


def kept_apart(given: Retargeted, options: RetargetOptions, held: CheckOptions, led: bool = False) -> Retargeted:
    """The motion with links that overlap pushed apart, which is told; the same where none does.

    Args:
        given: the motion.
        options: with which it follows.
        held: which pairs must not touch.
        led: its centre of mass stays where it is.
    """
    overlaps = Overlaps(given, held)
    com = overlaps.com(given.poses) if led else None
    return _all_pushed(overlaps, given, options, overlaps.found(given.poses, -OVERLAP), com)


def _all_pushed(
    overlaps: Overlaps, given: Retargeted, options: RetargetOptions, before: Touches, com: np.ndarray | None
) -> Retargeted:
    """The motion with what overlaps pushed apart, its centre of mass over places (N, 2) [m] where it is led."""
    if not len(before.frames) or overlaps.tells_nothing(before):
        return given
    best, left, found, now = given, before, given, before
    for _ in range(ROUNDS):
        found, around = pushed_around(overlaps, found, now, com)
        now = overlaps.found(found.poses, -OVERLAP, around)
        if _severity(now) < _severity(left):
            best, left = found, now  # other frames are as they were, and nothing overlapped there
        if not len(now.frames):
            break
    slow = best if options.keep_pace else _slow_enough(overlaps, best, led=com is not None)
    if slow is not best:
        left = overlaps.found(slow.poses, -OVERLAP)
    return replace(slow, told=(*slow.told, _sentence(overlaps, before, left)))


def _severity(touches: Touches) -> float:
    """Depths of all overlaps together."""
    return float(-touches.distances.sum())


def _sentence(overlaps: Overlaps, before: Touches, after: Touches) -> str:
    deepest = int(np.argmin(before.distances))
    pair = overlaps.detector.pairs[before.pairs[deepest]]
    rest = "nothing overlaps now" if not len(after.frames) else f"{length(-float(after.distances.min()))} are left"
    return (
        f"links are kept apart: {spoken(pair[0])} and {spoken(pair[1])} overlapped by up to "
        f"{length(-float(before.distances[deepest]))}, {rest}"
    )


def _wanted(
    overlaps: Overlaps, given: Retargeted, poses: Poses, com: np.ndarray | None, frames: np.ndarray | slice = EVERY
) -> Wanted:
    """Poses of some frames of a motion themselves, with the feet where they stand."""
    posing = overlaps.posing
    placed = posing.placed(poses)
    turns = posing.tree.turns(placed, posing.links)
    for number, link in enumerate(given.footing.links):
        turns[:, np.flatnonzero(posing.links == link)[0]] = given.footing.rotations[number][frames]
    base = posing.tree.place(placed, 0).T + poses.turn @ posing.offset
    return Wanted(turns, given.footing.positions[:, frames].swapaxes(0, 1), base, com)


def pushed_around(
    overlaps: Overlaps, found: Retargeted, deep: Touches, com: np.ndarray | None
) -> tuple[Retargeted, np.ndarray]:
    """Frames around overlaps posed near themselves with links pushed apart, smoothly; and which frames those are.

    Args:
        overlaps: what is measured with.
        found: the motion.
        deep: where links overlap.
        com: (N, 2) [m] where the centre of mass stays; None where it is not led.
    """
    times, posing = _recorded(found), overlaps.posing
    step = float(np.median(np.diff(times)))
    mask = np.zeros(len(times), bool)
    mask[deep.frames] = True
    width = max(1, round(SMOOTH / step))
    reach = 2 * int(np.ceil(AROUND / step) + 2 * width) + 1
    around = np.flatnonzero(maximum_filter1d(mask, reach, mode="nearest"))
    poses, own = found.poses.frames(around), None if com is None else com[around]
    touches = overlaps.found(poses, WITHIN)
    wanted = _wanted(overlaps, found, poses, own, around)
    free = _free(overlaps, found, deep)[around]
    pushed = replace(wanted, apart=overlaps.apart(poses, touches, step), free=free if free.any() else None)
    near, _ = posing.posed(pushed, poses, STEPS, Likely(poses, NEAR))
    change = np.zeros((len(times), poses.y.shape[1]))
    change[around] = near.y - poses.y
    change[around, 3:ROOT_NV] = log(near.turn @ poses.turn.swapaxes(1, 2))
    # pairs that are merely near are pushed up to the last frame around: that fades, or poses jump where it ends
    fading = _spread(times, mask.astype(float))
    for _ in range(3):
        change = uniform_filter1d(change, width, axis=0, mode="nearest")
    change = MORE * (fading[:, None] * change)[around]
    path = Poses(exp(change[:, 3:ROOT_NV]) @ poses.turn, poses.y + change)
    path.y[:, 3:ROOT_NV] = 0.0
    path = Poses(path.turn, np.clip(path.y, posing.lower, posing.upper))
    if free.any():
        found = replace(found, footing=_given_way(overlaps, found.footing, path, around, free))
        wanted = _wanted(overlaps, found, poses, own, around)
    again, done = posing.posed(wanted, path, AGAIN, Likely(path, NEAR))
    turn, y, converged = (np.array(values) for values in (found.poses.turn, found.poses.y, found.converged))
    turn[around], y[around], converged[around] = again.turn, again.y, done
    return found.posed(Poses(turn, y), converged), around


def _recorded(found: Retargeted) -> np.ndarray:
    """Times (N,) [s] at the recording's pace: a motion made slower gives way as much slower, or it would jerk."""
    return np.asarray(found.motion.times / found.slowed)


def _spread(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (N, ...) at times (N,) [s], the greatest of those around, smooth."""
    step = float(np.median(np.diff(times)))
    values = maximum_filter1d(values, 2 * int(np.ceil(AROUND / step)) + 1, axis=0, mode="nearest")
    for _ in range(3):
        values = uniform_filter1d(values, max(1, round(SMOOTH / step)), axis=0, mode="nearest")
    return np.maximum(values, 0.0)  # a running sum leaves rounding below zero


def _free(overlaps: Overlaps, found: Retargeted, deep: Touches) -> np.ndarray:
    """(N, 2) share by which feet in the air may turn: around frames in which one leg is inside the other.

    A leg has as many joints as its foot needs: one whose foot is held in place and turn has none left to give way with.
    """
    result = np.zeros((len(found.motion), 2))
    frames = overlaps.between_legs(deep)
    if len(frames):
        result[frames] = 1.0
        result = _spread(_recorded(found), result) * found.footing.free
    return result


def _given_way(overlaps: Overlaps, footing: Footing, path: Poses, around: np.ndarray, free: np.ndarray) -> Footing:
    """Feet that turn about the vertical as a path of some frames turned them, as far as they were free."""
    placed, angles = overlaps.posing.placed(path), np.zeros((2, len(footing.times)))
    turns = overlaps.posing.tree.turns(placed, np.array(footing.links))
    for number in range(2):
        turned = log(turns[:, number] @ footing.rotations[number, around].swapaxes(1, 2))
        angles[number, around] = free[:, number] * turned[:, 2]
    return footing.turned(angles)


def _slow_enough(overlaps: Overlaps, found: Retargeted, led: bool) -> Retargeted:
    """The same, slower where joints have become too fast."""
    for number in range(TIMES):
        times = found.motion.times
        if pace.stretch(found.rig, times, found.poses, found.converged, 1.0).max() <= FASTER:
            break
        room = pace.LITTLE if number else pace.ROOM
        factors = pace.stretch(found.rig, times, found.poses, found.converged, room)
        longer = found.stretched(pace.stretched(times, factors))
        poses = longer.poses
        wanted = _wanted(overlaps, longer, poses, overlaps.com(poses) if led else None)
        again, done = overlaps.posing.posed(wanted, poses, AGAIN, Likely(poses, NEAR))
        found = longer.posed(again, done)
    return found
