"""A followed motion balanced as a whole: its centre of mass sways as its feet ask, its limbs keep to what they did.

Kinematic retargeting brings the hips where the followed ones were, scaled; where the zero-moment point is then is luck.
The motion sets off from rest and ends at rest, the least sway brings the zero-moment point inside its support
(`least_sway`), and all frames are posed again with the centre of mass led, feet as they stood, links turned as they
were. Where joints are too weak or too slow for that, the motion is milder, nearer to standing upright, or slower.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ..check_options import ROBOT_SHRINK, CheckOptions
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.mechanics import Mechanics
from ..feasibility import Checks, Margin, check_motion
from ..feasibility.balance import LEAST_LOAD, zero_moment_point
from ..feasibility.situation import PlantedPhase
from ..person import SIDES
from ..progress import Part, Progress, silent
from ..so3 import exp, log
from ..tracking.anatomy import LEG, anatomy_of, centres
from ..tracking.retargeting.follower import NEAR, quiet
from ..tracking.retargeting.pace import stretch, stretched
from ..tracking.retargeting.performer import Performer
from ..tracking.retargeting.posing import Likely, Poses, Posing, Wanted, knees
from ..tracking.retargeting.retarget import retargeted
from ..tracking.retargeting.retargeted import QUIET, Retargeted, RetargetOptions
from .kept_apart import kept_apart, links_apart
from .sway import Pendulum, Supports, least_sway

ATTEMPTS = 6
"""Times that the motion is made milder or slower."""
APART = 2
"""Times that links are kept apart and the motion is balanced again."""
ROUNDS = 3
"""Times that the sway is led and the zero-moment point looked at again."""
STEPS = 12
BENT = 0.3
"""[rad] Bend of the knee with which a leg reaches as far as hips are brought over it."""
AROUND = 0.2
"""[s] before and after a moment in which hips are lower, or the motion is milder."""
LOWERED = 0.92
"""Share of their height over the ankles at which hips still are over one foot while the other stands as well."""
SHARE = 1.2
"""By so much the hips move farther than the centre of mass."""
LIKELY = 1e-2
"""Weight of a radian away from the motion as it was, below what links weigh: it only keeps what nothing leads."""
SLOWEST = 2.0
"""[Hz] Least cut-off of the poses: that of the followed ones, at the motion's pace."""
STRENGTH = 0.05
"""Share of joints' torques that is kept in reserve where the motion is made milder."""
FASTER = 1.0 + 1e-6
UPRIGHT = 1.5
"""Power of the share of a torque that is allowed, by which what is left of the motion shrinks."""


def balanced(
    performer: Performer, found: Retargeted, options: RetargetOptions, held: CheckOptions, progress: Progress = silent
) -> Retargeted:
    """The motion with the centre of mass led so that its feet can carry it, from rest to rest.

    Args:
        performer: who is followed.
        found: the motion as it follows.
        options: with which it does.
        held: which pairs of links must not touch.
        progress: told how far it is; may cancel.
    """
    stride, told = _stride_within_reach(found), []
    if stride < 1.0:
        shorter = replace(options, stride=stride * options.stride)
        found = retargeted(performer, found.rig, found.mapping, shorter, Part(progress, 0.0, 0.3))
        found = links_apart(performer, found, shorter, held).motion if options.apart else found
        told.append(f"ways are {stride:.2f} times as long: where both feet stand flat, legs reach no farther")
    given = found.from_rest()
    share = np.zeros(len(given.motion))
    best, least = given, np.inf
    for attempt in range(ATTEMPTS):
        result, poses = _Balancer(given, share).found(Part(progress, 0.3 + 0.7 * attempt / ATTEMPTS, 1.0))
        checks = check_motion(result.rig, result.motion, result.schedule, CheckOptions(pairs=()))
        failing = float(np.mean(checks.failed))
        if failing < least:
            best, least = result, failing
        times = result.motion.times
        share = _milder(times, share, checks)
        slower = stretch(result.rig, times, poses, result.converged, 1.0)
        if slower.max() > FASTER:
            ends = stretched(times, slower)
            given = given.stretched(ends)
            share = np.interp(given.motion.times, ends, share)
        elif not _strength(checks).failed.any():
            break
    best = _apart(best, options, held) if options.apart else best
    lasts = float(best.motion.times[-1] - best.motion.times[0])
    told.append(f"its centre of mass is led over its feet, from rest to rest, within {lasts:.1f} s")
    return replace(best, told=(*best.told, *told))


