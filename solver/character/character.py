"""A skinned character as a value: its bones in the rest pose, its surface, and the weights that bind both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..storage.codec import FileKind


@dataclass(frozen=True, slots=True)
class Character:
    """A mesh that bones deform, in rest pose, z up.

    Attributes:
        name: shown to the user.
        bones: B names.
        parents: (B,) index of each bone's parent, -1 without one.
        heads, tails: (B, 3) [m] ends of the bones.
        vertices: (V, 3) [m] of all meshes.
        triangles: (T, 3) indices of vertices, counter-clockwise seen from outside.
        weighted: (W, 2) vertex and bone of each weight.
        weights: (W,) not negative.
    """

    name: str
    bones: tuple[str, ...]
    parents: tuple[int, ...]
    heads: np.ndarray
    tails: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    weighted: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "bones", tuple(str(name) for name in self.bones))
        object.__setattr__(self, "parents", tuple(int(parent) for parent in self.parents))
        count = len(self.bones)
        if len(set(self.bones)) != count or len(self.parents) != count:
            raise InvalidValue(f"character {self.name!r}: {len(self.parents)} parents for {len(set(self.bones))} bones")
        if any(not -1 <= parent < count for parent in self.parents) or _has_cycle(self.parents):
            raise InvalidValue(f"character {self.name!r}: the parents of its bones form no tree")
        for name, shape in (("heads", (count, 3)), ("tails", (count, 3)), ("vertices", (None, 3))):
            object.__setattr__(self, name, frozen(f"{name} of a character", getattr(self, name), shape))
        object.__setattr__(self, "weights", frozen("weights of a character", self.weights, (None,)))
        for name, width in (("triangles", 3), ("weighted", 2)):
            indices = np.array(getattr(self, name), int).reshape(-1, width)
            indices.setflags(write=False)
            object.__setattr__(self, name, indices)
        vertices = len(self.vertices)
        if len(self.weighted) != len(self.weights) or np.any(self.weights < 0.0):
            raise InvalidValue(f"character {self.name!r}: its weights are negative, or not one for each pair")
        limits = ((self.triangles, vertices), (self.weighted[:, 0], vertices), (self.weighted[:, 1], count))
        if any(found.size and not 0 <= found.min() <= found.max() < most for found, most in limits):
            raise InvalidValue(f"character {self.name!r}: a triangle or weight refers to what it does not have")

    def deforming(self) -> np.ndarray:
        """(B,) whether any vertex follows each bone."""
        return np.bincount(self.weighted[:, 1], self.weights, minlength=len(self.bones)) > 0.0


def _has_cycle(parents: tuple[int, ...]) -> bool:
    for bone in range(len(parents)):
        steps, above = 0, bone
        while above >= 0 and steps <= len(parents):
            steps, above = steps + 1, parents[above]
        if above >= 0:
            return True
    return False


CHARACTER = FileKind(Character, "exciting dance character", remedy="Write it again from its program")
