"""Tables of body segment inertial parameters (BSIP), scaled to a person's segments; their mean is the prior.

Published tables differ by more than people do, because they cut the body in other places: a thigh is 10 % of the body
in one and 14 % in another. The prior is therefore the mean of independent ones: of the logarithms of masses, of centres
of mass, and of second moments over mass. A quantity that a table does not state is left out of the mean.

Every table has the same form, ``assets/rigs/human_<name>.json``. ``parts`` lists for each sex (a study of men stands
for women too) mass as a fraction of the body's, centre of mass and radii of gyration about the axes through it,
``products`` as signed radii, I_xy = sign(r) m (r L)^2, of xy, xz and yz. Axes are the link's: x forward, y left, z up,
of the right side. Lengths are fractions of a ``line``, and the centre of mass is measured from its start:

- ``segment``: from the link's origin (proximal joint; L5S1 of pelvis and torso; C7T1 of the head) to `Segment.end`;
- ``foot``: from the heel to the tip of the toes, at half the ankle's height;
- ``trunk``: down from C7T1 through L5S1 to the height of the hips.

A part with a ``span`` takes that share of the line, which is then its unit. Several parts of a segment are combined.
Masses need not sum to 1; `human` divides by the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.assets import read_asset
from ..base.so3 import rotation_between
from ..values.inertials import InertialParameters, steiner
from .solids import UP

TABLES = ("dumas", "deleva", "winter", "shan")
"""One of each family: de Leva's is Zatsiorsky's data with other end points, Winter's is Dempster's."""
MIRROR = np.diag([1.0, -1.0, 1.0])
"""Reflection from right to left. By definition."""
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


def segment_inertia(tables: Sequence[str], sex: str, segment: Segment, body: Mapping[str, float]) -> SegmentInertia:
    """Mean inertia of a segment over tables, its mass as a fraction of the body mass.

    What none of the tables states is the mean of all others.

    Args:
        tables: some of `TABLES`.
        sex: ``"male"`` or ``"female"``.
        segment: with the person's own length and direction.
        body: further lengths [m] of the body: torso, pelvis_height, ankle_height, foot, heel.
    """
    rows = {table: _table_inertia(table, sex, segment, body) for table in TABLES}
    chosen = [rows[table] for table in tables]
    mass = float(np.exp(np.mean([np.log(row.mass) for row in chosen])))
    com = np.mean([row.com for row in chosen], axis=0)
    stated, others = (
        np.ma.masked_invalid([row.inertia / row.mass for row in some]).mean(axis=0) for some in (chosen, rows.values())
    )
    inertia, projected = nearest_consistent(mass * stated.filled(others.filled(0.0)))
    if segment.side == "left":
        com, inertia = MIRROR @ com, MIRROR @ inertia @ MIRROR
    turn = _align_long_axis(segment)
    return SegmentInertia(mass, turn @ com, turn @ inertia @ turn.T, projected)


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


def _table_inertia(table: str, sex: str, segment: Segment, body: Mapping[str, float]) -> SegmentInertia:
    """A table's inertia of a right segment, before its long axis is aligned; NaN where the table does not state it."""
    total: SegmentInertia | None = None
    for part in read_asset(f"human_{table}")["parts"]:
        if part["segment"] == segment.name:
            row = part.get(sex, part["male"])
            near, far = row.get("span", (0.0, 1.0))
            start, length = _find_line(part["line"], segment, body)
            own = _row_inertia(row, start - near * length * UP, (far - near) * length)
            total = own if total is None else total.combine(own, np.zeros(3))
    assert total is not None
    return total


def _find_line(name: str, segment: Segment, body: Mapping[str, float]) -> tuple[np.ndarray, float]:
    """Start (3,) [m] of a reference line in the link's frame, and its length [m]."""
    if name == "trunk":
        return body["torso"] * UP, body["torso"] + body["pelvis_height"]
    if name == "foot":
        return np.array([-body["heel"], 0.0, -0.5 * body["ankle_height"]]), body["foot"]
    return np.zeros(3), segment.length


def _row_inertia(row: Mapping[str, Any], start: np.ndarray, length: float) -> SegmentInertia:
    inertia = np.diag(np.array(row["radii"], float) ** 2)
    xy, xz, yz = (np.sign(r) * r**2 for r in row.get("products", np.zeros(3)))
    inertia += np.array([[0.0, xy, xz], [xy, 0.0, yz], [xz, yz, 0.0]])
    return SegmentInertia(row["mass"], start + length * np.array(row["com"]), row["mass"] * length**2 * inertia)


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