def _apart(found: Retargeted, options: RetargetOptions, held: CheckOptions) -> Retargeted:
    """The motion with links kept apart and, as arms that give way have weight, balanced again; what fails least."""
    ways = [found]
    for _ in range(APART):
        apart = kept_apart(ways[-1], options, held, led=True)
        if apart is ways[-1]:
            break
        again, _ = _Balancer(apart, np.zeros(len(apart.motion))).found(silent)
        ways += [apart, again]
    return min(ways, key=lambda way: float(check_motion(way.rig, way.motion, way.schedule, held).failed.mean()))


def _stride_within_reach(found: Retargeted) -> float:
    """Ratio (at most 1) to which ways are to be shortened so that weight can go over each foot while both stand flat.

    A person walks over feet that roll; where soles stay flat, the leg behind has to reach to where it stood.
    """
    if found.footing.stands.all():
        return 1.0
    hips, reach = _legs(Posing(found.rig, found.mapping, found.footing.links))
    most = float(reach.min()) * np.sqrt(1.0 - LOWERED**2)
    apart, longest = float(np.linalg.norm((hips[0] - hips[1])[:2])), 0.0
    for phase in found.schedule.phases:
        if len(phase.anchors) == len(SIDES):
            one, other = (anchor.points(found.rig)[:, :2].mean(axis=0) for anchor in phase.anchors)
            longest = max(longest, float(np.sqrt(max(((one - other) ** 2).sum() - apart**2, 0.0))))
    return 1.0 if longest <= most else most / longest


def _milder(times: np.ndarray, share: np.ndarray, checks: Checks) -> np.ndarray:
    """Shares (N,) of the way to standing upright, more where joints are too weak."""
    strength = _strength(checks)
    beyond = np.maximum(STRENGTH - strength.smallest, 0.0)
    beyond = np.where(np.isfinite(beyond) & strength.failed, np.minimum(beyond, 1.0), 0.0)
    return np.asarray(np.maximum(share, 1.0 - (1.0 - share) * _around(times, beyond, -UPRIGHT)))


def _strength(checks: Checks) -> Margin:
    """Of joints by force: what the motors still have."""
    return next(m for m in checks.margins if m.check.about == "joints" and m.check.depends == "force")


