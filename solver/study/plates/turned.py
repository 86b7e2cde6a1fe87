"""Plates whose level axes are turned or mirrored against the markers', all or one: what corners stated wrongly make.

Level forces are a twentieth of the weight in a squat, too little to tell against what the body model errs by as it is.
But that error is the same however the plates are turned, so that each turn is held against the file with the same
freedom: any constant level force, and any place of each plate. What is left then follows the motion or does not.
Twelve untouched trials of at least three people leave 1.5 times as much or more with any turn as with none; turned in
software, half or less with the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...rig import GRAVITY
from ...signals.pooled import LEAST_BLOCKS, blocks_of
from .finding import SIGMAS
from .misfit import ARM, MOST, Verdict
from .pair import LOADED, Pair
from .place import LEAST_FRAMES
from .rivals import RIVALS, Pushes

WORTH = 0.02
"""Root mean square of the weight by which another turn must be better."""
FRAMES = 20000
"""More are thinned to about as many: what turns plates does so all the time."""
_QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
QUARTERS: dict[str, np.ndarray] = {
    "turned by a quarter counterclockwise, seen from above,": _QUARTER,
    "turned by a quarter clockwise, seen from above,": _QUARTER.T,
}
TURNS = {**QUARTERS, "turned by a half": _QUARTER @ _QUARTER}
MIRRORS: dict[str, np.ndarray] = {
    "reversed along x": np.diag([-1.0, 1.0]),
    "reversed along y": np.diag([1.0, -1.0]),
    "exchanged, x for y,": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "exchanged and both reversed": np.array([[0.0, -1.0], [-1.0, 0.0]]),
}
REMEDY = "correct the corners of the plates (in C3D FORCE_PLATFORM:CORNERS), or export them in the axes of the markers"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The frames in which plates carry the whole body, K plates that carry it.

    Attributes:
        names: of the plates.
        force, point: (n, K, 3) [N], [m].
        needed: (n, 6) about root (n, 3).
        moments: whether they were measured.
        block: (n,) number of the block of time.
    """

    names: tuple[str, ...]
    force: np.ndarray
    point: np.ndarray
    needed: np.ndarray
    root: np.ndarray
    moments: bool
    block: np.ndarray

    def square(self, level: np.ndarray, places: bool, weight: float) -> np.ndarray:
        """(n,) squared residuals of the weight, level axes of forces, and of places if so, times level (K, 2, 2)."""
        force, point = self.force.copy(), self.point.copy()
        force[:, :, :2] = np.einsum("kij,nkj->nki", level, self.force[:, :, :2])
        if places:
            point[:, :, :2] = np.einsum("kij,nkj->nki", level, self.point[:, :, :2])
        rest = self.needed[:, :2] - force.sum(axis=1)[:, :2]
        one = np.linalg.norm(rest - rest.mean(axis=0), axis=1) / weight
        result = np.minimum(one, MOST) ** 2
        if not self.moments:
            return np.asarray(result)
        moment = np.cross(point - self.root[:, None], force).sum(axis=1)[:, :2]
        load = force[:, :, 2]
        rest = self.needed[:, 3:5] - moment
        rest = rest - load @ np.linalg.lstsq(load, rest, rcond=1e-3)[0]
        two = np.linalg.norm(rest, axis=1) / (weight * ARM)
        return np.asarray(result + np.minimum(two, MOST) ** 2)


def turned(item: Pair, mass: float) -> tuple[str, Verdict] | None:
    """In words how level axes of plates are turned against the motion, if they are beyond doubt, with the verdict.

    Args:
        item: forces beside their motion.
        mass: [kg] of the body, roughly.
    """
    weight = mass * GRAVITY
    seen = _loaded(item, weight)
    if seen is None:
        return None
    as_it_is = seen.square(np.tile(np.eye(2), (len(seen.names), 1, 1)), False, weight)
    best: tuple[str, Verdict] | None = None
    for text, level, places in _ways(seen.names):
        if places and not seen.moments:
            continue
        verdict = _judged(as_it_is, seen.square(level, places, weight), seen.block)
        if best is None or verdict.share < best[1].share:
            best = text, verdict
    return best if best is not None and best[1].certain else None


def _ways(names: Sequence[str]) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Beliefs in words, level axes (K, 2, 2), and whether places are turned too: of all plates, or of one among others.

    The simplest come first, so that they are told where others leave as much.
    """
    plates, both, alone = len(names), "forces and places", "forces, not their places,"
    told = "the level axes of the plates are not the markers'"
    for word, level in {**TURNS, **MIRRORS}.items():
        yield f"{told}: {word} their {both} fit; {REMEDY}", np.tile(level, (plates, 1, 1)), True
    for rival in RIVALS:
        if rival.level:
            yield f"{rival.cause}; {rival.remedy}", np.tile(np.array(rival.level), (plates, 1, 1)), False
    for word, level in QUARTERS.items():
        yield f"{told}: {word} their {alone} fit; {REMEDY}", np.tile(level, (plates, 1, 1)), False
    for places, what in ((True, both), (False, alone)):
        for k, name in enumerate(names if plates > 1 else ()):
            for word, level in TURNS.items():
                each = np.tile(np.eye(2), (plates, 1, 1))
                each[k] = level
                yield (
                    f"the level axes of plate {name} are not the markers': {word} its {what} fit; {REMEDY}",
                    each,
                    places,
                )


def _loaded(item: Pair, weight: float) -> _Loaded | None:
    pushes, measured = Pushes.of(item.wrenches), np.asarray(item.wrenches.measured)
    load = pushes.force[:, :, 2].sum(axis=1)
    known = np.isfinite(pushes.force).all(axis=(1, 2)) & np.isfinite(item.predicted).all(axis=1)
    used = known & measured[:, :3].all(axis=1) & (np.nan_to_num(load) > LOADED * weight)
    used &= np.abs(np.nan_to_num(load) - item.predicted[:, 2]) < MOST * weight
    if used.sum() < LEAST_FRAMES:
        return None
    thin = max(int(used.sum()) // FRAMES, 1)
    block = np.zeros(len(used), int)
    for number, frames in enumerate(blocks_of(item.times, used)):
        block[frames] = number
    frames = np.flatnonzero(used)[::thin]
    carries = pushes.force[frames, :, 2].max(axis=0) > LOADED * weight
    return _Loaded(
        tuple(name for name, own in zip(item.wrenches.frames, carries) if own),
        pushes.force[frames][:, carries],
        pushes.point[frames][:, carries],
        item.predicted[frames],
        item.root[frames],
        bool(measured[frames][:, 3:5].all()),
        block[frames],
    )


def _judged(before: np.ndarray, after: np.ndarray, block: np.ndarray) -> Verdict:
    """Squared residuals (n,) of a belief against those of the file as it is, by blocks (n,) of time."""
    count = int(block.max()) + 1
    if count < LEAST_BLOCKS or not before.sum() > 0.0:
        return Verdict(np.inf, np.inf, -np.inf, False)
    share = float(after.sum() / before.sum())
    rest = np.bincount(block, after - share * before, minlength=count)
    std = float(np.sqrt(count / (count - 1) * np.sum((rest - rest.mean()) ** 2)) / before.sum())
    worth = float(before.mean() - after.mean()) > WORTH**2
    return Verdict(share, std, -len(before) * float(np.log(max(share, 1e-12))), worth and share + SIGMAS * std < 1.0)
