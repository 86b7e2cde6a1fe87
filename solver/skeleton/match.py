"""Which bone of a skeleton is which part of a person: by name, and by tree and lengths where names leave gaps."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from ..base.errors import InvalidValue, UnknownName
from ..values.motion import SegmentPoses
from ..values.person import CHAINS, LINKS, SIDES
from .limbs import find_limbs
from .names import match_segments, stated_side

ARM, LEG = CHAINS
PELVIS, TORSO, HEAD = LINKS[:3]
MIRROR_TOLERANCE = 0.03
"""Largest distance of a bone from the middle, relative to the height. Measured on ten skeletons of public clips, with
and without their names: half and twice the value find the same parts."""
SIMILAR_LENGTH = 0.8
"""Two bones in a row are about the longest of a limb if they are at least this fraction of the longest two: a collar
bone and an upper arm may be as long as the arm. Chosen on public clips of seven skeletons with their names withheld:
.75 to .85 find all limbs, .7 and .9 lose some."""
TWIST = re.compile("twist|roll", re.IGNORECASE)
"""In names of bones that share the twist of another."""
CENTRAL_WIDTH = 0.1
"""Largest distance of a bone of the trunk from the middle, as a fraction of the distance between the hips. Measured on
ten skeletons of public clips, with and without their names: half and twice the value find the same parts."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Bones of an armature in rest pose.

    Attributes:
        bones: B names.
        parents: (B,) index of each bone's parent, -1 without one.
        heads, tails: (B, 3) [m], z up.
        deforming: (B,) whether a vertex follows each bone.
    """

    bones: Sequence[str]
    parents: Sequence[int]
    heads: np.ndarray
    tails: np.ndarray
    deforming: np.ndarray

    def ancestors(self, bone: int) -> list[int]:
        """A bone and those above it, the bone first."""
        found = []
        while bone >= 0:
            found.append(bone)
            bone = self.parents[bone]
        return found

    def children(self, bone: int) -> list[int]:
        """Bones whose parent is a bone."""
        return [other for other, parent in enumerate(self.parents) if parent == bone]

    def moved(self) -> np.ndarray:
        """(B,) whether a bone or one below it deforms the mesh."""
        result = np.zeros(len(self.bones), bool)
        for bone in np.flatnonzero(self.deforming):
            result[self.ancestors(int(bone))] = True
        return result

    @property
    def height(self) -> float:
        """[m] Vertical extent of the bones."""
        return float(np.ptp(np.concatenate([self.heads, self.tails])[:, 2])) if len(self.bones) else 0.0


def match_bones(skeleton: Skeleton, stated: Mapping[str, str] | None = None) -> dict[str, str]:
    """The bone of each part of a person (part: bone); parts that were not found are missing.

    A limb's bones are those with the names of its three parts. If a name is missing, or the names contradict the tree,
    tree and lengths decide about that limb.

    Args:
        skeleton: of a character or a recording.
        stated: bones of parts that the user states; an empty name: the character has no such part.

    Raises:
        UnknownName: a stated part or bone does not exist.
    """
    stated = dict(stated or {})
    for part, bone in stated.items():
        if part not in LINKS:
            raise UnknownName(part, LINKS)
        if bone and bone not in skeleton.bones:
            raise UnknownName(bone, list(skeleton.bones))
    moved = skeleton.moved()
    order = sorted(np.flatnonzero(moved), key=lambda k: (not skeleton.deforming[k], len(skeleton.ancestors(k))))
    index = {name: k for k, name in enumerate(skeleton.bones)}
    named = {part: index[name] for part, name in match_segments([skeleton.bones[k] for k in order]).items()}
    given = {part: index[name] for part, name in stated.items() if name}
    limbs = _named_limbs(skeleton, named | given)
    if len(limbs) < len(SIDES) * (len(ARM) + len(LEG)):
        limbs = {part: named[part] for part in named if part.endswith((*ARM, *LEG))} | _limbs_by_shape(skeleton) | limbs
    limbs |= given
    found = {**_find_trunk(skeleton, limbs, named), **limbs}
    names = {part: skeleton.bones[found[part]] for part in LINKS if part in found} | stated
    return {part: names[part] for part in LINKS if names.get(part)}


def match_recording(recording: SegmentPoses, stated: Mapping[str, str] | None = None) -> dict[str, str]:
    """The segment of each part of a person (part: segment); by names alone if the recording has no tree of bones.

    Args:
        recording: of segments.
        stated: as of `match_bones`.
    """
    rest = recording.rest
    if rest is None or not rest.parents:
        return match_segments(recording.names) | dict(stated or {})
    ends = np.where(np.isfinite(rest.tips), rest.tips, rest.heads)
    return match_bones(
        Skeleton(recording.names, rest.parents, rest.heads, ends, np.ones(len(rest.heads), bool)), stated
    )


def find_gaps(parts: Collection[str]) -> dict[str, tuple[str, str]]:
    """Parts of a person that are missing between two parts of `parts`, with these two."""
    limbs = [(PELVIS, *(f"{side}_{name}" for name in LEG)) for side in SIDES]
    limbs += [(PELVIS, TORSO, HEAD), *((PELVIS, TORSO, *(f"{side}_{name}" for name in ARM)) for side in SIDES)]
    gaps: dict[str, tuple[str, str]] = {}
    for chain in limbs:
        for above, below in pairwise([k for k, part in enumerate(chain) if part in parts]):
            gaps |= {part: (chain[above], chain[below]) for part in chain[above + 1 : below] if part not in gaps}
    return gaps


def facing(heads: Mapping[str, np.ndarray]) -> np.ndarray:
    """Axes (3, 3) of a character, columns forward, left and up, from its left and right thighs."""
    across = (heads["left_thigh"] - heads["right_thigh"])[:2]
    if not np.linalg.norm(across) > 0.0:
        raise InvalidValue("left and right thigh are at the same place: choose their bones")
    left = np.array([*across / np.linalg.norm(across), 0.0])
    return np.column_stack([np.cross(left, [0.0, 0.0, 1.0]), left, [0.0, 0.0, 1.0]])


def _named_limbs(skeleton: Skeleton, named: Mapping[str, int]) -> dict[str, int]:
    """Parts of the limbs whose three bones have known names that the tree does not contradict."""
    found: dict[str, int] = {}
    for side in SIDES:
        for chain in CHAINS:
            parts = [f"{side}_{name}" for name in chain]
            if not all(part in named for part in parts):
                continue
            bones = [named[part] for part in parts]
            if chain is ARM:  # a wrist above a hand is where the hand begins
                above = skeleton.parents[bones[-1]]
                if above >= 0 and parts[-1] in match_segments([skeleton.bones[above]]):
                    bones[-1] = above
            if not any(lower in skeleton.ancestors(upper) for upper, lower in combinations(bones, 2)):
                found |= dict(zip(parts, bones))
    return found


def _find_trunk(skeleton: Skeleton, limbs: Mapping[str, int], named: Mapping[str, int]) -> dict[str, int]:
    """Pelvis and torso where the limbs branch off, and the head above; by name where the tree does not show them."""
    found: dict[str, int] = {part: limbs[part] for part in (PELVIS, TORSO, HEAD) if part in limbs}
    if HEAD not in found and HEAD in named:
        found[HEAD] = named[HEAD]
    thighs = [limbs[f"{side}_{LEG[0]}"] for side in SIDES if f"{side}_{LEG[0]}" in limbs]
    if len(thighs) < len(SIDES):
        return {part: bone for part, bone in named.items() if part in (PELVIS, TORSO)} | found
    across = _across(skeleton, thighs)
    if PELVIS not in found:
        pelvis = _branch(skeleton, thighs)
        found[PELVIS] = pelvis if pelvis is not None else _nearest_central(skeleton, thighs, named.get(PELVIS))
    arms = [limbs[f"{side}_{ARM[0]}"] for side in SIDES if f"{side}_{ARM[0]}" in limbs]
    if TORSO not in found and len(arms) == len(SIDES):
        torso = _branch(skeleton, arms)
        if torso is None:  # the limbs of a control rig hang on bones of their own
            shoulders = float(skeleton.heads[arms, 2].mean())
            below = [k for k in _central_chain(skeleton, found[PELVIS], across) if skeleton.heads[k, 2] < shoulders]
            torso = below[-1] if below else None
        if torso is not None and torso != found.get(PELVIS):
            found[TORSO] = torso
    if TORSO not in found and TORSO in named:
        found[TORSO] = named[TORSO]
    if HEAD not in found and TORSO in found and (above := _central_chain(skeleton, found[TORSO], across)):
        found[HEAD] = above[-1]
    return found


def _branch(skeleton: Skeleton, ends: Sequence[int]) -> int | None:
    """The nearest deforming bone above all of some bones; None without one."""
    common = set.intersection(*(set(skeleton.ancestors(end)[1:]) for end in ends))
    return next((k for k in skeleton.ancestors(ends[0]) if k in common and skeleton.deforming[k]), None)


def _nearest_central(skeleton: Skeleton, thighs: Sequence[int], named: int | None) -> int:
    """The deforming bone with the pelvis' name; otherwise that in the middle whose head is nearest to the hips."""
    if named is not None and skeleton.deforming[named]:
        return named
    hips = skeleton.heads[list(thighs)].mean(axis=0)
    width = float(np.linalg.norm(np.diff(skeleton.heads[list(thighs)], axis=0)))
    across = _across(skeleton, thighs)
    ends = np.abs([(skeleton.heads - hips) @ across, (skeleton.tails - hips) @ across])
    allowed = skeleton.deforming & (ends < CENTRAL_WIDTH * width).all(axis=0)
    allowed[list(thighs)] = False
    return int(np.argmin(np.where(allowed, np.linalg.norm(skeleton.heads - hips, axis=1), np.inf)))


