"""Which bone of a character is which part of a person: by name, then by the shape of the skeleton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import InvalidValue, UnknownName
from ..person import CHAINS, LINKS, SIDES
from ..scene.bone_names import match_segments

ARM, LEG = CHAINS
PELVIS, TORSO, HEAD = LINKS[:3]
NEEDED = (PELVIS, *(f"{side}_{name}" for side in SIDES for name in LEG))
"""Parts without which a character cannot be posed on its feet."""
MIRROR_TOLERANCE = 0.03
"""Largest distance of a bone from the mirror image of its counterpart, as a fraction of the skeleton's height."""
CENTRAL_WIDTH = 0.1
"""Largest distance of a bone of the trunk from the middle, as a fraction of the distance between the hips."""
MIN_LEG_COSINE = 0.7
"""Smallest cosine between the vertical and the line from a foot to the pelvis in rest pose."""
MIN_TOE_COSINE = 0.2
"""Smallest cosine between the feet and the direction in which left and right say that the character faces."""


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

    Args:
        skeleton: of the character.
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
    named = match_segments([skeleton.bones[k] for k in order], LINKS)
    index = {name: k for k, name in enumerate(skeleton.bones)}
    limbs = {part: index[name] for part, name in named.items() if part.endswith((*ARM, *LEG))}
    for side in SIDES:  # a wrist above a hand is where the hand begins
        hand = f"{side}_{ARM[-1]}"
        above = skeleton.parents[limbs[hand]] if hand in limbs else -1
        if above >= 0 and hand in match_segments([skeleton.bones[above]], LINKS):
            limbs[hand] = above
    limbs |= {part: index[name] for part, name in stated.items() if name}
    if not any(part.endswith(LEG) for part in limbs):
        limbs = {**_find_limbs(skeleton), **limbs}
    _complete_by_mirror(skeleton, limbs)
    found = {**_find_trunk(skeleton, limbs, {part: index[name] for part, name in named.items()}), **limbs}
    names = {part: skeleton.bones[found[part]] for part in LINKS if part in found} | stated
    return {part: names[part] for part in LINKS if names.get(part)}


def require_parts(skeleton: Skeleton, parts: Mapping[str, str]) -> None:
    """Raise an error if a match cannot be used.

    Raises:
        InvalidValue: a needed part is missing, two parts are one bone, or left and right are exchanged.
    """
    lacking = [part for part in NEEDED if part not in parts]
    if lacking:
        words = ", ".join(part.replace("_", " ") for part in lacking)
        raise InvalidValue(f"no bone was found for {words}: choose the bones, or rename them as in Mixamo or Rigify")
    repeated = sorted({bone for bone in parts.values() if list(parts.values()).count(bone) > 1})
    if repeated:
        both = " and ".join(part.replace("_", " ") for part, bone in parts.items() if bone == repeated[0])
        raise InvalidValue(f"bone {repeated[0]!r} is {both}: choose one bone for each part")
    index = {name: k for k, name in enumerate(skeleton.bones)}
    heads = {part: skeleton.heads[index[bone]] for part, bone in parts.items()}
    legs = [heads[PELVIS] - heads[f"{side}_foot"] for side in SIDES]
    if any(leg[2] < MIN_LEG_COSINE * np.linalg.norm(leg) for leg in legs):
        raise InvalidValue(
            "the feet are not below the pelvis in rest pose: rotate the armature so that the character is upright "
            "(z up), and apply its rotation"
        )
    ahead = facing(heads)
    toes = sum(skeleton.tails[index[parts[f"{side}_foot"]]] - heads[f"{side}_foot"] for side in SIDES)
    length = float(np.linalg.norm(toes[:2]))
    if length > MIRROR_TOLERANCE * skeleton.height and toes[:2] @ ahead[:2, 0] < -MIN_TOE_COSINE * length:
        raise InvalidValue(
            "left and right are exchanged: the feet point backwards. The armature is mirrored, or its names are: "
            "flip the bones' names (Armature > Names > Flip Names)"
        )


