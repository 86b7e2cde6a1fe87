"""Checks the level axes of plates, all or one, for rotations and reflections, as caused by wrong corners in a file.

In a squat the level forces are a twentieth of the weight, which is less than the error of the body model. This error
does not depend on the axes of the plates, so that every rotation is compared with the file with the same freedom: any
constant level force, and any location of each plate.

Other faults (a tilted frame, markers of another rate, a bad model) also leave large residuals, and some rotation may
reduce them by chance. A trial is therefore decisive only if

- the level forces by themselves fit better once they are rotated,
- they then follow the motion,
- and, if a single plate is rotated, no rotation of other plates fits nearly as well.

A trial that is not decisive is used if another one on the same plates is decisive for the same rotation.

Measured: none of 18 trials of eight recordings counts as rotated, and two of 360 variants with other faults (rates,
tilts, delays). Plates rotated in every trial are found in 51 of 54 trials (all plates) and 97 of 111 (one of several);
most of the missed ones are standing, squats or sitting down. `benchmarks.figures.turned` prints the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...signals.hypotheses import HypothesisScore, compare_residuals
from ...skeleton.rig import GRAVITY
from ...values.wrenches import Wrenches
from .hypotheses import MAX_RESIDUAL, MOMENT_ARM, PlateForces
from .trial_wrenches import LOADED_FRACTION, ForceMotionPair

MIN_IMPROVEMENT = 0.02
"""Smallest improvement by a rotation, root mean square relative to the weight."""
MIN_EXPLAINED_VARIANCE = 0.4
"""Fraction of the variance of the level forces that must be explained once they are rotated. Measured on recordings
with correct plates it is 0.44 to 0.96 in walks, runs and jumps, 0.27 in a squat, and at most 0.37 in standing; 0.3 to
0.6 make little difference."""
MIN_FRAMES = 20
"""Smallest number of frames: fewer correlated ones show nothing."""
MAX_FRAMES = 20000
"""Longer trials are thinned to about this number of frames: the axes are constant in time."""
_QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
"""By definition."""
QUARTER_ROTATIONS: dict[str, np.ndarray] = {
    "rotated by 90 degrees counterclockwise, seen from above,": _QUARTER,
    "rotated by 90 degrees clockwise, seen from above,": _QUARTER.T,
}
ROTATIONS = {**QUARTER_ROTATIONS, "rotated by 180 degrees": _QUARTER @ _QUARTER}
REFLECTIONS: dict[str, np.ndarray] = {
    "reversed along x": np.diag([-1.0, 1.0]),
    "reversed along y": np.diag([1.0, -1.0]),
    "exchanged, x for y,": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "exchanged and both reversed": np.array([[0.0, -1.0], [-1.0, 0.0]]),
}
"""By definition."""
FORCE_CHANGES: dict[str, np.ndarray] = {
    "the horizontal forces are reversed (both signs): they act on the plate, or their axes are rotated by 180 degrees; "
    "export the forces on the body in the axes of the markers": ROTATIONS["rotated by 180 degrees"],
    "the force along x is reversed; correct its sign": REFLECTIONS["reversed along x"],
    "the force along y is reversed; correct its sign": REFLECTIONS["reversed along y"],
    "the columns of the two horizontal forces are exchanged; export them in the order of the axes": REFLECTIONS[
        "exchanged, x for y,"
    ],
}
"""Errors of signs or columns: they change the forces of all plates, but not the locations."""
REMEDY = "correct the corners of the plates (in C3D FORCE_PLATFORM:CORNERS), or export them in the axes of the markers"


@dataclass(frozen=True, slots=True)
class _LoadedFrames:
    """The n frames in which the plates carry the whole body, and the K plates that do.

    Attributes:
        names: of the plates.
        force, centre_of_pressure: (n, K, 3) force [N] and centre of pressure [m].
        needed: (n, 6) predicted wrench about ``root`` (n, 3).
        has_moments: whether moments were measured.
        times: (n,) [s].
    """

    names: tuple[str, ...]
    force: np.ndarray
    centre_of_pressure: np.ndarray
    needed: np.ndarray
    root_positions: np.ndarray
    has_moments: bool
    times: np.ndarray

    def compare(self, before: np.ndarray, after: np.ndarray) -> HypothesisScore:
        """Compare squared residuals (n,) after a rotation with those before."""
        every = np.ones(len(self.times), bool)
        return compare_residuals(self.times, (before, every), (after, every), MIN_IMPROVEMENT**2)

    @property
    def variation(self) -> np.ndarray:
        """(n,) squared deviation of the predicted level force from its mean [N^2]."""
        return np.asarray(np.sum((self.needed[:, :2] - self.needed[:, :2].mean(axis=0)) ** 2, axis=1))

    def squared_residuals(self, axes: np.ndarray, with_locations: bool, weight: float) -> np.ndarray:
        """(2, n) squared residuals relative to the weight, of level forces and of level moments (zero if not measured).

        Args:
            axes: (K, 2, 2) matrices that multiply the level components of forces.
            with_locations: whether they also multiply those of the centres of pressure.
            weight: [N]
        """
        force, point = self.force.copy(), self.centre_of_pressure.copy()
        force[:, :, :2] = np.einsum("kij,nkj->nki", axes, self.force[:, :, :2])
        if with_locations:
            point[:, :, :2] = np.einsum("kij,nkj->nki", axes, self.centre_of_pressure[:, :, :2])
        rest = self.needed[:, :2] - force.sum(axis=1)[:, :2]
        one = np.minimum(np.linalg.norm(rest - rest.mean(axis=0), axis=1) / weight, MAX_RESIDUAL) ** 2
        if not self.has_moments:
            return np.stack([one, np.zeros_like(one)])
        moment = np.cross(point - self.root_positions[:, None], force).sum(axis=1)[:, :2]
        load = force[:, :, 2]
        rest = self.needed[:, 3:5] - moment
        rest = rest - load @ np.linalg.lstsq(load, rest, rcond=1e-3)[0]
        two = np.linalg.norm(rest, axis=1) / (weight * MOMENT_ARM)
        return np.stack([one, np.minimum(two, MAX_RESIDUAL) ** 2])


@dataclass(frozen=True, slots=True)
class PlateRotation:
    """Rotation or reflection of the level axes of plates.

    Attributes:
        text: in words, with the remedy.
        evaluation: of the rotated plates against the file as it is.
        axes_by_plate: rows of the matrix that multiplies the level axes, by the name of each rotated plate.
        is_decisive: whether the trial shows it by itself.
    """

    text: str
    evaluation: HypothesisScore
    axes_by_plate: Mapping[str, tuple[tuple[float, ...], ...]]
    is_decisive: bool

    def confirms(self, other: PlateRotation) -> bool:
        """Whether this trial is decisive for the rotation that another trial shows."""
        return self.is_decisive and all(
            self.axes_by_plate.get(plate) == level for plate, level in other.axes_by_plate.items()
        )


def find_plate_rotations(items: Sequence[ForceMotionPair], mass: float) -> dict[str, PlateRotation]:
    """Rotations of plates, by trial: of decisive trials, and of trials whose rotation a decisive one confirms."""
    found = {item.name: rotation for item in items if (rotation := estimate_plate_rotation(item, mass)) is not None}
    return {
        name: rotation for name, rotation in found.items() if any(other.confirms(rotation) for other in found.values())
    }


def estimate_plate_rotation(item: ForceMotionPair, mass: float) -> PlateRotation | None:
    """The rotation of level axes that fits a trial best; None if it is not certainly better than the file.

    Args:
        item: forces and motion of the trial.
        mass: [kg] of the body, roughly.
    """
    weight = mass * GRAVITY
    if (loaded := _select_loaded_frames(item, weight)) is None:
        return None
    same = np.eye(2)
    as_it_is = loaded.squared_residuals(np.tile(same, (len(loaded.names), 1, 1)), False, weight)
    best: dict[tuple[bool, ...], tuple[HypothesisScore, str, np.ndarray, np.ndarray]] = {}
    for text, level, places in _iterate_rotations(loaded.names):
        if places and not loaded.has_moments:
            continue
        squared = loaded.squared_residuals(level, places, weight)
        evaluation = loaded.compare(as_it_is.sum(axis=0), squared.sum(axis=0))
        which = tuple(bool((own != same).any()) for own in level)
        if which not in best or evaluation.ratio < best[which][0].ratio:
            best[which] = evaluation, text, level, squared
    which = min(best, key=lambda plates: best[plates][0].ratio)
    evaluation, text, level, squared = best.pop(which)
    if not evaluation.is_certain:
        return None
    is_decisive = loaded.compare(as_it_is[0], squared[0]).is_certain
    variation = np.minimum(loaded.variation / weight**2, MAX_RESIDUAL**2)
    is_decisive &= bool(squared[0].mean() < (1.0 - MIN_EXPLAINED_VARIANCE) * variation.mean())
    if not all(which):
        others = min(best.values(), key=lambda other: other[0].ratio)[3]
        is_decisive &= loaded.compare(others.sum(axis=0), squared.sum(axis=0)).is_certain
    rows = {name: tuple(map(tuple, own.tolist())) for name, own, changed in zip(loaded.names, level, which) if changed}
    return PlateRotation(text, evaluation, rows, is_decisive)


def _iterate_rotations(names: Sequence[str]) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Yields texts, level axes (K, 2, 2), and whether locations are rotated too: of all plates, or of one of several.

    The simplest come first: they are reported if others fit equally well.
    """
    plates, both, alone = len(names), "forces and locations", "forces, not their locations,"
    cause = "the level axes of the plates are not the markers'"
    together = [
        (f"{cause}: {word} their {both} fit; {REMEDY}", level, True)
        for word, level in (ROTATIONS | REFLECTIONS).items()
    ]
    together += [(word, level, False) for word, level in FORCE_CHANGES.items()]
    together += [
        (f"{cause}: {word} their {alone} fit; {REMEDY}", level, False) for word, level in QUARTER_ROTATIONS.items()
    ]
    for text, level, places in together:
        yield text, np.tile(level, (plates, 1, 1)), places
    columns = "the horizontal forces of plate {name} are wrong: {word} they fit; correct their columns"
    axes = f"the level axes of plate {{name}} are not the markers': {{word}} its {{what}} fit; {REMEDY}"
    for text, changes, what, places in (
        (columns, REFLECTIONS, "", False),
        (axes, ROTATIONS, both, True),
        (axes, ROTATIONS, alone, False),
    ):
        for k, name in enumerate(names if plates > 1 else ()):
            for word, level in changes.items():
                each = np.where(np.arange(plates)[:, None, None] == k, level, np.eye(2))
                yield text.format(name=name, word=word, what=what), each, places


