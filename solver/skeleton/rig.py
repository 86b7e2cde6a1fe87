"""Model of a person or robot: joints, names, shapes, limits, contacts and inertial prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import frozen
from ..base.differences import differences
from ..base.errors import InvalidValue, UnknownLink, UnknownName, checked
from ..values.inertials import FIRST_MOMENT, GRAVITY, MASS, InertialParameters
from ..values.joints import ROOT_NV, Joint, Limits, rest_poses
from ..values.shape import ContactPolygon, Shape

if TYPE_CHECKING:
    from ..engine import Model

UNOBSERVED = "unshown"
"""Key of the provenance: links whose motion the markers of a calibration do not observe."""
UNLIMITED = "unlimited"
"""Key of the provenance: links whose joints have no torque limit, whatever their file states."""
FEET = "looks_like_feet"
"""Key of the provenance: links that look like feet, with or without a flat surface."""
CHARACTER_KIND = "character"
"""Kind, in the provenance, of rigs of skinned characters; their links have the names of the characters' bones."""
PARTS = "parts"
"""Key of the provenance: by part of a person (`person.LINKS`), the link that is it."""
BONE_LINKS = "bone_links"
"""Key of the provenance: by bone of a character, the link with which it moves."""
REST_PLACEMENT = "rest_placement"
"""Key of the provenance: (4, 4) pose of the root link in the armature in which a character is at rest."""
PRIOR_SPREAD = "prior_spread"
"""Key of the provenance: by link, relative standard deviation of the tables averaged in its prior."""
SAME_PLACE = 1e-6
"""[m] Tolerance within which joint centres are equal."""
MESHES_LOST = "mesh file(s) not found"
"""Text of the note on a rig without shapes."""
NO_LEGS = "no legs found"
"""Text of the note on a rig without feet."""
CONTRADICTING = "left and right turn in ranges that contradict each other"
"""Text of the note on a rig whose file has contradictory joint limits."""
PAIR_SIDES = ("left", "right")
"""Order of the links in a rig's pairs."""
LINE_WIDTH = 110
"""Characters in a line of a rig's repr."""


class _Derived:
    """Slots for cached values, which are not fields: equality, copies, files and processes ignore them."""

    __slots__ = ("_model", "_nq", "_nv", "_rest")
    if TYPE_CHECKING:
        _model: Model
        _nq: int
        _nv: int
        _rest: tuple[np.ndarray, np.ndarray]