def _across(skeleton: Skeleton, pair: Sequence[int]) -> np.ndarray:
    difference = np.diff(skeleton.heads[list(pair)], axis=0)[0]
    return np.asarray(difference / max(float(np.linalg.norm(difference)), 1e-9))


def _central_chain(skeleton: Skeleton, start: int, across: np.ndarray) -> list[int]:
    """Deforming bones in the middle above a bone, from below, up to one that carries several of them, as a face."""
    chain: list[int] = []
    bone = start
    tolerance = MIRROR_TOLERANCE * skeleton.height
    while True:
        above = [
            k
            for k in skeleton.children(bone)
            if skeleton.deforming[k]
            and abs((skeleton.heads[k] - skeleton.heads[start]) @ across) < tolerance
            and skeleton.tails[k, 2] > skeleton.heads[k, 2] >= skeleton.heads[bone, 2] - tolerance
        ]
        if not above or (chain and len(above) > 1):
            return chain
        bone = max(above, key=lambda k: float(skeleton.tails[k, 2]))
        chain.append(bone)


def _limbs_by_shape(skeleton: Skeleton) -> dict[str, int]:
    """Parts of the limbs by tree and lengths; sides by the words of the names, else the feet point forward."""
    shown = skeleton.moved()
    lengths = [
        float(np.linalg.norm(skeleton.heads[k] - skeleton.heads[parent])) if parent >= 0 else 0.0
        for k, parent in enumerate(skeleton.parents)
    ]
    if (limbs := find_limbs(skeleton.parents, lengths, shown)) is None:
        return {}
    found: dict[str, int] = {}
    left = None
    for pair, names in ((limbs.legs, LEG), (limbs.arms, ARM)):
        chains = [_main_bones(skeleton, path) for path in pair]
        if any(chain is None for chain in chains):
            continue
        one, other = (skeleton.heads[chain[0]] for chain in chains)  # type: ignore[index]
        if left is None:
            left = _left_direction(skeleton, pair, chains, one - other)  # type: ignore[arg-type]
        order = SIDES[::-1] if (one - other) @ left > 0.0 else SIDES
        for side, chain in zip(order, chains):
            found |= {f"{side}_{name}": bone for name, bone in zip(names, chain)}  # type: ignore[arg-type]
    return found


