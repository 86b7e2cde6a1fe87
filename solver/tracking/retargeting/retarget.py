"""A person's or another rig's motion danced by a rig: its links turn alike, its feet stand, its limits are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import stretches
from ...contacts.schedule import Schedule
from ...coordinates import coordinate_names, joint_coordinates
from ...errors import InvalidValue
from ...filter_presets import FilterPreset
from ...motion import Motion
from ...person import SIDES
from ...progress import Progress, silent
from ...rig import ROOT_NV, Rig
from ...signals import low_pass, require_rate
from ...so3 import continuous, exp, log, to_matrix, to_quaternion, unwrapped
from ..anatomy import ARM, LEG, anatomy_of, centres
from ..bone_mapping import BoneMapping, guessed
from ..track import manifold_velocities
from .between import places_at, turns_at
from .ends import whole_steps
from .footing import Footing, Ways, footing
from .pace import LITTLE, ROOM, eased, instants, pace_at, poses_at, stretch, stretched
from .performer import Performer
from .posing import Likely, Poses, Posing, Wanted
from .whole_motion import configurations

SPARSE, DENSE = 0.1, 0.03
"""[s] between the frames that are posed from nothing, and between those that begin between them: enough for a path that
is low-passed."""
FROM_NOTHING, ONWARDS, AGAIN = 16, 12, 6
"""Most steps of a frame from nothing, from between its neighbours, and near its own smoothed pose."""
HALVES = (0.25, 0.5, 0.75)
"""Shares of the way from rest by which a frame is begun anew."""
SWEEPS, BOTH = 60, 2
"""Times at most that neighbours are asked in turn, the one before and the one after; each once until it is better."""
BETTER = 0.99
"""Share of its cost below which another pose is better."""
LEAP = 1.0
"""[rad] By which neighbouring sparse frames differ where one of them has taken another way."""
QUIET = FilterPreset("retargeting", 2, 6.0, "poses of a followed motion")
NEAR = 1.0
"""Weight of a radian away from the quiet path, far above what links weigh: the feet alone are brought back, and what
bounds and posing by frames have bent stays smooth."""
FEWEST = 4
"""Sparse frames between which others can begin."""
LOWEST = 0.05
"""Share of the samples of a sole that lie below the floor: noise."""
WRIST = 1.2
"""[rad]"""
SETTING_OFF = 0.6
"""[s] of a motion within which it sets off from rest, and comes to rest; each takes as long again."""
RAISED = 0.05
"""[m]"""
FASTER, LONGER = 1.0 + 1e-6, 1.005
"""Shares of a limit, and of the duration, beyond which it is told."""
SLOWEST = 100.0
"""Times as long as recorded beyond which a moment is not stretched: who would need that leaps, which is told."""
ROUNDS = 4
"""Times that the pace is looked at again."""


@dataclass(frozen=True, slots=True)
class RetargetOptions:
    """How to follow.

    Attributes:
        keep_pace: joints may be faster than their limits, which is told, instead of the motion slower.
        quiet: low-pass of the poses.
        slower: ratio of the duration to the recorded one, besides what limits ask for.
        stride: ratio of horizontal ways to the recorded ones, scaled.
        wider: [m] by which feet are farther apart sideways than the followed ones, scaled.
        apart: links that overlap are kept apart.
        whole_steps: where the recording begins or ends in the middle of a step, that is begun and finished.
    """

    keep_pace: bool = False
    quiet: FilterPreset = QUIET
    slower: float = 1.0
    stride: float = 1.0
    wider: float = 0.0
    apart: bool = True
    whole_steps: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.stride) and self.stride > 0.0):
            raise InvalidValue(f"ways cannot be {self.stride:g} times as long")
        if not np.isfinite(self.wider):
            raise InvalidValue(f"feet cannot be {self.wider:g} m farther apart")
        if not (np.isfinite(self.slower) and self.slower > 0.0):
            raise InvalidValue(f"a motion cannot last {self.slower:g} times as long")


@dataclass(frozen=True, slots=True, repr=False)
class Retargeted:
    """A motion followed by a rig.

    Attributes:
        rig: that follows.
        motion: at the recording's rate.
        footing: where its feet go, and when they stand, at the motion's times.
        mapping: that was used.
        pace: (N,) [s] time in the recording of each frame; beyond its ends where a step is begun or finished.
        converged: (N,) the frame came to rest.
        told: what was assumed, done, or could not be.
    """

    rig: Rig
    motion: Motion
    footing: Footing
    mapping: BoneMapping
    pace: np.ndarray
    converged: np.ndarray
    told: tuple[str, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """Of its contacts."""
        return self.footing.schedule()

    @property
    def poses(self) -> Poses:
        """Of its frames."""
        q, y = self.motion.q, np.zeros((len(self.motion), self.rig.nv))
        y[:, :3], y[:, ROOT_NV:] = q[:, :3], joint_coordinates(self.rig, q)
        return Poses(to_matrix(q[:, 3:7]), y)

    def posed(self, poses: Poses, converged: np.ndarray | None = None) -> Retargeted:
        """The same with other poses at its times."""
        motion = _motion(self.rig, self.motion.times, poses)
        return replace(self, motion=motion, converged=self.converged if converged is None else converged)

    def at_pace(self, clock: np.ndarray, pace: np.ndarray) -> Retargeted:
        """The same at times (M,) [s] of a clock that shows these times (M,) of it."""
        times, limits = self.motion.times, self.rig.limits
        poses = poses_at(times, self.poses, pace)
        joints = np.clip(poses.y[:, ROOT_NV:], limits.lower, limits.upper)
        poses = Poses(poses.turn, np.concatenate([poses.y[:, :ROOT_NV], joints], axis=1))
        return replace(
            self,
            motion=_motion(self.rig, clock, poses),
            footing=self.footing.paced(clock, pace),
            pace=np.interp(pace, times, self.pace),
            converged=np.ones(len(clock), bool),
        )

    def stretched(self, ends: np.ndarray) -> Retargeted:
        """The same with its frames at times (N,) [s] instead of its own, in samples as far apart."""
        clock = instants(ends, float(np.median(np.diff(self.motion.times))))
        return self.at_pace(clock, pace_at(ends, self.motion.times, clock))

    def from_rest(self) -> Retargeted:
        """The same, setting off from rest and coming to rest."""
        times = self.motion.times
        length, step = float(times[-1] - times[0]), float(np.median(np.diff(times)))
        clock = times[0] + step * np.arange(int(np.ceil((length + 2.0 * min(SETTING_OFF, 0.5 * length)) / step)) + 1)
        return self.at_pace(clock, times[0] + eased(clock - times[0], length, float(clock[-1] - times[0])))

    @property
    def slowed(self) -> float:
        """How many times as long as recorded it lasts."""
        recorded = float(self.pace[-1] - self.pace[0])
        return float(self.motion.times[-1] - self.motion.times[0]) / recorded


def retargeted(
    performer: Performer,
    rig: Rig,
    mapping: BoneMapping | None = None,
    options: RetargetOptions | None = None,
    progress: Progress = silent,
) -> Retargeted:
    """Let a rig follow somebody.

    Args:
        performer: who is followed.
        rig: that follows; it has two feet.
        mapping: which segment leads which link; guessed by default.
        options: see there.
        progress: told how far it is; may cancel.

    Raises:
        InvalidValue: a rig without feet, a mapping without the feet or the root, or too few samples a second.
        UnknownName: the mapping is of another recording or rig.
    """
    options = RetargetOptions() if options is None else options
    require_rate(options.quiet, performer.recording.rate)
    performer = performer.on_ground()
    performer = whole_steps(performer) if options.whole_steps else performer
    mapping = guessed(performer.recording, rig, performer.parts) if mapping is None else mapping
    require_led(performer, rig, mapping)
    follower, times = _Follower(performer, rig, mapping, options), performer.times
    progress(0.1, "posing")
    poses = follower.posed(times)
    progress(0.5, "quieting")
    poses, done = follower.quiet(times, poses, options.quiet)
    progress(0.7, "pacing")
    found = follower.paced(times, poses, done, options)
    told = (*performer.told, *mapping.told, *_told(follower, found, options))
    progress(1.0, f"{len(found.times)} frames")
    motion = _motion(rig, found.times, found.poses)
    return Retargeted(rig, motion, found.feet, mapping, found.pace, found.done, told)


def _motion(rig: Rig, times: np.ndarray, poses: Poses) -> Motion:
    """Poses at times (N,) [s]."""
    q = configurations(rig, continuous(to_quaternion(poses.turn)), poses.y)
    v = manifold_velocities(rig, times, q)
    return Motion(times, q, v, np.gradient(v, times, axis=0))


def require_led(performer: Performer, rig: Rig, mapping: BoneMapping) -> None:
    """Refuse a mapping that leaves the root or a foot to itself.

    Raises:
        InvalidValue: it does.
        UnknownName, UnknownLink: it is of another recording or rig.
    """
    mapping.require(performer.recording, rig)
    needed = [rig.links[0], *(rig.patch(patch).link for patch in rig.sides.values())]
    if free := [link for link in needed if link not in mapping.links]:
        raise InvalidValue(f"the mapping leaves {', '.join(free)} of {rig.name!r} free: name the segment that leads it")
    parts = [f"{side}_{name}" for side in SIDES for name in LEG]
    if missing := [part for part in parts if part not in performer.parts]:
        raise InvalidValue(f"nobody knows which segment is the {', '.join(missing)} of the recording")


@dataclass(frozen=True, slots=True)
class Paced:
    """Poses at a pace.

    Attributes:
        times: (N,) [s], even.
        pace: (N,) [s] of the recording.
        poses: N of them.
        feet: at the times.
        done: (N,) came to rest.
    """

    times: np.ndarray
    pace: np.ndarray
    poses: Poses
    feet: Footing
    done: np.ndarray


class _Follower:
    """Who follows whom, and how."""

    def __init__(self, performer: Performer, rig: Rig, mapping: BoneMapping, options: RetargetOptions) -> None:
        self.performer, self.rig, self.mapping = performer, rig, mapping
        self.feet = footing(performer, rig, mapping, performer.stances(), Ways(options.stride, options.wider))
        self.posing = Posing(rig, mapping, self.feet.links)
        columns = [performer.recording.names.index(segment) for segment in mapping.segments]
        self.turns = performer.recording.rotations[:, columns] @ mapping.turns
        self._rein()
        self.root = mapping.links.index(rig.links[0])
        self.led = [mapping.links.index(rig.links[link]) for link in self.feet.links]
        hips = [performer.place(f"{side}_{LEG[0]}") for side in SIDES]
        self.base = 0.5 * mapping.scale * (hips[0] + hips[1]) * [options.stride, options.stride, 1.0]
        soles = [performer.sole(side)[:, :, 2] for side in SIDES]
        # the soles' lowest place is the floor of the rig, whatever the recording calls zero
        self.base = self.base - [
            0.0,
            0.0,
            mapping.scale * min(float(np.quantile(s.min(axis=1), LOWEST)) for s in soles),
        ]
        self.base[:, 2] += self._ankles()

    def _rein(self) -> None:
        """Let hands turn against their forearms no farther than wrists do: beyond, the other way round is as near."""
        rest, names = self.performer.recording.rest, self.performer.recording.names
        assert rest is not None
        column = dict(zip(self.mapping.segments, range(len(self.mapping.segments))))
        for side in SIDES:
            segments = [self.performer.parts.get(f"{side}_{name}") for name in ARM[1:]]
            if not all(segment in column for segment in segments):
                continue
            arm, hand = (column[str(segment)] for segment in segments)
            straight = [rest.rotations[names.index(str(s))] @ self.mapping.turns[column[str(s)]] for s in segments]
            still = straight[0].T @ straight[1]
            turn = unwrapped(log(still.T @ (self.turns[:, arm].swapaxes(1, 2) @ self.turns[:, hand])))
            far = np.linalg.norm(turn, axis=1, keepdims=True)
            turn = turn * WRIST * np.tanh(far / WRIST) / np.maximum(far, 1e-9)
            self.turns[:, hand] = self.turns[:, arm] @ still @ exp(turn)

    def _ankles(self) -> float:
        """[m] By how much the rig's ankles are higher over its soles than the followed ones, scaled."""
        own = []
        for side, patch in self.rig.sides.items():
            contact = self.rig.patch(patch)
            turn, place = (part[self.rig.index(contact.link)] for part in self.rig.rest)
            ankle = centres(self.rig, anatomy_of(self.rig).parts)[f"{side}_{LEG[-1]}"]
            above = float(ankle[2] - (contact.vertices @ turn.T + place)[:, 2].min())
            foot = self.performer.recording.names.index(self.performer.parts[f"{side}_{LEG[-1]}"])
            assert self.performer.recording.rest is not None
            theirs = -float((self.performer.soles[side] @ self.performer.recording.rest.rotations[foot].T)[:, 2].min())
            own.append(above - self.mapping.scale * theirs)
        return float(np.mean(own))

    def wanted(self, chosen: np.ndarray | slice = slice(None)) -> Wanted:
        """What is followed in frames of the recording."""
        turns = np.array(self.turns[chosen])
        for foot, column in enumerate(self.led):
            turns[:, column] = self.feet.rotations[foot][chosen]
        return Wanted(turns, self.feet.positions[:, chosen].swapaxes(0, 1), self.base[chosen])

    def posed(self, times: np.ndarray) -> Poses:
        """A path of poses of every frame of the recording: those of some frames, and a curve through them."""
        sparse, dense = (_every(times, apart) for apart in (SPARSE, DENSE))
        wanted = self.wanted(dense if len(sparse) <= FEWEST else sparse)
        poses, _ = self.posing.posed(wanted, self.posing.start(wanted, wanted.turns[:, self.root]), FROM_NOTHING)
        poses = self._mended(wanted, poses)
        if len(sparse) > FEWEST:
            start = poses_at(times[sparse], poses, times[dense])
            poses, _ = self.posing.posed(self.wanted(dense), start, ONWARDS)
        return poses_at(times[dense], poses, times) if len(dense) < len(times) else poses

    def _mended(self, wanted: Wanted, poses: Poses) -> Poses:
        """Frames that have gone the wrong way round, or leap, begun anew by halves, and from their neighbours."""
        turn, y = np.array(poses.turn), np.array(poses.y)

        def tried(frames: np.ndarray, start: Poses) -> np.ndarray:
            own = wanted.frames(frames)
            found, _ = self.posing.posed(own, start, ONWARDS)
            here = Poses(turn[frames], y[frames])
            better = self.posing.costs(own, found) < BETTER * self.posing.costs(own, here)
            turn[frames[better]], y[frames[better]] = found.turn[better], found.y[better]
            return frames[better]

        lost = np.flatnonzero(self.posing.lost(wanted, poses))
        if len(lost):
            own = wanted.frames(lost)
            begun = self.posing.at_rest(own, own.turns[:, self.root])
            turns = self.posing.turns(begun)
            way = log(own.turns @ turns.swapaxes(2, 3))
            for share in HALVES:
                part = replace(own, turns=exp(share * way) @ turns)
                begun, _ = self.posing.posed(part, begun, ONWARDS)
            tried(lost, begun)
        asked, idle = np.zeros((BOTH, len(y)), bool), 0
        for number in range(SWEEPS):
            way_on, on = number % BOTH, 1 - 2 * (number % BOTH)
            lost = self.posing.lost(wanted, Poses(turn, y))
            leaps = np.abs(np.diff(y[:, ROOT_NV:], axis=0)).max(axis=1) > LEAP
            wrong = np.append(False, leaps) if on > 0 else np.append(leaps, False)
            wrong |= lost & ~np.roll(lost, on)
            wrong[0 if on > 0 else -1] = False
            frames = np.flatnonzero(wrong & ~asked[way_on])
            idle = 0 if len(frames) else idle + 1
            if idle == BOTH:
                break
            asked[way_on, frames] = True
            better = tried(frames, Poses(turn[frames - on], y[frames - on]))
            asked[:, np.clip(np.concatenate([better - 1, better + 1]), 0, len(y) - 1)] = False
        return Poses(turn, y)

    def quiet(self, times: np.ndarray, poses: Poses, preset: FilterPreset) -> tuple[Poses, np.ndarray]:
        """The poses near their own low-passed path that keep feet and limits, and which came to rest."""
        path = quiet(self.posing, times, poses, preset)
        return self.posing.posed(self.wanted(), path, AGAIN, Likely(path, NEAR))

    def paced(self, times: np.ndarray, poses: Poses, done: np.ndarray, options: RetargetOptions) -> Paced:
        """The same at a pace that the joints keep, in even samples."""
        factors = np.full(len(times) - 1, options.slower)
        step = float(np.median(np.diff(times)))
        found = Paced(times, times, poses, self.feet, done)
        for round_ in range(ROUNDS + 1):
            ends = stretched(times, factors)
            if round_ or options.slower != 1.0:
                found = self._at(times, ends, poses, step)
            if options.keep_pace or round_ == ROUNDS:
                break
            if stretch(self.rig, found.times, found.poses, 1.0).max() <= FASTER:
                break
            more = stretch(self.rig, found.times, found.poses, LITTLE if round_ else ROOM)
            at = 0.5 * (times[1:] + times[:-1])
            middles = 0.5 * (found.pace[1:] + found.pace[:-1])
            factors = np.minimum(factors * np.interp(at, middles, more), options.slower * SLOWEST)
        return found

    def _at(self, times: np.ndarray, ends: np.ndarray, poses: Poses, step: float) -> Paced:
        """Poses at even instants when the recording's frames come at ``ends`` instead of ``times``."""
        clock = instants(ends, step)
        pace = pace_at(ends, times, clock)
        feet = self.feet.paced(clock, pace)
        path = poses_at(times, poses, pace)
        path = Poses(path.turn, np.clip(path.y, self.posing.lower, self.posing.upper))
        turns = turns_at(times, self.turns, pace)
        for foot, column in enumerate(self.led):
            turns[:, column] = feet.rotations[foot]
        wanted = Wanted(turns, feet.positions.swapaxes(0, 1), places_at(times, self.base, pace))
        found, done = self.posing.posed(wanted, path, AGAIN, Likely(path, NEAR))
        return Paced(clock, pace, found, feet, done)