@checked
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rig(_Derived):
    """A person or robot.

    Link k is moved by joint k and shares its frame, with the origin in the joint centre. Joint 0 is the free flyer.
    Fixed joints are merged, so a link may represent several bodies of its file. Two rigs are equal if all of their
    numbers and names are; `differences` lists what differs.

    Attributes:
        name: shown to the user; it states if the rig is an approximation.
        links: L names.
        joints: L, each after its parent.
        prior: inertial parameters assumed before any measurement.
        limits: of the joints, root excluded.
        boxes: (L, 2, 3) [m] lower and upper corner of the segment-aligned bounding box, link frame.
        tips: (L, 3) [m] distal end of each link (next joint or extremity), link frame: the direction of its bone.
        shapes: collision and display shapes.
        contacts: patches that may carry load: soles, and others (hands, knees) that are planted by contact strips only.
        pairs: (left, right) names of mirrored links.
        excluded: pairs of link names that may touch, as specified by the robot's maker.
        notes: provenance and warnings of the construction, for the report.
        provenance: origin of the rig (kind, height, sex, file ...) and findings of its construction, as plain numbers,
            text, tuples and mappings. The model does not depend on it.
    """

    name: str
    links: tuple[str, ...]
    joints: tuple[Joint, ...]
    prior: InertialParameters
    limits: Limits
    boxes: np.ndarray
    tips: np.ndarray
    shapes: tuple[Shape, ...] = ()
    contacts: tuple[ContactPolygon, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, object] = field(default_factory=dict)
    excluded: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("links", "joints", "shapes", "contacts", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("pairs", "excluded"):
            object.__setattr__(self, name, tuple((str(one), str(other)) for one, other in getattr(self, name)))
        object.__setattr__(self, "_nq", sum(joint.nq for joint in self.joints))
        object.__setattr__(self, "_nv", sum(joint.nv for joint in self.joints))
        object.__setattr__(self, "boxes", frozen("boxes", self.boxes, (len(self.links), 2, 3)))
        object.__setattr__(self, "tips", frozen("tips", self.tips, (len(self.links), 3)))
        object.__setattr__(self, "provenance", MappingProxyType(_to_plain(self.provenance)))
        self._check_tree()
        self._check_prior()
        listed = (*self.pairs, *self.excluded)
        named = [*(c.link for c in self.contacts), *(n for p in listed for n in p), *(s.link for s in self.shapes)]
        for link in named:
            self.index(link)

    def _check_tree(self) -> None:
        called, links = f"rig {self.name!r}", self.links
        if len(links) != len(self.joints) or len(set(links)) != len(links):
            raise InvalidValue(f"{called}: {len(links)} link names for {len(self.joints)} moving bodies")
        if not links or self.joints[0].kind != "free" or self.joints[0].parent != -1:
            raise InvalidValue(f"{called}: the first joint must be a free flyer")
        for index, joint in enumerate(self.joints[1:], start=1):
            if not 0 <= joint.parent < index:
                raise InvalidValue(f"{called}: link {links[index]!r} is listed before its parent")
        if len({joint.name for joint in self.joints}) != len(links):
            raise InvalidValue(f"{called}: two joints have the same name")
        given, count = len(self.limits.lower), self.nv - ROOT_NV
        if given != count:
            raise InvalidValue(f"{called}: limits for {given} of {count} joint coordinates")

    def _check_prior(self) -> None:
        if self.prior.links != self.links:
            raise InvalidValue(f"rig {self.name!r}: the links of the prior differ from the rig's")
        for link, row in zip(self.links, self.prior.values):
            if row[MASS] < 0.0 or (row[MASS] == 0.0 and row[FIRST_MOMENT].any()):
                raise InvalidValue(f"link {link!r} has mass {row[MASS]:g} kg; a rig's links need a positive mass")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rig) and not self.differences(other)

    def __hash__(self) -> int:
        return hash((self.name, self.links, self.prior.values.tobytes()))

    def __reduce__(self) -> tuple[Callable[..., Rig], tuple[object, ...]]:
        # a mapping proxy cannot be pickled, and rigs are sent to worker processes
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _unpickle, tuple((values | {"provenance": dict(self.provenance)}).values())

    def __repr__(self) -> str:
        origin = ", ".join(f"{k} {v}" for k, v in self.provenance.items() if isinstance(v, str | int | float))
        lines = (
            self.summary,
            f"  links: {', '.join(self.links)}",
            f"  patches: {', '.join(self.patches) or 'none'}; {origin}",
        )
        return "\n".join(line[:2] + shorten(line[2:], LINE_WIDTH, placeholder=" ...") for line in lines)

    @property
    def unobserved_links(self) -> tuple[str, ...]:
        """Links whose orientation the calibration's markers do not observe; empty without a calibration."""
        return tuple(str(link) for link in self.provenance.get(UNOBSERVED, ()))  # type: ignore[attr-defined]

    @property
    def unlimited(self) -> tuple[str, ...]:
        """Links whose joints have no torque limit: their file has placeholders, or the user specified it."""
        return tuple(str(link) for link in self.provenance.get(UNLIMITED, ()))  # type: ignore[attr-defined]

    @property
    def prior_spread(self) -> dict[str, float]:
        """Relative standard deviation, by link, of the tables averaged in the prior; empty for a single table."""
        return dict(self.provenance.get(PRIOR_SPREAD, {}))  # type: ignore[call-overload]

    @property
    def is_person(self) -> bool:
        """Whether it is a person's body: of the tables of segments, an animator's character, or a person's model."""
        return self.provenance.get("kind") == "human" or PARTS in self.provenance

    @property
    def prior_source(self) -> str:
        """What the prior was taken from, in words: a person's segment tables, or the model."""
        tables = [str(table) for table in self.provenance.get("tables", ())]  # type: ignore[attr-defined]
        one = f"the segment table {tables[0]} (of adults)" if tables else "the model"
        return f"the mean of the segment tables {', '.join(tables)} (of adults)" if len(tables) > 1 else one

    @property
    def summary(self) -> str:
        """Name, size and mass in one line."""
        size = f"{len(self.links)} links, {self.nv - ROOT_NV} joint coordinates"
        return f"Rig {self.name!r}: {size}, {self.prior.total_mass:.2f} kg"

    def differences(self, other: Rig) -> tuple[str, ...]:
        """Differences from another rig, one sentence for each location."""
        return () if self is other else differences(self, other)

    def same_skeleton(self, other: Rig) -> bool:
        """Whether poses of one are valid for the other: the same links, and joint centres equal to `SAME_PLACE`."""
        if self.links != other.links:
            return False
        both = zip(self.joints, other.joints, strict=True)
        return all(one.kind == two.kind and np.abs(one.position - two.position).max() < SAME_PLACE for one, two in both)

    @property
    def model(self) -> Model:
        """The engine's model, built when first needed: an opaque value that only `solver.engine` reads."""
        try:
            return self._model
        except AttributeError:
            from ..engine import build_model  # here, so that rigs can be used without Pinocchio

            object.__setattr__(self, "_model", build_model(self.name, self.joints, self.prior, self.limits))
            return self._model

    @property
    def nq(self) -> int:
        """Entries of a configuration q."""
        return self._nq

    @property
    def nv(self) -> int:
        """Entries of a velocity v."""
        return self._nv

    @property
    def q_slices(self) -> tuple[slice, ...]:
        """Entries of each joint in a configuration q, the root's first."""
        ends = np.cumsum([0, *(joint.nq for joint in self.joints)]).tolist()
        return tuple(map(slice, ends, ends[1:]))

    @property
    def v_slices(self) -> tuple[slice, ...]:
        """Entries of each joint in a velocity v, the root's first."""
        ends = np.cumsum([0, *(joint.nv for joint in self.joints)]).tolist()
        return tuple(map(slice, ends, ends[1:]))

    @property
    def masses(self) -> np.ndarray:
        """Prior masses (L,) [kg]."""
        return self.prior.masses

    @property
    def weight(self) -> float:
        """Weight of the whole body [N], by the prior."""
        return GRAVITY * self.prior.total_mass

    @property
    def volumes(self) -> np.ndarray:
        """Volume of each link's shapes (L,) [m^3]; overlaps count twice, NaN for a link without shapes."""
        result = np.full(len(self.links), np.nan)
        for shape in self.shapes:
            index = self.index(shape.link)
            result[index] = np.nan_to_num(result[index]) + shape.volume
        return result

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of each link's parent link, -1 for the root link."""
        return tuple(joint.parent for joint in self.joints)

    @property
    def descendants(self) -> np.ndarray:
        """(L, L) True in row k and column l if link l is link k or its descendant."""
        result = np.eye(len(self.links), dtype=bool)
        for link, parent in enumerate(self.parents[1:], start=1):
            result[:, link] |= result[:, parent]
        return result

    def path(self, link: int) -> list[int]:
        """Indices of the links from the root (excluded) to a link; empty for the root."""
        parents, result = self.parents, []
        while link > 0:
            result.append(link)
            link = parents[link]
        return result[::-1]

    def index(self, link: str) -> int:
        """Index of a link.

        Raises:
            UnknownLink: no such link.
        """
        try:
            return self.links.index(link)
        except ValueError:
            raise UnknownLink(link, self.links) from None

    @property
    def neutral(self) -> np.ndarray:
        """(nq,) configuration with every joint at zero and the root at the world origin."""
        return np.concatenate([joint.neutral for joint in self.joints])

    @property
    def rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (L, 3, 3) and origins (L, 3) [m] of the links in the world in the neutral configuration."""
        try:
            return self._rest
        except AttributeError:
            rotations, origins = rest_poses(self.joints)
            rotations.setflags(write=False)
            origins.setflags(write=False)
            object.__setattr__(self, "_rest", (rotations, origins))
            return self._rest

    @property
    def standing_height(self) -> float:
        """Height of the root link's origin above the lowest sole (or box corner) with every joint at zero [m]."""
        points = [(patch.link, patch.vertices) for patch in self.soles]
        points = points or list(zip(self.links, self.boxes, strict=True))
        rotations, origins = self.rest
        own = ((self.index(link), vertices) for link, vertices in points)
        return float(origins[0, 2] - min((vertices @ rotations[k].T + origins[k])[:, 2].min() for k, vertices in own))

    @property
    def leg_length(self) -> float:
        """Height [m] of the root or a leg's first joint, whichever is higher, above the lowest sole, joints at zero.

        The root may be on the floor, but the vertical range of a body depends on its legs.
        """
        hips = [self.path(self.index(patch.link))[0] for patch in self.soles if self.index(patch.link)]
        return self.standing_height + max([0.0, *self.rest[1][hips, 2].tolist()])

    def limits_of(self, link: str) -> Limits:
        """Limits of the joint that moves a link; empty for the root."""
        index = self.index(link)
        first = sum(joint.nv for joint in self.joints[1:index])
        own = slice(first, first + self.joints[index].nv * (index > 0))
        limits = self.limits
        return Limits(limits.lower[own], limits.upper[own], limits.speed[own], limits.torque[own])

    @property
    def patches(self) -> tuple[str, ...]:
        """Names of the contact patches."""
        return tuple(patch.name for patch in self.contacts)

    @property
    def soles(self) -> tuple[ContactPolygon, ...]:
        """The contact patches of feet."""
        return tuple(patch for patch in self.contacts if patch.sole)

    def patch(self, name: str) -> ContactPolygon:
        """A contact patch by name.

        Raises:
            InvalidValue: the rig has no contact patches, or none of that name.
        """
        self.require_contacts()
        for patch in self.contacts:
            if patch.name == name:
                return patch
        raise InvalidValue(f"rig {self.name!r} has no contact patch {name!r}; it has {', '.join(self.patches)}")

    def find_patch(self, name: str) -> ContactPolygon:
        """The contact patch with a name, or on the link with that name.

        Raises:
            UnknownName: no patch or link with a patch has that name.
        """
        for contact in self.contacts:
            if name in (contact.name, contact.link):
                return contact
        raise UnknownName(name, [known for contact in self.contacts for known in (contact.name, contact.link)])

    @property
    def feet(self) -> tuple[str, ...]:
        """Links that may get soles: those that look like feet, or the two lowest terminal links, joints at zero."""
        heights, carried = self.rest[1][:, 2].round(6), set(self.parents)
        ends = [k for k in range(len(self.links)) if k not in carried] or [0]
        found = [self.index(str(link)) for link in self.provenance.get(FEET, ())]  # type: ignore[attr-defined]
        below = {k for own in found for k in np.flatnonzero(self.descendants[own]).tolist() if k != own}  # toes
        low = [k for k in found if k not in below] or sorted(sorted(ends, key=lambda k: (heights[k], k))[:2])
        return tuple(self.links[k] for k in low)

    @property
    def bodies(self) -> dict[str, tuple[str, ...]]:
        """Names of the file's bodies in each link, its own first; a rig that was built has one of the link's name."""
        return {link: (link,) for link in self.links} | dict(self.provenance.get("bodies", {}))  # type: ignore[call-overload]

    def carrier_of(self, body: str) -> str:
        """The link that carries a body of the rig's file.

        Raises:
            UnknownName: neither a link nor a body.
        """
        carriers = {name: link for link, bodies in self.bodies.items() for name in bodies}
        if body not in carriers:
            raise UnknownName(body, tuple(carriers))
        return carriers[body]

    def require_contacts(self) -> None:
        """Raise `InvalidValue` for a rig without contact patches."""
        if not self.contacts:
            drawn = {shape.link for shape in self.shapes} & set(self.provenance.get(FEET, ()))  # type: ignore[call-overload]
            soles = " ".join(
                f"{link}={self._footprint(link) if link in drawn else 'LENGTHxWIDTH'}" for link in self.feet
            )
            size = ", as large as their shapes" if drawn else ""
            reasons = "".join(f"; {note}" for note in self.notes if MESHES_LOST in note or NO_LEGS in note)
            raise InvalidValue(
                f"rig {self.name!r} has no contact patches to stand on: if it has feet, specify their soles in "
                f"metres{size} (--soles {soles}){reasons}"
            )

    def _footprint(self, link: str) -> str:
        """Length and width [m] of a link's box from above, joints at zero: ``0.21x0.09``."""
        k = self.index(link)
        low, high = self.boxes[k]
        along, across, _ = np.abs(self.rest[0][k]) @ (high - low)
        return f"{max(along, across):.2g}x{min(along, across):.2g}"

    @property
    def sides(self) -> dict[str, str]:
        """Sole of each side, ``{"left": ..., "right": ...}``, by mirrored links, the patch's name, or its position.

        Raises:
            InvalidValue: a side has no patch.
        """
        self.require_contacts()
        sides: dict[str, str] = {}
        for column, side in enumerate(PAIR_SIDES):
            links = {pair[column] for pair in self.pairs}
            named = [p.name for p in self.soles if p.link in links] or [p.name for p in self.soles if side in p.name]
            if named:
                sides[side] = named[0]
        if not sides and len(self.soles) == len(
            PAIR_SIDES
        ):  # no side in any name: x is forward, as in a rig's usual frame
            rotations, origins = self.rest
            index = [self.index(p.link) for p in self.soles]
            across = [float((rotations[k] @ p.centroid + origins[k])[1]) for k, p in zip(index, self.soles)]
            sides = dict(zip(PAIR_SIDES, np.array([p.name for p in self.soles])[np.argsort(across)[::-1]].tolist()))
        for side in PAIR_SIDES:
            if side not in sides:
                raise InvalidValue(
                    f"rig {self.name!r} has no {side} foot among its patches {', '.join(self.patches)}: "
                    "two feet on links named left and right are needed"
                )
        return sides

    @property
    def forward(self) -> np.ndarray:
        """(3,) forward axis (+-x or +-y) with every joint at zero, from the positions of left and right sole.

        Raises:
            InvalidValue: a side has no patch.
        """
        rotations, origins = self.rest
        soles = {side: self.patch(name) for side, name in self.sides.items()}
        links = {side: self.index(patch.link) for side, patch in soles.items()}
        centres = {side: rotations[links[side]] @ p.centroid + origins[links[side]] for side, p in soles.items()}
        across = centres["left"] - centres["right"]
        ahead = np.array([across[1], -across[0], 0.0])  # left x up
        return np.where(np.arange(3) == np.argmax(np.abs(ahead)), np.sign(ahead), 0.0)

    def with_prior(self, prior: InertialParameters, note: str | None = None) -> Rig:
        """The same rig with other inertial parameters as prior and in its model."""
        notes = self.notes if note is None else (*self.notes, note)
        return replace(self, prior=prior, notes=notes)

    def with_joint_positions(self, positions: np.ndarray) -> Rig:
        """The same rig with other joint centres (L, 3) [m] in their parents' frames; nothing else is changed."""
        moved = (replace(joint, position=place) for joint, place in zip(self.joints, positions, strict=True))
        return replace(self, joints=tuple(moved))


def _to_plain(value: Any) -> Any:
    """Mappings as dicts, sequences and arrays as tuples, NumPy's numbers as Python's, as read from any file."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _to_plain(value.tolist())
    if isinstance(value, list | tuple):
        return tuple(_to_plain(entry) for entry in value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _unpickle(*values: Any) -> Rig:
    """A rig from a pickle: the same object as an equal rig unpickled before."""
    return _intern(Rig(*values))


@lru_cache(maxsize=8)
def _intern(rig: Rig) -> Rig:
    """The first of equal rigs, so that caches find it by identity: comparing two rigs takes milliseconds."""
    return rig
