"""Tables of body segment inertial parameters (BSIP), scaled to a person's segments.

Dumas et al. 2007 (three-dimensional, with products of inertia) and de Leva 1996 (on the segment axes). Both give
masses as fractions of the body mass, whose rounded sum is 0.999 ... 1.002; `human` divides by the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..assets import read_asset
from ..inertials import InertialParameters, steiner
from ..so3 import rotation_between
from .solids import UP

TABLES = ("dumas", "deleva")
DUMAS_TO_LINK = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Table axes (X anterior, Y up, Z right) to link axes (x forward, y left, z up)."""
MIRROR = np.diag([1.0, 1.0, -1.0])
"""Reflection from right to left in table axes."""
MIN_SECOND_MOMENT = 0.02
"""The principal second moments of an inconsistent table row are raised to at least this fraction of their sum."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A measured segment of a person.

    Attributes:
        name: ``"thigh"``; the row of the tables.
        side: ``"right"``, ``"left"`` or ``""``.
        end: (3,) [m] far end from the link origin: next joint centre, finger tip, vertex; of the foot the middle of
            the metatarsal heads 1 and 5 as seen from above; of the pelvis the middle of the hip centres.
    """

    name: str
    side: str
    end: np.ndarray

    @property
    def length(self) -> float:
        """[m]."""
        return float(np.linalg.norm(self.end))


@dataclass(frozen=True, slots=True)
class SegmentInertia:
    """Mass [kg or fraction], centre of mass (3,) [m] and inertia about it (3, 3), link axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    projected: bool = False

    def combine(self, other: SegmentInertia, offset: np.ndarray) -> SegmentInertia:
        """Inertia of both bodies together; the other's link origin is at ``offset`` (3,), axes parallel."""
        mass = self.mass + other.mass
        second = other.com + np.asarray(offset, float)
        com = (self.mass * self.com + other.mass * second) / mass
        shifts = [m * steiner(c - com) for m, c in ((self.mass, self.com), (other.mass, second))]
        return SegmentInertia(mass, com, self.inertia + other.inertia + sum(shifts), self.projected or other.projected)


def segment_inertia(table: str, sex: str, segment: Segment, body: Mapping[str, float]) -> SegmentInertia:
    """Inertia of a segment from a table, its mass as a fraction of the body mass.

    Args:
        table: ``"dumas"`` or ``"deleva"``.
        sex: ``"male"`` or ``"female"``.
        segment: with the person's own length and direction.
        body: further lengths [m] of the body: torso, pelvis_height, ankle_height, foot, heel.
    """
    if table == "dumas":
        return _dumas_inertia(sex, segment)
    return _deleva_inertia(sex, segment, body)


def nearest_consistent(inertia: np.ndarray) -> tuple[np.ndarray, bool]:
    """Nearest physically consistent inertia about the centre of mass (Frobenius norm of the second moments).

    The second moments 0.5 tr(I) 1 - I must have no negative eigenvalue. If one is negative, eigenvalues are raised to
    `MIN_SECOND_MOMENT` of the trace; zero, a flat body, would be on the boundary of the feasible cone.

    Returns:
        (3, 3) inertia, and whether it was changed.
    """
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    values, vectors = np.linalg.eigh(second)
    if values[0] >= 0.0:
        return inertia, False
    raised = np.maximum(values, MIN_SECOND_MOMENT * values.sum())
    second = (vectors * raised) @ vectors.T
    return np.trace(second) * np.eye(3) - second, True


def _dumas_inertia(sex: str, segment: Segment) -> SegmentInertia:
    row = read_asset("human_dumas")["segments"][segment.name][sex]
    length = segment.length
    com = length * np.array(row["com"])
    inertia = np.diag(np.array(row["radii"]) ** 2)
    xy, xz, yz = (np.sign(r) * r**2 for r in row["products"])
    inertia += np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0]])
    inertia, projected = nearest_consistent(row["mass"] * length**2 * inertia)
    if segment.side == "left":
        com, inertia = MIRROR @ com, MIRROR @ inertia @ MIRROR
    if segment.name == "torso":  # the table measures down from C7T1, the link starts at L5S1
        com = com + length * np.array([0.0, 1.0, 0.0])
    turn = _align_long_axis(segment) @ DUMAS_TO_LINK
    return SegmentInertia(row["mass"], turn @ com, turn @ inertia @ turn.T, projected)