def _every(times: np.ndarray, apart: float) -> np.ndarray:
    """Frames of times (N,) [s] about so far [s] apart, the last among them."""
    step = max(1, round(apart * (len(times) - 1) / (times[-1] - times[0])))
    return np.unique(np.append(np.arange(0, len(times), step), len(times) - 1))


def quiet(posing: Posing, times: np.ndarray, poses: Poses, preset: FilterPreset) -> Poses:
    """The low-passed path of poses, within bounds."""
    rate = (len(times) - 1) / (times[-1] - times[0])
    quaternions = low_pass(continuous(to_quaternion(poses.turn)), rate, preset)
    turn = to_matrix(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    return Poses(turn, np.clip(low_pass(poses.y, rate, preset), posing.lower, posing.upper))


def _told(follower: _Follower, found: Paced, options: RetargetOptions) -> list[str]:
    """What was done that nobody asked for, and what could not be."""
    told = []
    lasts = float(found.times[-1] - found.times[0]) / float(found.pace[-1] - found.pace[0])
    rig = follower.rig
    speeds = np.abs(np.diff(found.poses.y[:, ROOT_NV:], axis=0)) / np.diff(found.times)[:, None]
    with np.errstate(invalid="ignore"):
        share = (speeds / rig.limits.speed).max(axis=0, initial=0.0)
    if lasts > options.slower * LONGER:
        told.append(f"it lasts {lasts:.3g} times as long as recorded: joints would have been too fast")
    if share.max(initial=0.0) > FASTER:
        worst = int(np.argmax(share))
        told.append(f"{coordinate_names(rig)[worst]} is {share[worst]:.2f} times as fast as its limit")
    if not found.done.all():
        first = float(found.times[int(np.argmin(found.done))])
        told.append(f"{int((~found.done).sum())} frames did not converge (first at {first:.2f} s)")
    stands = found.feet.stands.any(axis=0)
    if not stands.all():
        flights = [(a, b) for a, b in stretches(~stands)]
        longest = max(float(found.times[min(b, len(stands) - 1)] - found.times[a]) for a, b in flights)
        told.append(
            f"{len(flights)} flight(s) of up to {longest:.2f} s, as long as the recorded ones at this pace: a body "
            f"scaled by {follower.mapping.scale:.2f} would fly a shorter time"
        )
    if found.feet.raised > RAISED:
        told.append(f"a foot stands {found.feet.raised:.2f} m over the floor, on something that nobody recorded")
    return told
