"""Finds which link of a rig is which part of a person: from a stored preset, from names, or from the shape of its
tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..base.assets import ASSETS
from ..base.errors import InvalidValue, UnknownLink
from ..skeleton.rig import PARTS, Rig
from ..storage.codec import FileKind
from ..values.person import CHAINS, LINKS, SIDES

ROOT, TRUNK, HEAD = LINKS[:3]
ARM, LEG = CHAINS
CENTRE_REGULARISATION = 1e-6
"""Weight of the joint's own position in the centre of a limb's joints: decides only along the axis of a single
hinge."""
MIN_JOINT_DISTANCE = 0.01
"""[m] Joints nearer than this count as one joint."""
MIN_SEGMENT_FRACTION = 0.25
"""Smallest fraction of a limb's length that its shorter segment has if joints split it in two; otherwise its end link
is the lower segment."""
TWIST_COSINE = 0.7
"""Cosine between a joint's axis and the next segment above which the joint twists the segment instead of bending it."""
DEFAULT_WEIGHTS = {"hand": 0.3, "head": 0.5, "thigh": 0.3, "shank": 0.1}
"""Weights of parts that are followed less strictly than 1: feet and pelvis pose the legs; hands are least visible."""


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The links of a rig that correspond to the parts of a person.

    Attributes:
        name: of the rig, as shown to users.
        parts: link of each part (one of `person.LINKS`); parts that the rig lacks are missing.
        weights: how strictly each part is followed, relative to 1; `USUAL` by default.
        guessed: True if it was inferred; the user should look at it.
    """

    name: str
    parts: Mapping[str, str]
    weights: Mapping[str, float] = field(default_factory=dict)
    guessed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", dict(self.parts))
        object.__setattr__(self, "weights", dict(self.weights))
        for part in (*self.parts, *self.weights):
            if part not in LINKS:
                raise InvalidValue(
                    f"{self.name!r}: {part!r} is not a part of a person; the parts are {', '.join(LINKS)}"
                )
        if len(set(self.parts.values())) != len(self.parts):
            raise InvalidValue(f"{self.name!r}: one link is given for two parts")
        for part, weight in self.weights.items():
            if not (np.isfinite(weight) and weight >= 0.0):
                raise InvalidValue(f"{self.name!r}: the weight of {part} is {weight:g}")

    @property
    def note(self) -> str:
        """Which link is which part, for an inferred anatomy."""
        listed = ", ".join(f"{link} is the {part.replace('_', ' ')}" for part, link in self.parts.items())
        return f"guessed from the joints of {self.name}: {listed}"

    def weight(self, part: str) -> float:
        """How strictly a part is followed, relative to 1."""
        return self.weights.get(part, DEFAULT_WEIGHTS.get(part.split("_", 1)[-1], 1.0))


ANATOMY = FileKind(Anatomy, "exciting dance anatomy", remedy="Write it again as in assets/anatomy")


def find_anatomy(rig: Rig) -> Anatomy:
    """The parts of a rig: those that it states, from a preset, from its own names, or from its tree, in this order.

    Raises:
        InvalidValue: pelvis, trunk or legs cannot be identified.
    """
    if stated := rig.provenance.get(PARTS):
        return Anatomy(rig.name, dict(stated))  # type: ignore[call-overload]
    if preset := next((own for own in load_presets() if set(own.parts.values()) <= set(rig.links)), None):
        return preset
    named = {part: part for part in LINKS if part in rig.links}
    return Anatomy(rig.name, named) if len(named) == len(LINKS) else infer_from_tree(rig)


@lru_cache(maxsize=1)
def load_presets() -> tuple[Anatomy, ...]:
    """Anatomies of the built-in rigs and of known robots; one with more parts comes first."""
    found = [ANATOMY.read(path) for path in sorted((ASSETS / "anatomy").glob("*.json"))]
    return tuple(sorted(found, key=lambda own: -len(own.parts)))


def infer_from_tree(rig: Rig) -> Anatomy:
    """The parts inferred from the tree: legs end in soles, arms are the other pair of ends; joints split the limbs.

    Raises:
        InvalidValue: no left and right sole, or legs without joints.
    """
    children = {k: [c for c, parent in enumerate(rig.parents) if parent == k] for k in range(len(rig.links))}
    sides = rig.sides
    mirrored = dict(rig.pairs)
    feet = {side: rig.index(rig.patch(sides[side]).link) for side in SIDES}
    parts = {ROOT: rig.links[0]}
    for side in SIDES:
        parts |= _split_limb(rig, rig.path(feet[side]), tuple(f"{side}_{name}" for name in LEG))
    ends = [k for k, own in children.items() if not own]
    arms = [(k, rig.index(mirrored[rig.links[k]])) for k in ends if rig.links[k] in mirrored]
    arms = [pair for pair in arms if not set(feet.values()) & {*rig.path(pair[0]), *rig.path(pair[1])}]
    trunk = 0
    if arms:
        longest = max(arms, key=lambda pair: len(rig.path(pair[0])))
        own, other = (rig.path(k) for k in longest)
        trunk = max([k for k in own if k in other], default=0)
        for side, end in zip(("left", "right"), longest):
            parts |= _split_limb(rig, [k for k in rig.path(end) if k > trunk], tuple(f"{side}_{name}" for name in ARM))
    if trunk:
        parts[TRUNK] = rig.links[trunk]
    taken = {k for pair in arms for k in pair} | set(feet.values())
    heads = [k for k in ends if k not in taken and (trunk in rig.path(k) or not trunk) and k not in (0, trunk)]
    if heads:
        parts[HEAD] = rig.links[max(heads, key=lambda k: rig.rest[1][k][2])]
    return Anatomy(rig.name, parts, guessed=True)


def find_joint_centres(rig: Rig, parts: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Where each part begins (3,) [m] with every joint at zero, world: nearest to all joint axes between it and the
    part above.

    Robots have their joints beside the bone; a hip or shoulder is where the axes meet.

    Raises:
        UnknownLink: a part's link is not in the rig.
    """
    rotations, positions = rig.rest
    indices = {part: _require_index(rig, link) for part, link in parts.items()}
    result: dict[str, np.ndarray] = {}
    for part in (p for p in LINKS if p in indices):
        link = indices[part]
        above = _part_above(rig, indices, link)
        links_between = [k for k in rig.path(link) if k > 0 and k not in rig.path(above)]
        start = (
            positions[link] if above == 0 or not links_between else _start_position(result, indices, above, positions)
        )
        matrix, right = CENTRE_REGULARISATION * np.eye(3), CENTRE_REGULARISATION * start
        for k in links_between:
            joint = rig.joints[k]
            axes = joint.axes if joint.hinge or joint.kind == "universal" else np.zeros((1, 3))
            for axis in axes:
                across = np.eye(3) - np.outer(rotations[k] @ axis, rotations[k] @ axis)
                matrix, right = matrix + across, right + across @ positions[k]
        result[part] = np.linalg.solve(matrix, right) if links_between else positions[link]
    return result