def _deleva_inertia(sex: str, segment: Segment, body: Mapping[str, float]) -> SegmentInertia:
    if segment.name in ("torso", "pelvis"):
        return _deleva_trunk_inertia(sex, segment, body)
    row = read_asset("human_deleva")["segments"][segment.name][sex]
    sagittal, transverse, longitudinal = row["radii"]
    if segment.name == "foot":  # its long axis points forward, and it is measured from the heel
        length = body["foot"]
        com = np.array([row["com"] * length - body["heel"], 0.0, -0.5 * body["ankle_height"]])
        radii = np.array([longitudinal, transverse, sagittal])
        return SegmentInertia(row["mass"], com, row["mass"] * length**2 * np.diag(radii**2))
    length = segment.length
    share = 1.0 - row["com"] if segment.name == "head" else row["com"]
    turn = _align_long_axis(segment)
    inertia = row["mass"] * length**2 * np.diag(np.array([sagittal, transverse, longitudinal]) ** 2)
    return SegmentInertia(row["mass"], share * segment.end, turn @ inertia @ turn.T)


def _deleva_trunk_inertia(sex: str, segment: Segment, body: Mapping[str, float]) -> SegmentInertia:
    """Torso = upper and middle trunk, pelvis = lower trunk, stacked from C7T1 down to the height of the hips."""
    rows = read_asset("human_deleva")["segments"]
    names = ("upper_trunk", "middle_trunk", "lower_trunk")
    scale = (body["torso"] + body["pelvis_height"]) / sum(rows[name][sex]["length"] for name in names)
    top = body["torso"]
    parts = {}
    for name in names:
        row = rows[name][sex]
        length = scale * row["length"]
        com = np.array([0.0, 0.0, top - row["com"] * length])
        parts[name] = SegmentInertia(row["mass"], com, row["mass"] * length**2 * np.diag(np.array(row["radii"]) ** 2))
        top -= length
    if segment.name == "pelvis":
        return parts["lower_trunk"]
    torso = parts["upper_trunk"].combine(parts["middle_trunk"], np.zeros(3))
    turn = _align_long_axis(segment)
    return SegmentInertia(torso.mass, turn @ torso.com, turn @ torso.inertia @ turn.T)


def split_trunk(whole: SegmentInertia, sex: str, trunk: np.ndarray, abdomen: np.ndarray) -> dict[str, SegmentInertia]:
    """Split a torso from L5S1 to C7T1 into abdomen and thorax, with mass ratios of Dumas and Wojtusch 2018.

    Together they have the mass and centre of mass of the whole, and its inertia as far as the tables agree.

    Args:
        whole: about L5S1.
        sex: column of the table.
        trunk: (3,) [m] C7T1 from L5S1.
        abdomen: (3,) [m] T12L1 from L5S1, where the thorax starts.
    """
    rows = read_asset("human_trunk")
    upper, middle = rows["thorax"][sex], rows["abdomen"][sex]
    share = middle["mass"] / (upper["mass"] + middle["mass"])
    parts = {}
    for name, row, mass, low, high in (
        ("abdomen", middle, share, np.zeros(3), abdomen),
        ("torso", upper, 1.0 - share, abdomen, trunk),
    ):
        turn = rotation_between(UP, high - low)
        radii = np.linalg.norm(high - low) * np.array(row["radii"])
        com = high - row["com"] * (high - low)
        inertia = turn @ np.diag(radii**2) @ turn.T
        parts[name] = SegmentInertia(mass * whole.mass, com, mass * whole.mass * inertia)
    moved = whole.com - (share * parts["abdomen"].com + (1.0 - share) * parts["torso"].com)
    return {
        name: SegmentInertia(part.mass, part.com + moved - (abdomen if name == "torso" else 0.0), part.inertia)
        for name, part in parts.items()
    }


def _align_long_axis(segment: Segment) -> np.ndarray:
    """Rotation of the table's long axis to the line between the segment's joint centres (identity at the defaults)."""
    if segment.name in ("torso", "head"):
        return rotation_between(UP, segment.end)
    if segment.name in ("pelvis", "foot"):
        return np.eye(3)
    return rotation_between(UP, -segment.end)


def stack_parameters(links: tuple[str, ...], segments: list[SegmentInertia], mass: float) -> InertialParameters:
    """Inertial parameters of links, with mass fractions scaled to sum to ``mass`` [kg]."""
    factor = mass / sum(s.mass for s in segments)
    return InertialParameters.from_com(
        links,
        np.array([s.mass for s in segments]) * factor,
        np.array([s.com for s in segments]),
        np.array([s.inertia for s in segments]) * factor,
    )