def facing(heads: Mapping[str, np.ndarray]) -> np.ndarray:
    """Axes (3, 3) of a character, columns forward, left and up, from its left and right thighs."""
    across = (heads["left_thigh"] - heads["right_thigh"])[:2]
    if not np.linalg.norm(across) > 0.0:
        raise InvalidValue("left and right thigh are at the same place: choose their bones")
    left = np.array([*across / np.linalg.norm(across), 0.0])
    return np.column_stack([np.cross(left, [0.0, 0.0, 1.0]), left, [0.0, 0.0, 1.0]])


def _find_trunk(skeleton: Skeleton, limbs: Mapping[str, int], named: Mapping[str, int]) -> dict[str, int]:
    """Pelvis and torso where the limbs branch off, and the head above; by name where the tree does not say."""
    found: dict[str, int] = {part: limbs[part] for part in (PELVIS, TORSO, HEAD) if part in limbs}
    if HEAD not in found and HEAD in named:
        found[HEAD] = named[HEAD]
    thighs = [limbs[part] for part in ("left_thigh", "right_thigh") if part in limbs]
    if PELVIS not in found and len(thighs) == len(SIDES):
        pelvis = _branch(skeleton, thighs)
        found[PELVIS] = pelvis if pelvis is not None else _nearest_central(skeleton, thighs, named.get(PELVIS))
    arms = [limbs[part] for part in ("left_upper_arm", "right_upper_arm") if part in limbs]
    if TORSO not in found and len(arms) == len(SIDES):
        torso = _branch(skeleton, arms)
        if torso is None and PELVIS in found:  # the limbs of a control rig hang on bones of their own
            shoulders = float(skeleton.heads[arms, 2].mean())
            below = [k for k in _central_chain(skeleton, found[PELVIS]) if skeleton.heads[k, 2] < shoulders]
            torso = below[-1] if below else None
        if torso is not None and torso != found.get(PELVIS):
            found[TORSO] = torso
    if HEAD not in found and TORSO in found:
        above = _central_chain(skeleton, found[TORSO])
        if above:
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
    distances = np.linalg.norm(skeleton.heads - hips, axis=1)
    return int(np.argmin(np.where(allowed, distances, np.inf)))


def _across(skeleton: Skeleton, pair: Sequence[int]) -> np.ndarray:
    difference = np.diff(skeleton.heads[list(pair)], axis=0)[0]
    return np.asarray(difference / max(float(np.linalg.norm(difference)), 1e-9))


def _central_chain(skeleton: Skeleton, start: int) -> list[int]:
    """Deforming bones in the middle above a bone, from below, up to one that carries several of them, as a face."""
    chain: list[int] = []
    bone = start
    tolerance = MIRROR_TOLERANCE * skeleton.height
    while True:
        above = [
            k
            for k in skeleton.children(bone)
            if skeleton.deforming[k]
            and abs(skeleton.heads[k, 0] - skeleton.heads[start, 0]) < tolerance
            and skeleton.tails[k, 2] > skeleton.heads[k, 2] >= skeleton.heads[bone, 2] - tolerance
        ]
        if not above or (chain and len(above) > 1):
            return chain
        bone = max(above, key=lambda k: float(skeleton.tails[k, 2]))
        chain.append(bone)


def _complete_by_mirror(skeleton: Skeleton, limbs: dict[str, int]) -> None:
    """Add parts of limbs whose counterpart on the other side was found."""
    middle = float(np.median(skeleton.heads[:, 0])) if len(skeleton.heads) else 0.0
    for side, other in (SIDES, SIDES[::-1]):
        for name in (*ARM, *LEG):
            part, counterpart = f"{side}_{name}", limbs.get(f"{other}_{name}")
            if part in limbs or counterpart is None:
                continue
            image = skeleton.heads[counterpart] * [-1.0, 1.0, 1.0] + [2.0 * middle, 0.0, 0.0]
            distances = np.linalg.norm(skeleton.heads - image, axis=1)
            distances[~skeleton.moved()] = np.inf
            nearest = int(np.argmin(distances))
            if distances[nearest] < MIRROR_TOLERANCE * skeleton.height and nearest != counterpart:
                limbs[part] = nearest