def _start_position(
    known: Mapping[str, np.ndarray], indices: Mapping[str, int], above: int, places: np.ndarray
) -> np.ndarray:
    part = next(part for part, link in indices.items() if link == above)
    return known.get(part, places[above])


def _part_above(rig: Rig, indices: Mapping[str, int], link: int) -> int:
    """The nearest link above that is a part; the root if there is none."""
    part_links = set(indices.values())
    return next((k for k in reversed(rig.path(link)[:-1]) if k in part_links), 0)


def _require_index(rig: Rig, link: str) -> int:
    if link not in rig.links:
        raise UnknownLink(link, rig.links)
    return rig.index(link)


def _split_limb(rig: Rig, chain: Sequence[int], names: Sequence[str]) -> dict[str, str]:
    """Upper, lower and end part of a limb: it bends at the hinge that splits it into two long segments."""
    if len(chain) < len(names):
        kind = names[0].split("_", 1)[-1]
        raise InvalidValue(f"rig {rig.name!r} has {len(chain)} joints where {len(names)} are needed from the {kind} on")
    rotations, positions = rig.rest
    tip = positions[chain[-1]] + rotations[chain[-1]] @ rig.tips[chain[-1]]

    def shorter_segment(at: int) -> float:
        """Length of the shorter of both segments; 0 if the joint twists what follows instead of bending it."""
        here = positions[chain[at]]
        below = [positions[k] - here for k in chain[at + 1 :]] or [np.zeros(3)]
        rest = max(below, key=_length)
        rest = rest if np.linalg.norm(rest) > MIN_JOINT_DISTANCE else tip - here
        after = float(np.linalg.norm(rest))
        if any(
            abs(float(rotations[chain[at]] @ axis @ rest)) > TWIST_COSINE * after for axis in rig.joints[chain[at]].axes
        ):
            return 0.0
        return min(_length(here - positions[chain[0]]), after)

    bend = int(max(range(1, len(chain) - 1), key=shorter_segment))
    if shorter_segment(bend) < MIN_SEGMENT_FRACTION * np.linalg.norm(positions[chain[-1]] - positions[chain[0]]):
        bend = len(chain) - 1
    links = [rig.links[chain[bend - 1]], rig.links[chain[bend]]]
    return dict(zip(names, links + [rig.links[chain[-1]]] * (bend < len(chain) - 1)))


def _length(way: np.ndarray) -> float:
    return float(np.linalg.norm(way))
