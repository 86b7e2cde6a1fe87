"""All frames of a motion posed together: Gauss and Newton's steps within bounds, one small system a frame.

Links follow orientations, the feet exactly as they are led, the root softly: where a leg does not reach, the root gives
way. With the axes a_i of the coordinates, orientations give the entry sum_l w_l a_i . a_j over the links l that both i
and j move, which is the axes' Gram matrix times a constant; so no link's Jacobian is ever built.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rig import ROOT_NV, Rig
from ...so3 import exp, log
from ..anatomy import LEG, ROOT, anatomy_of, centres
from ..bone_mapping import RADIAN, BoneMapping
from ..chains import ChainFit
from .apart import Apart
from .footing import Footing
from .whole_motion import Placed, WholeMotion

PIECE = 256
"""Frames posed together: their numbers stay near the processor."""
FIRM = 1e4
"""Weight of the feet over everything else: what is left of their errors is micrometres."""
BASE = 2.0
"""Weight of a metre of the root's place over a metre by which an orientation's error moves a point at `RADIAN`."""
HEIGHT = 200.0
"""The same of its height, where the centre of mass is led: it is as low as the legs ask."""
POSTURE = 3e-4
"""Weight of a radian away from the posture at rest."""
DAMPING = 1e-5
LONGEST = 0.4
"""[rad, m] Most that a coordinate changes in a step."""
CONVERGED = 2e-4
"""[rad, m] Largest step after which a frame is done; what is left is its square."""
TOUCHING = 1e-9
PASSES = 6
"""Times that more coordinates may come to their bounds within a step."""
LOST = 0.8
"""[rad]"""
ROOM = 0.03
"""[rad, m] Room that first poses leave within bounds."""
KNEE = 0.14
"""[rad] Least bend of a knee: a stretched leg cannot keep its foot while the body moves."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is followed in N frames.

    Attributes:
        turns: (N, O, 3, 3) orientations of the mapping's links, world; the feet's among them as they are led.
        feet: (N, F, 3) [m] where the origins of the feet's links go.
        base: (N, 3) [m] where the middle between the hips goes.
        com: (N, 2) [m] over where the centre of mass goes; the middle between the hips then only keeps its height.
        apart: links that are not to touch.
        free: (N, F) share by which the feet may turn about the vertical; none by default.
    """

    turns: np.ndarray
    feet: np.ndarray
    base: np.ndarray
    com: np.ndarray | None = None
    apart: Apart | None = None
    free: np.ndarray | None = None

    def frames(self, chosen: np.ndarray | slice) -> Wanted:
        """Some of the frames."""
        com = None if self.com is None else self.com[chosen]
        apart = None if self.apart is None else self.apart.of(chosen, len(self.base))
        free = None if self.free is None else self.free[chosen]
        return Wanted(self.turns[chosen], self.feet[chosen], self.base[chosen], com, apart, free)


@dataclass(frozen=True, slots=True)
class Poses:
    """A rig's coordinates in N frames.

    Attributes:
        turn: (N, 3, 3) axes of the root, world.
        y: (N, nv) as `WholeMotion.placed` takes them.
    """

    turn: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def frames(self, chosen: np.ndarray | slice) -> Poses:
        """Some of the frames."""
        return Poses(self.turn[chosen], self.y[chosen])


@dataclass(frozen=True, slots=True)
class Likely:
    """Poses to stay near: a radian (or metre) away costs ``weight``."""

    poses: Poses
    weight: float

    def frames(self, chosen: np.ndarray | slice) -> Likely:
        """Of some of the frames."""
        return Likely(self.poses.frames(chosen), self.weight)


class Posing:
    """A rig and what of it follows."""

    def __init__(self, rig: Rig, mapping: BoneMapping, feet: tuple[int, ...]) -> None:
        self.rig, self.tree = rig, WholeMotion(rig)
        self.links = np.array([rig.index(link) for link in mapping.links])
        self.feet = feet
        firm = np.isin(self.links, feet)
        weights = RADIAN**2 * np.where(firm, FIRM, mapping.weights)
        moved = self.tree.moves[self.links].astype(float)
        self._led = [int(np.flatnonzero(self.links == foot)[0]) for foot in feet]
        """Places of the feet among the links."""
        self._chains = ChainFit(rig, self.links)
        self._weights = weights
        self._shared = (moved * weights[:, None]).T @ moved
        self._moved = weights[:, None] * moved
        loose = (mapping.twists < 1.0) & ~firm & (np.abs(mapping.bones).sum(axis=1) > 0.0)
        self._loose = np.flatnonzero(loose)
        """Links that follow less about their bones."""
        self._bones = mapping.bones[loose]
        self._spared = 1.0 - mapping.twists[loose]
        self._spared_rows = np.sqrt(self._spared * weights[loose])[:, None] * moved[loose]
        self.offset = hips(rig)
        """(3,) [m] middle between the hips, axes of the root."""
        limits = rig.limits
        self.lower = np.concatenate([np.full(ROOT_NV, -np.inf), limits.lower])
        self.upper = np.concatenate([np.full(ROOT_NV, np.inf), limits.upper])
        for column, sign in knees(rig):
            if sign > 0.0:
                self.lower[column] = max(self.lower[column], KNEE)
            else:
                self.upper[column] = min(self.upper[column], -KNEE)
        room = np.minimum(ROOM, 0.25 * (self.upper - self.lower))
        self.within = self.lower + room, self.upper - room
        """Bounds (2, nv) of first poses, which leave room for their path to be smoothed."""
        self.rest = np.clip(0.0, *self.within)
        self._posture = np.concatenate([np.zeros(ROOT_NV), np.full(rig.nv - ROOT_NV, POSTURE)])

    def start(self, wanted: Wanted, turn: np.ndarray) -> Poses:
        """Every chain of joints as its own ends ask, under roots (N, 3, 3) in their places."""
        poses = self.at_rest(wanted, turn)
        angles, _ = self._chains.angles(wanted.turns)
        own = self._chains.columns >= 0
        columns = self._chains.columns[own]
        lower, upper = (bound[columns] for bound in self.within)
        poses.y[:, columns] = np.clip(angles[:, own], lower, upper)
        return poses

    def at_rest(self, wanted: Wanted, turn: np.ndarray) -> Poses:
        """At rest under roots (N, 3, 3) in their places."""
        y = np.tile(self.rest, (len(wanted.base), 1))
        y[:, :3] = wanted.base - turn @ self.offset
        return Poses(np.array(turn), y)

    def posed(
        self, wanted: Wanted, start: Poses, iterations: int, likely: Likely | None = None
    ) -> tuple[Poses, np.ndarray]:
        """Poses that follow, and which frames (N,) came to rest; with room within bounds unless some are likely."""
        lower, upper = self.within if likely is None else (self.lower, self.upper)
        turn, y, done = np.array(start.turn), np.array(start.y), np.zeros(len(start), bool)
        for active in np.array_split(np.arange(len(y)), max(1, -(-len(y) // PIECE))):
            for _ in range(iterations):
                if not len(active):
                    break
                own = None if likely is None else likely.frames(active)
                step = self._step(wanted.frames(active), Poses(turn[active], y[active]), own, (lower, upper))
                longest = np.abs(step).max(axis=1)
                step *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-30))[:, None]
                turn[active] = exp(step[:, 3:ROOT_NV]) @ turn[active]
                step[:, 3:ROOT_NV] = 0.0
                y[active] = np.clip(y[active] + step, lower, upper)
                finished = longest < CONVERGED
                done[active[finished]] = True
                active = active[~finished]
        return Poses(turn, y), done

    def costs(self, wanted: Wanted, poses: Poses) -> np.ndarray:
        """(N,) [m^2] weighted squares of what orientations and places miss."""
        placed = self.placed(poses)
        off, _ = self._off(wanted, placed)
        missed = wanted.base - self.tree.place(placed, 0).T - poses.turn @ self.offset
        result = (self._weights * (off**2).sum(axis=2)).sum(axis=1) + BASE * (missed**2).sum(axis=1)
        for number, link in enumerate(self.feet):
            result += FIRM * ((wanted.feet[:, number] - self.tree.place(placed, link).T) ** 2).sum(axis=1)
        return np.asarray(result)

    def missed(self, wanted: Wanted, poses: Poses) -> np.ndarray:
        """(N,) [m] by how much the foot that is farther from its place misses it."""
        placed = self.placed(poses)
        away = [wanted.feet[:, number] - self.tree.place(placed, link).T for number, link in enumerate(self.feet)]
        return np.asarray(np.linalg.norm(away, axis=2).max(axis=0))

    def lost(self, wanted: Wanted, poses: Poses) -> np.ndarray:
        """(N,) True where a link is so far from its orientation that it has gone the wrong way round."""
        off, _ = self._off(wanted, self.placed(poses))
        return np.asarray((np.linalg.norm(off, axis=2) > LOST).any(axis=1))

    def placed(self, poses: Poses) -> Placed:
        """Where the links are."""
        return self.tree.placed(poses.turn, poses.y)

    def turns(self, poses: Poses) -> np.ndarray:
        """Axes (N, O, 3, 3) of the mapping's links, world."""
        return self.tree.turns(self.placed(poses), self.links)

    def _step(
        self, wanted: Wanted, poses: Poses, likely: Likely | None, bounds: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Change (n, nv) of the coordinates; of the root's turn: about the world's axes."""
        placed, y = self.placed(poses), poses.y
        axes = np.ascontiguousarray(placed.axes.transpose(2, 0, 1))
        off, bones = self._off(wanted, placed)
        if wanted.free is not None:
            off[:, self._led, 2] *= 1.0 - wanted.free
        pulls = off.swapaxes(1, 2) @ self._moved
        gradient = (axes * pulls.swapaxes(1, 2)).sum(axis=2)
        hessian = axes @ axes.swapaxes(1, 2)
        hessian *= self._shared
        spared = (bones @ axes.swapaxes(1, 2)) * self._spared_rows
        hessian -= spared.swapaxes(1, 2) @ spared
        if wanted.free is not None:
            about = np.sqrt(wanted.free)[:, :, None] * axes[:, None, :, 2] * np.sqrt(self._moved[self._led])
            hessian -= about.swapaxes(1, 2) @ about
        rows, rests = [], []
        for number, link in enumerate(self.feet):
            point = self.tree.place(placed, link)
            rows.append(np.sqrt(FIRM) * self.tree.jacobian(placed, link, point))
            rests.append(np.sqrt(FIRM) * (wanted.feet[:, number] - point.T))
        point = self.tree.place(placed, 0) + (poses.turn @ self.offset).T
        led, weight = (slice(None), BASE) if wanted.com is None else (slice(2, 3), HEIGHT)
        rows.append(np.sqrt(weight) * self.tree.jacobian(placed, 0, point)[:, led])
        rests.append(np.sqrt(weight) * (wanted.base - point.T)[:, led])
        if wanted.com is not None:
            place, slopes = self.tree.centre_of_mass(placed)
            rows.append(np.sqrt(FIRM) * slopes[:, :2])
            rests.append(np.sqrt(FIRM) * (wanted.com - place[:, :2]))
        jacobian, rest = np.concatenate(rows, axis=1), np.concatenate(rests, axis=1)
        hessian += jacobian.swapaxes(1, 2) @ jacobian
        gradient += (rest[:, None] @ jacobian)[:, 0]
        if wanted.apart is not None:
            wanted.apart.add(self.tree, placed, hessian, gradient)
        price = self._posture + DAMPING
        gradient += self._posture * (self.rest - y)
        if likely is not None:
            price = price + likely.weight
            away = likely.poses.y - y
            away[:, 3:ROOT_NV] = log(likely.poses.turn @ poses.turn.swapaxes(1, 2))
            gradient += likely.weight * away
        diagonal = np.arange(y.shape[1])
        hessian[:, diagonal, diagonal] += price
        return _bounded(hessian, gradient, bounds[0] - y, bounds[1] - y)

    def _off(self, wanted: Wanted, placed: Placed) -> tuple[np.ndarray, np.ndarray]:
        """By what links miss their orientations (n, O, 3) [rad], world, and bones (n, B, 3) of the loose ones."""
        turns = self.tree.turns(placed, self.links)
        off = log(wanted.turns @ turns.swapaxes(2, 3))
        bones = (turns[:, self._loose] @ self._bones[:, :, None])[..., 0]
        off[:, self._loose] -= (self._spared * (bones * off[:, self._loose]).sum(axis=2))[:, :, None] * bones
        return off, bones


def _bounded(hessian: np.ndarray, gradient: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Steps (n, nv) within bounds: of coordinates that would pass theirs, which end there, the others take account."""
    held = ((low > -TOUCHING) & (gradient < 0.0)) | ((high < TOUCHING) & (gradient > 0.0))
    ends = np.where(held, 0.0, np.nan)
    result = _solved(hessian, gradient, ends)
    active = np.arange(len(gradient))
    for _ in range(PASSES):
        own = result[active]
        passed = (own < low[active] - TOUCHING) | (own > high[active] + TOUCHING)
        some = passed.any(axis=1)
        active, passed, own = active[some], passed[some], own[some]
        if not len(active):
            break
        ends[active] = np.where(passed, np.clip(own, low[active], high[active]), ends[active])
        result[active] = _solved(hessian[active], gradient[active], ends[active])
    return np.clip(result, low, high)


def _solved(hessian: np.ndarray, gradient: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Solutions (n, nv) of the systems in which coordinates that are not NaN in ``ends`` (n, nv) are those."""
    frames, columns = np.nonzero(np.isfinite(ends))
    if len(frames):
        known = np.nan_to_num(ends)
        gradient = gradient - (hessian @ known[:, :, None])[:, :, 0]
        hessian = hessian.copy()
        hessian[frames, columns] = 0.0
        hessian[frames, :, columns] = 0.0
        hessian[frames, columns, columns] = 1.0
        gradient[frames, columns] = ends[frames, columns]
    return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])


def hips(rig: Rig) -> np.ndarray:
    """Middle between the hips (3,) [m], axes of the root link."""
    starts = centres(rig, anatomy_of(rig).parts)
    middle = 0.5 * (starts[f"left_{LEG[0]}"] + starts[f"right_{LEG[0]}"])
    return np.asarray(rig.rest[0][0].T @ (middle - rig.rest[1][0]))


def knees(rig: Rig) -> list[tuple[int, float]]:
    """Column of each knee that is a hinge, and towards which sign it bends."""
    parts, result = anatomy_of(rig).parts, []
    for side in ("right", "left"):
        link = parts.get(f"{side}_{LEG[1]}")
        if link is None:
            continue
        joint = rig.joints[rig.index(link)]
        column = sum(other.nv for other in rig.joints[: rig.index(link)])
        limits = rig.limits_of(link)
        middle = float(limits.lower[0] + limits.upper[0]) if joint.kind == "revolute" else 0.0
        if np.isfinite(middle) and middle:
            result.append((column, float(np.sign(middle))))
    return result


__all__ = ["ROOT", "Footing", "Likely", "Poses", "Posing", "Wanted", "hips", "knees"]