def _around(times: np.ndarray, values: np.ndarray, power: float = 1.0) -> np.ndarray:
    """The greatest values (N,) within `AROUND`, smooth; of another power of one and them."""
    width = 2 * int(np.ceil(AROUND / float(np.median(np.diff(times))))) + 1
    values = maximum_filter1d(values, width, mode="nearest")
    if power < 0.0:
        values = (1.0 + values) ** power
    for _ in range(3):
        values = uniform_filter1d(values, max(width // 3, 1), mode="nearest")
    return np.asarray(values)


class _Balancer:
    """A motion that is balanced, a share (N,) of the way nearer to standing upright."""

    def __init__(self, given: Retargeted, share: np.ndarray) -> None:
        self.given, self.rig, self.times = given, given.rig, given.motion.times
        self.posing = Posing(given.rig, given.mapping, given.footing.links)
        self.mechanics, self.schedule = Mechanics(given.rig), given.schedule
        self.gravity = given.rig.weight / given.rig.prior.total_mass
        self.poses = given.poses
        self.preset = replace(QUIET, cutoff=max(QUIET.cutoff / given.slowed, SLOWEST))
        self.hips, self.reach = _legs(self.posing)
        self.wanted = self._wanted(share)
        held = CheckOptions(pairs=())
        ground = self.schedule.ground
        phases = [PlantedPhase.of(self.rig, phase, held) for phase in self.schedule.phases]
        self.planes = np.array([phase.plane(ground) for phase in phases])
        """[m] What is stood on in each phase."""
        self.supports = Supports(self.schedule.index_at(self.times), self._polygons(0.0), self._polygons(ROBOT_SHRINK))

    def found(self, progress: Progress) -> tuple[Retargeted, Poses]:
        """After all rounds; the centre of mass is moved from where it has been given."""
        poses, done = self.poses, self.given.converged
        still = self._com(poses)
        for number in range(ROUNDS):
            progress(number / ROUNDS, "balancing")
            com = self._com(poses)
            more = least_sway(self._pendulum(poses, com, com[:, :2] - still[:, :2]), self.supports, self.gravity)
            if more is None:
                break
            poses, done = self._led(poses, com[:, :2] + more, more)
        return self.given.posed(poses, done), poses

    def _polygons(self, shrink: float) -> tuple[SupportPolygon | None, ...]:
        """Of each phase."""
        phases = self.schedule.phases
        return tuple(support_polygon(self.rig, p.anchors, shrink) if p.anchors else None for p in phases)

    def _wanted(self, share: np.ndarray) -> Wanted:
        """What is followed: links and hips as they were, or nearer to standing upright."""
        placed, posing = self.posing.placed(self.poses), self.posing
        turns = posing.tree.turns(placed, posing.links)
        base = posing.tree.place(placed, 0).T + self.poses.turn @ posing.offset
        if share.any():
            rest = np.array(posing.rest)
            rest[:3] = 0.0
            upright = posing.turns(Poses(np.eye(3)[None], rest[None]))[0]
            ahead = self.poses.turn[:, :, 0]
            heading = exp(np.arctan2(ahead[:, 1], ahead[:, 0])[:, None] * [0.0, 0.0, 1.0])
            way = log(turns.swapaxes(2, 3) @ (heading[:, None] @ upright))
            turns = turns @ exp(share[:, None, None] * way)
            stands = self.given.footing.positions[:, :, 2].min(axis=0) + float(self.reach.min())
            base[:, 2] += share * (stands - base[:, 2]).clip(0.0)
        for number, link in enumerate(self.given.footing.links):
            turns[:, np.flatnonzero(posing.links == link)[0]] = self.given.footing.rotations[number]
        return Wanted(turns, self.given.footing.positions.swapaxes(0, 1), base)

    def _led(self, poses: Poses, com: np.ndarray, more: np.ndarray) -> tuple[Poses, np.ndarray]:
        """Poses with the centre of mass over places (N, 2) [m], and which came to rest."""
        base = np.array(self.wanted.base)
        base[:, 2] -= self._drop(poses, more)
        led = replace(self.wanted, com=com, base=base)
        path = Poses(poses.turn, np.array(poses.y))
        path.y[:, :2] += more
        path.y[:, 2] += base[:, 2] - (poses.y[:, :3] + poses.turn @ self.posing.offset)[:, 2]
        found, _ = self.posing.posed(led, path, STEPS, Likely(self.poses, LIKELY))
        smooth = quiet(self.posing, self.times, found, self.preset)
        return self.posing.posed(led, smooth, STEPS, Likely(smooth, NEAR))

    def _drop(self, poses: Poses, more: np.ndarray) -> np.ndarray:
        """(N,) [m] by which the hips are lower than wanted, smoothly, so that legs reach with their knees bent."""
        hips = poses.y[:, None, :3] + (poses.turn[:, None] @ self.hips[:, :, None])[..., 0]
        hips[:, :, :2] += SHARE * more[:, None]
        hips[:, :, 2] += (self.wanted.base - poses.y[:, :3] - poses.turn @ self.posing.offset)[:, None, 2]
        away = self.wanted.feet - hips
        reach = np.sqrt(np.maximum(self.reach**2 - (away[:, :, :2] ** 2).sum(axis=2), 0.0))
        return _around(self.times, np.maximum(-away[:, :, 2] - reach, 0.0).max(axis=1))

    def _com(self, poses: Poses) -> np.ndarray:
        return self.posing.tree.centre_of_mass(self.posing.placed(poses))[0]

    def _pendulum(self, poses: Poses, com: np.ndarray, swayed: np.ndarray) -> Pendulum:
        motion = self.given.posed(poses).motion
        wrench = self.mechanics.wrenches(motion.q, motion.v, motion.a)
        weight, ground = self.rig.weight, self.planes[self.supports.phase]
        felt = np.maximum(wrench[:, 2], LEAST_LOAD * weight) / self.rig.prior.total_mass
        height = com[:, 2] - ground
        zmp = zero_moment_point(wrench, ground, weight)
        return Pendulum(self.times, zmp, height / felt, swayed, float(np.median(height)))


def _legs(posing: Posing) -> tuple[np.ndarray, np.ndarray]:
    """Hips (2, 3) [m], right and left, root axes, and how far (2,) [m] a foot's link is from its own, knee bent."""
    rig, y = posing.rig, np.array(posing.rest)
    for column, sign in knees(rig):
        y[column] = sign * BENT
    starts, (turn, place) = centres(rig, anatomy_of(rig).parts), (part[0] for part in rig.rest)
    hips = np.array([turn.T @ (starts[f"{side}_{LEG[0]}"] - place) for side in SIDES])
    y[:3] = 0.0
    placed = posing.placed(Poses(np.eye(3)[None], y[None]))
    feet = np.array([posing.tree.place(placed, link)[:, 0] for link in posing.feet])
    return hips, np.linalg.norm(feet - hips, axis=1)
