"""Who follows whom, and how: what is wanted of every frame, poses that do it, and the pace that joints keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...filter_presets import FilterPreset
from ...person import SIDES
from ...rig import ROOT_NV, Rig
from ...signals import low_pass
from ...so3 import continuous, exp, log, to_matrix, to_quaternion, unwrapped
from ..anatomy import ARM, LEG, anatomy_of, centres
from ..bone_mapping import BoneMapping
from .between import places_at, turns_at
from .footing import Footing, Ways, footing
from .pace import LITTLE, ROOM, instants, pace_at, poses_at, stretch, stretched
from .performer import Performer
from .posing import Likely, Poses, Posing, Wanted
from .retargeted import RetargetOptions

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
NEAR = 1.0
"""Weight of a radian away from the quiet path, far above what links weigh: the feet alone are brought back, and what
bounds and posing by frames have bent stays smooth."""
FEWEST = 4
"""Sparse frames between which others can begin."""
LOWEST = 0.05
"""Share of the samples of a sole that lie below the floor: noise."""
REACHED = 1e-3
"""[m] By how much a foot may miss its place: a fraction of what a standing foot may slide (`CheckOptions`)."""
WRIST = 1.2
"""[rad]"""
SLOWEST = 100.0
"""Times as long as recorded beyond which a moment is not stretched: who would need that leaps, which is told."""
ROUNDS = 4
"""Times that the pace is looked at again."""
FASTER = 1.0 + 1e-6
"""Share of a limit beyond which a joint is too fast."""


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


class Follower:
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

    def within_reach(self, poses: Poses) -> np.ndarray:
        """(N,) True where legs reach the places of both feet, in poses of every frame of the recording."""
        return np.asarray(self.posing.missed(self.wanted(), poses) < REACHED)

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
            if stretch(self.rig, found.times, found.poses, found.done, 1.0).max() <= FASTER:
                break
            more = stretch(self.rig, found.times, found.poses, found.done, LITTLE if round_ else ROOM)
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
