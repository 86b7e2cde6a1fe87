"""The links of a character's rig, the link that each bone moves with, and what was approximated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import list_names
from ..skeleton.match import ARM, HEAD, LEG, PELVIS, TORSO, Skeleton
from ..values.person import LINKS, SIDES

SPINE, NECK, CLAVICLE = "spine", "neck", "clavicle"
"""Kinds of links between the parts of a person."""
CLAVICLE_GAP = 0.25
"""Largest distance from the end of a clavicle to the upper arm, as a fraction of the arm's bone."""


@dataclass(frozen=True, slots=True)
class LinkTree:
    """Links of a character's rig, parents first.

    Attributes:
        bones: (L,) index of the bone of each link.
        parents: (L,) index of each link's parent link, -1 for the root.
        kinds: L parts of a person (``"left_thigh"``), or ``"spine"``, ``"neck"``, ``"left_clavicle"`` between them.
        link_of_bone: (B,) index of the link that each bone moves with.
        notes: what was approximated, one sentence each.
    """

    bones: tuple[int, ...]
    parents: tuple[int, ...]
    kinds: tuple[str, ...]
    link_of_bone: np.ndarray
    notes: tuple[str, ...]

    def of_kind(self, kind: str) -> int | None:
        """Index of the link that is a part; None without one."""
        return self.kinds.index(kind) if kind in self.kinds else None


def choose_links(skeleton: Skeleton, parts: Mapping[str, str]) -> LinkTree:
    """Links for the parts of a person and for the bones between them that bend: spine, neck and shoulder girdle.

    All other bones (fingers, toes, face, twist bones) are fixed to the link above them.

    Args:
        skeleton: of the character.
        parts: bone of each part, with at least pelvis and legs.
    """
    index = {name: k for k, name in enumerate(skeleton.bones)}
    bone_of = {part: index[bone] for part, bone in parts.items()}
    chosen: list[tuple[int, int, str]] = [(bone_of[PELVIS], -1, PELVIS)]

    def add(part: str, above: str, between: str) -> None:
        if part not in bone_of:
            return
        parent = next(k for k, (_, _, kind) in enumerate(chosen) if kind == above)
        if between:
            path = _bones_between(skeleton, bone_of[above], bone_of[part])
            for bone in path if path is not None else _nearest_ending(skeleton, bone_of, part):
                if bone not in bone_of.values() and skeleton.deforming[bone]:
                    chosen.append((bone, parent, between))
                    parent = len(chosen) - 1
        chosen.append((bone_of[part], parent, part))

    add(TORSO, PELVIS, SPINE)
    chest = TORSO if TORSO in bone_of else PELVIS
    add(HEAD, chest, NECK)
    for names, start in ((ARM, chest), (LEG, PELVIS)):
        for side in SIDES:
            above, between = start, f"{side}_{CLAVICLE}" if names == ARM else ""
            for part in (f"{side}_{name}" for name in names):
                if part in bone_of:
                    add(part, above, between)
                    above, between = part, ""
    bones, parents, kinds = zip(*chosen, strict=True)
    link_of_bone = _assign_bones(skeleton, bones)
    return LinkTree(bones, parents, kinds, link_of_bone, tuple(_describe(skeleton, bones, kinds, link_of_bone)))


def _bones_between(skeleton: Skeleton, above: int, below: int) -> list[int] | None:
    """Bones between two, from above; None if one is not above the other, as in the bones of a control rig."""
    path = skeleton.ancestors(below)
    return path[1 : path.index(above)][::-1] if above in path else None


def _nearest_ending(skeleton: Skeleton, bone_of: Mapping[str, int], part: str) -> list[int]:
    """The deforming bone that ends where an upper arm begins: its clavicle; none for other parts."""
    if not part.endswith(ARM[0]):
        return []
    arm = bone_of[part]
    distances = np.linalg.norm(skeleton.tails - skeleton.heads[arm], axis=1)
    allowed = skeleton.deforming.copy()
    allowed[list(bone_of.values())] = False
    for bone in range(len(skeleton.bones)):
        allowed[bone] &= arm not in skeleton.ancestors(bone)
    nearest = int(np.argmin(np.where(allowed, distances, np.inf)))
    length = float(np.linalg.norm(skeleton.tails[arm] - skeleton.heads[arm]))
    return [nearest] if allowed[nearest] and distances[nearest] < CLAVICLE_GAP * length else []


def _assign_bones(skeleton: Skeleton, bones: Sequence[int]) -> np.ndarray:
    """Link of each bone: the nearest above it; the root for bones above the root; otherwise the nearest in space."""
    link_of = {bone: link for link, bone in enumerate(bones)}
    above_root = set(skeleton.ancestors(bones[0]))
    starts = skeleton.heads[list(bones)]
    vectors = skeleton.tails[list(bones)] - starts
    result = np.zeros(len(skeleton.bones), int)
    for bone in range(len(skeleton.bones)):
        link = next((link_of[k] for k in skeleton.ancestors(bone) if k in link_of), None)
        if link is None and bone not in above_root:
            link = _nearest_segment(skeleton.heads[bone], starts, vectors)
        result[bone] = 0 if link is None else link
    return result


def _nearest_segment(point: np.ndarray, starts: np.ndarray, vectors: np.ndarray) -> int:
    lengths = np.maximum((vectors**2).sum(axis=1), 1e-12)
    along = np.clip(((point - starts) * vectors).sum(axis=1) / lengths, 0.0, 1.0)
    return int(np.argmin(np.linalg.norm(starts + along[:, None] * vectors - point, axis=1)))


def _describe(skeleton: Skeleton, bones: Sequence[int], kinds: Sequence[str], link_of_bone: np.ndarray) -> list[str]:
    notes = []
    absent = [part for part in LINKS if part not in kinds]
    if absent:
        notes.append(f"the character has no {list_names([part.replace('_', ' ') for part in absent])}")
    for link, bone in enumerate(bones):
        fixed = [
            skeleton.bones[k]
            for k in np.flatnonzero(link_of_bone == link)
            if k != bone and skeleton.deforming[k] and not kinds[link].endswith((HEAD, "hand"))
        ]
        if fixed:
            notes.append(f"{list_names(fixed)}: fixed to {skeleton.bones[bone]}, so their own rotation is ignored")
    return notes