def _find_limbs(skeleton: Skeleton) -> dict[str, int]:
    """Parts of the limbs of a skeleton without known names.

    Pairs of mirrored ends are limbs: the lowest are legs, the widest of the others arms. The two longest bones of a
    limb, in a row, are its upper and lower part, and the bone after them is foot or hand. The feet point forward.
    """
    deforming = np.flatnonzero(skeleton.deforming)
    if not len(deforming):
        return {}
    pairs = _mirrored_ends(skeleton)
    if not pairs:
        return {}
    legs = min(pairs, key=lambda pair: float(skeleton.tails[pair[0], 2]))
    chains = _limb_chains(skeleton, legs)
    if chains is None:
        return {}
    used = {bone for chain in chains for bone in chain}
    tips = sum(skeleton.tails[end] - skeleton.heads[chain[2]] for chain, end in zip(chains, legs, strict=True))
    sign = 1.0 if tips[1] < 0.0 else -1.0  # the left side of a body that faces -y is at +x
    found: dict[str, int] = {}
    for chain, names in [(chain, LEG) for chain in chains]:
        found |= _named_limb(skeleton, chain, names, sign)
    hips = max(float(skeleton.heads[chain[0], 2]) for chain in chains)
    arms = [
        pair
        for pair in pairs
        if not used & {*skeleton.ancestors(pair[0]), *skeleton.ancestors(pair[1])}
        and (limb := _limb_chains(skeleton, pair)) is not None
        and min(float(skeleton.heads[chain[0], 2]) for chain in limb) > hips
    ]
    if arms:
        widest = max(arms, key=lambda pair: float(np.abs(skeleton.tails[list(pair), 0]).max()))
        for chain in _limb_chains(skeleton, widest) or ():
            found |= _named_limb(skeleton, chain, ARM, sign)
    return found


def _named_limb(skeleton: Skeleton, chain: Sequence[int], names: Sequence[str], sign: float) -> dict[str, int]:
    middle = float(np.median(skeleton.heads[:, 0]))
    side = "left" if sign * (skeleton.heads[chain[-1], 0] - middle) > 0.0 else "right"
    return {f"{side}_{name}": bone for name, bone in zip(names, chain, strict=True)}


def _mirrored_ends(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Pairs of deforming bones without deforming bones below, one the mirror image of the other."""
    ends = [int(k) for k in np.flatnonzero(skeleton.deforming)
            if not any(skeleton.deforming[child] for child in skeleton.children(int(k)))]  # fmt: skip
    middle, tolerance = float(np.median(skeleton.heads[:, 0])), MIRROR_TOLERANCE * skeleton.height
    pairs = []
    for place, one in enumerate(ends):
        image = skeleton.heads[one] * [-1.0, 1.0, 1.0] + [2.0 * middle, 0.0, 0.0]
        for other in ends[place + 1 :]:
            if np.linalg.norm(skeleton.heads[other] - image) < tolerance < abs(skeleton.heads[one, 0] - middle):
                pairs.append((one, other))
                break
    return pairs


def _limb_chains(skeleton: Skeleton, ends: tuple[int, int]) -> tuple[list[int], list[int]] | None:
    """Upper part, lower part and end of both limbs above two mirrored ends; None if they have fewer bones."""
    paths = [skeleton.ancestors(end)[::-1] for end in ends]
    own = [[bone for bone in path if bone not in other] for path, other in zip(paths, paths[::-1], strict=True)]
    least = len(ARM)
    if min(len(path) for path in own) < least:
        return None
    chains = []
    for path in own:
        lengths = [float(np.linalg.norm(skeleton.heads[b] - skeleton.heads[a])) for a, b in pairwise(path)]
        start = int(np.argmax(np.add(lengths[:-1], lengths[1:])))
        chains.append(path[start : start + least])
    return chains[0], chains[1]
