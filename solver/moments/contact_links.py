"""Assigns force plates to the links that they carry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import true_runs
from ..base.errors import InvalidValue, checked
from ..contacts.contact_detection import (
    FARTHEST,
    UNDER,
    belt_speed,
    contacts_by_force,
    contacts_by_motion,
    sole_distances,
)
from ..dynamics.kinematics import link_paths
from ..skeleton.rig import Rig
from ..values.motion import Motion
from ..values.wrenches import Wrenches

SHARED, UNKNOWN = -1, -2
"""Instead of a link: a plate carries several feet at once; a plate carries something that is no foot."""
FOOT_NAMES = re.compile(r"calcn|calcaneus|heel|foot(?!print)", re.IGNORECASE)
"""Names of links that are feet, in rigs without soles."""
MOSTLY = 0.9
"""Share of a plate's loaded frames in which one foot must be the nearest, to be the only one that walked on it."""


@dataclass(frozen=True, slots=True)
class ContactLinks:
    """The link on which each sensor's wrench acts.

    Attributes:
        links: (N, K) indices of links, `SHARED` or `UNKNOWN`.
        feet: indices of the links among which a shared load is divided.
    """

    links: np.ndarray
    feet: tuple[int, ...]


@checked
def assign_wrenches(rig: Rig, motion: Motion, wrenches: Wrenches, feet: Sequence[str] = ()) -> ContactLinks:
    """The link on which each wrench acts in each frame.

    A sensor that has the name of a link or of a contact patch acts there. A plate carries the foot that is nearest to
    its centre of pressure while it is loaded; it is shared while another foot is also on the floor without a plate of
    its own.

    Args:
        rig: that moves.
        motion: N frames.
        wrenches: of K sensors at the same times.
        feet: links that touch the plates; by default those with soles, or with names of feet.

    Raises:
        UnknownLink: a foot that is no link.
        InvalidValue: no feet.

    Example:
        >>> import numpy as np, solver
        >>> rig = solver.human(1.75, 70.0, "male")
        >>> still = solver.Motion([0.0, 1.0], [rig.neutral] * 2, np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))
        >>> sensors = solver.Wrenches(still.times, ("left_sole", "right_sole"), np.zeros((2, 2, 6)))
        >>> [rig.links[k] for k in solver.moments.assign_wrenches(rig, still, sensors).links[0]]
        ['left_foot', 'right_foot']
    """
    result = np.full((len(motion), len(wrenches.frames)), UNKNOWN)
    patches = {patch.name: patch.link for patch in rig.contacts}
    named = {k: patches.get(name, name) for k, name in enumerate(wrenches.frames)}
    plates = [k for k, name in named.items() if name not in rig.links]
    for k, name in named.items():
        if name in rig.links:
            result[:, k] = rig.index(name)
    links = _find_feet(rig, feet) if plates or feet else []
    if not plates:
        return ContactLinks(result, ())
    soles = _sole_points(rig, motion, links)
    stands = _find_stances(motion, soles)
    loaded, centres = contacts_by_force(wrenches), wrenches.centres_of_pressure()[:, :, :2]
    nearest = np.full(result.shape, UNKNOWN)
    alone = np.zeros(result.shape, bool)
    for k in plates:
        for start, stop in true_runs(loaded[:, k]):
            own = slice(start, stop)
            nearest[own, k], alone[own, k] = _find_nearest([sole[own] for sole in soles], centres[own, k])
    for k in plates:
        others = np.delete(nearest, k, axis=1)
        for foot in range(len(links)):
            carried = (others == foot).any(axis=1)
            extra = stands[foot] & ~carried & (nearest[:, k] >= 0) & (nearest[:, k] != foot) & ~alone[:, k]
            result[extra & loaded[:, k], k] = SHARED
        chosen = loaded[:, k] & (result[:, k] != SHARED) & (nearest[:, k] >= 0)
        result[chosen, k] = np.array(links)[nearest[chosen, k]]
        result[:, k] = _extend(result[:, k], loaded[:, k])
    return ContactLinks(result, tuple(links))


def _find_feet(rig: Rig, feet: Sequence[str]) -> list[int]:
    named = (link for link, bodies in rig.bodies.items() if any(map(FOOT_NAMES.search, bodies)))
    names = list(feet) or [patch.link for patch in rig.soles] or list(named)
    if not names:
        raise InvalidValue(f"rig {rig.name!r} has no feet to which the plates' forces could belong: name them (--feet)")
    return [rig.index(name) for name in dict.fromkeys(names)]


def _sole_points(rig: Rig, motion: Motion, links: Sequence[int]) -> list[np.ndarray]:
    """Points (N, P, 3) [m] of each foot's sole, world; its origin and tip without a sole."""
    rotations, origins = link_paths(rig, motion, links)
    result = []
    for link, rotation, origin in zip(links, rotations, origins):
        own = [patch.vertices for patch in rig.soles if patch.link == rig.links[link]]
        points = np.concatenate(own) if own else np.stack([np.zeros(3), rig.tips[link]])
        result.append(origin[:, None] + points @ rotation.swapaxes(1, 2))
    return result


def _find_stances(motion: Motion, soles: Sequence[np.ndarray]) -> list[np.ndarray]:
    """(N,) True where each foot is on the floor or belt, by its motion."""
    if len(motion) < 2:
        return [np.ones(len(motion), bool) for _ in soles]
    travel = (motion.times - motion.times[0])[:, None, None] * belt_speed(motion.times, np.concatenate(soles, axis=1))
    return [contacts_by_motion(motion.times, sole - travel) for sole in soles]


def _find_nearest(soles: Sequence[np.ndarray], centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest foot (n,) to centres of pressure (n, 2) of a plate that stays loaded, and whether no other is near."""
    known = np.isfinite(centres).all(axis=1)
    if not known.any():
        return np.full(len(centres), UNKNOWN), np.zeros(len(centres), bool)
    distances = np.array([sole_distances(sole[:, :, :2], np.where(known[:, None], centres, 0.0)) for sole in soles])
    typical = np.median(distances[:, known], axis=1)
    main = int(np.argmin(typical))
    if distances[:, known].min(axis=0).mean() > FARTHEST:
        return np.full(len(centres), UNKNOWN), np.zeros(len(centres), bool)
    by_frame = np.argmin(distances, axis=0)
    if (by_frame[known] == main).mean() < MOSTLY:
        return by_frame, np.zeros(len(centres), bool)
    others = np.delete(typical, main)
    is_alone = typical[main] <= UNDER and not (others <= UNDER).any()
    return np.full(len(centres), main), np.full(len(centres), is_alone)


def _extend(links: np.ndarray, loaded: np.ndarray) -> np.ndarray:
    """Links (N,), also where a plate is not loaded: the foot of the nearest loaded frame, as little force is left."""
    frames = np.flatnonzero(loaded & (links >= 0))
    if not len(frames):
        return np.where(loaded, links, 0)  # the root: a plate without load moves no joint
    places = np.arange(len(links))
    after = np.clip(np.searchsorted(frames, places), 0, len(frames) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(places - frames[before] < frames[after] - places, before, after)
    return np.asarray(np.where(loaded, links, links[frames[nearer]]))
