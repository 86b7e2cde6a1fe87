"""A body: Pinocchio model, names, shapes, limits, contacts and inertial prior in one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from .arrays import frozen
from .errors import InvalidValue, UnknownLink
from .inertials import InertialParameters
from .patch import ContactPolygon
from .pinocchio_loader import pin

ROOT_NV = 6
"""Tangent dimension of the free flyer."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A collision or display shape on a link.

    Attributes:
        link: that carries it.
        kind: ``"capsule"`` (size: radius, half length of the cylinder, along z), ``"box"`` (size: half extents),
            ``"sphere"`` (size: radius), ``"ellipsoid"`` (size: semi-axes) or ``"mesh"`` (size: scale; see vertices).
        size: [m], by kind.
        rotation: (3, 3) shape axes in link axes.
        centre: (3,) [m], link frame.
        vertices: (V, 3) [m], mesh only; empty otherwise.
        faces: (F, 3) indices, mesh only.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    rotation: np.ndarray
    centre: np.ndarray
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))

    KINDS = ("capsule", "box", "sphere", "ellipsoid", "mesh")

    def __post_init__(self) -> None:
        if self.kind not in Shape.KINDS:
            raise InvalidValue(f"shape of link {self.link!r}: kind {self.kind!r} is none of {', '.join(Shape.KINDS)}")
        object.__setattr__(self, "size", tuple(float(s) for s in self.size))
        object.__setattr__(self, "rotation", frozen("shape rotation", self.rotation, (3, 3)))
        object.__setattr__(self, "centre", frozen("shape centre", self.centre, (3,)))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the joints, root excluded, in the tangent order of the model (nv - 6 entries).

    A position is the joint's coordinate from the neutral configuration, ``pin.difference(model, neutral, q)[6:]``:
    the angle of a revolute joint, the rotation vector of a spherical one.

    Attributes:
        lower, upper: [rad] (or [m]); infinite where free.
        speed: [rad/s]; infinite where unknown.
        torque: [N m]; infinite where unknown.
    """

    lower: np.ndarray
    upper: np.ndarray
    speed: np.ndarray
    torque: np.ndarray

    def __post_init__(self) -> None:
        count = len(np.asarray(self.lower))
        for name in ("lower", "upper", "speed", "torque"):
            object.__setattr__(self, name, frozen(f"limits {name}", getattr(self, name), (count,), finite=False))
        if np.any(self.lower > self.upper):
            raise InvalidValue(f"joint coordinate {int(np.argmax(self.lower > self.upper))} has lower > upper limit")

    @staticmethod
    def none(count: int) -> Limits:
        """No limits on ``count`` joint coordinates."""
        free = np.full(count, np.inf)
        return Limits(-free, free, free, free)


@dataclass(frozen=True, slots=True)
class Rig:
    """A person or robot.

    Link k moves with joint k + 1 of the model and shares its frame: origin in the joint centre. Joint 1 is the free
    flyer. Fixed joints are merged, so a link may stand for several bodies of the file it came from.

    Attributes:
        name: shown to people; says so when the rig is an approximation.
        model: Pinocchio model with a free-flyer root. Never change it: derive rigs with `replaced` or `with_inertials`.
        links: L names.
        prior: inertial parameters believed before any measurement.
        boxes: (L, 2, 3) [m] lower and upper corner of the segment-aligned bounding box, link frame.
        limits: of the joints.
        contacts: patches that may carry load.
        pairs: (left, right) link names that mirror each other.
        shapes: collision and display shapes.
        tips: (L, 3) [m] far end of each link (next joint or extremity), link frame: where a bone points.
        notes: provenance and warnings met while building, for the report.
        parameters: how the rig was made (kind, height, mass, sex, lengths ...), enough to make it again.
    """

    name: str
    model: pin.Model
    links: tuple[str, ...]
    prior: InertialParameters
    boxes: np.ndarray
    limits: Limits
    contacts: tuple[ContactPolygon, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    shapes: tuple[Shape, ...] = ()
    tips: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        links = tuple(self.links)
        object.__setattr__(self, "links", links)
        if len(links) != self.model.njoints - 1 or len(set(links)) != len(links):
            raise InvalidValue(f"rig {self.name!r}: {len(links)} link names for {self.model.njoints - 1} moving bodies")
        if self.model.nv < ROOT_NV or self.model.joints[1].shortname() != "JointModelFreeFlyer":
            raise InvalidValue(f"rig {self.name!r}: the first joint must be a free flyer")
        if self.prior.links != links:
            raise InvalidValue(f"rig {self.name!r}: the prior names other links than the rig")
        object.__setattr__(self, "boxes", frozen("boxes", self.boxes, (len(links), 2, 3)))
        tips = np.zeros((len(links), 3)) if self.tips is None else self.tips
        object.__setattr__(self, "tips", frozen("tips", tips, (len(links), 3)))
        if len(self.limits.lower) != self.model.nv - ROOT_NV:
            count = self.model.nv - ROOT_NV
            raise InvalidValue(f"rig {self.name!r}: limits for {len(self.limits.lower)} of {count} joint coordinates")
        for name in (
            [c.link for c in self.contacts] + [n for p in self.pairs for n in p] + [s.link for s in self.shapes]
        ):
            self.index(name)
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __reduce__(self) -> tuple[type[Rig], tuple[object, ...]]:
        # a mapping proxy cannot be pickled, and rigs travel to worker processes
        values = [getattr(self, name) for name in self.__dataclass_fields__]
        return Rig, (*values[:-1], dict(self.parameters))

    @property
    def masses(self) -> np.ndarray:
        """Prior masses (L,) [kg]."""
        return self.prior.masses

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of each link's parent link, -1 for the root link."""
        return tuple(int(self.model.parents[joint]) - 1 for joint in range(1, self.model.njoints))

    def index(self, link: str) -> int:
        """Index of a link.

        Raises:
            UnknownLink: no such link.
        """
        try:
            return self.links.index(link)
        except ValueError:
            raise UnknownLink(link, self.links) from None

    def joint(self, link: str) -> int:
        """Pinocchio's joint index of a link."""
        return self.index(link) + 1

    @property
    def neutral(self) -> np.ndarray:
        """(nq,) every joint at zero, root at the world origin."""
        return pin.neutral(self.model)

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """Joint coordinates (nv - 6,) of a configuration (nq,), comparable with `limits`."""
        return pin.difference(self.model, self.neutral, np.asarray(q, float))[ROOT_NV:]

    def with_prior(self, prior: InertialParameters, note: str | None = None) -> Rig:
        """The same rig believing (and carrying in its model) other inertial parameters."""
        notes = self.notes if note is None else (*self.notes, note)
        return replace(self, prior=prior, model=prior.applied_to(self.model), notes=notes)