def _left_direction(
    skeleton: Skeleton, paths: Sequence[Sequence[int]], chains: Sequence[Sequence[int]], across: np.ndarray
) -> np.ndarray:
    """A vector (3,) to the left of a body, parallel to the line between its hips."""
    stated = [{stated_side(skeleton.bones[k]) for k in path} - {None} for path in paths]
    if stated == [{"left"}, {"right"}]:
        return across
    if stated == [{"right"}, {"left"}]:
        return -across
    toes = sum(skeleton.tails[path[-1]] - skeleton.heads[chain[-1]] for path, chain in zip(paths, chains))
    left = np.cross([0.0, 0.0, 1.0], toes)
    return across if across @ left > 0.0 else -across


def _main_bones(skeleton: Skeleton, path: Sequence[int]) -> tuple[int, ...] | None:
    """Upper part, lower part and end of a limb: the last three in a row that are about the longest; None if fewer.

    Bones that only share the twist of another are passed over.
    """
    path = [bone for bone in path if not TWIST.search(skeleton.bones[bone])]
    lengths = np.linalg.norm(np.diff(skeleton.heads[path], axis=0), axis=1)
    sums = lengths[:-1] + lengths[1:]
    if not len(sums):
        return None
    start = int(np.flatnonzero(sums >= SIMILAR_LENGTH * sums.max())[-1])
    return tuple(path[start : start + len(ARM)])