def _select_loaded_frames(item: ForceMotionPair, weight: float) -> _LoadedFrames | None:
    wrenches, measured = item.wrenches, np.asarray(item.wrenches.measured)
    load = wrenches.map(lambda values, _: values[:, :, 2].sum(axis=1))
    known = wrenches.map(lambda values, _: np.isfinite(values[:, :, :3]).all(axis=(1, 2)))
    known = known & np.isfinite(item.predicted).all(axis=1)
    used = known & measured[:, :3].all(axis=1) & (np.nan_to_num(load) > LOADED_FRACTION * weight)
    used &= np.abs(np.nan_to_num(load) - item.predicted[:, 2]) < MAX_RESIDUAL * weight
    if used.sum() < MIN_FRAMES:
        return None
    thin = max(int(used.sum()) // MAX_FRAMES, 1)
    frames = np.flatnonzero(used)[::thin]
    forces = PlateForces.from_wrenches(
        Wrenches(item.times[frames], wrenches.frames, wrenches.values[frames], measured[frames])
    )
    carries = forces.force[:, :, 2].max(axis=0) > LOADED_FRACTION * weight
    return _LoadedFrames(
        tuple(name for name, own in zip(wrenches.frames, carries) if own),
        forces.force[:, carries],
        forces.centre_of_pressure[:, carries],
        item.predicted[frames],
        item.root_positions[frames],
        bool(measured[frames][:, 3:5].all()),
        item.times[frames],
    )
