"""What is believed before measuring: where landmarks, joint centres and left/right twins are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..person import columns_of
from ..rig import Rig
from ..rigs.girdle import SCAPULA
from ..rigs.skeleton import LATERAL
from .markerset import MarkerSet, Place

CENTRE_SPREAD = 0.008
"""[m] Standard deviation of a joint centre given as a virtual marker."""
TIGHT = 1e-4
"""[m] Spread of a coordinate that only fixes a link's axes (the long axis runs between joint centres)."""
JOINT_SPREADS: dict[str, tuple[float, float, float]] = {
    "abdomen": (TIGHT, TIGHT, TIGHT),
    "torso": (TIGHT, TIGHT, TIGHT),
    "head": (TIGHT, TIGHT, 0.03),
    "clavicle": (0.02, 0.01, 0.02),
    "scapula": (TIGHT, 0.015, TIGHT),
    "upper_arm": (0.015, 0.015, 0.02),
    "forearm": (TIGHT, 0.008, 0.025),
    "hand": (TIGHT, 0.02, 0.025),
    "thigh": (0.02, 0.012, 0.02),
    "shank": (TIGHT, 0.01, 0.035),
    "foot": (TIGHT, 0.01, 0.035),
}
"""[m] Spread of joint centres about those of a person of that stature, in the parent's axes. A knee's or elbow's axis
need not be square to the bone: the next joint may lie beside the long axis (second number)."""
ON_SCAPULA = (0.012, TIGHT, 0.012)
"""[m] The same of an upper arm that hangs on a scapula: sideways its centre only says how far the scapula is turned."""
TWIN_SPREAD = 0.004
"""[m] Spread of the difference between left and right joint centres."""
REGRESSION_SPREAD = 0.010
"""[m] Spread of the hip centre about its regression from pelvis markers, each axis."""
LUMBAR = {"female": (-0.289, 0.0, 0.172), "male": (-0.264, 0.0, 0.126)}
"""L5S1 from the middle of the ASIS in shares of their distance (Reed et al. 1999, as used with Dumas et al. 2007)."""
LUMBAR_DEPTH = 0.5
"""Share of the pelvis depth (ASIS to PSIS) that L5S1 lies behind the ASIS, where the depth was measured. Reed's share
of the ASIS distance puts it 2 to 4 cm further forwards than where trunks turn about the pelvis in walks and squats.
"""
LUMBAR_SPREAD = np.array([0.015, 0.004, 0.010])
"""[m]"""


@dataclass
class Beliefs:
    """Linear statements sum_i c_i P_i = d +- spread about points P of a rig (joint centres and marker places).

    The unknowns are stacked: J joint centres (3 each, links 1.. in the rig's order), then M marker places.
    """

    joints: Sequence[str]
    markers: Sequence[str]
    rows: list[np.ndarray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)

    def joint(self, link: str) -> int:
        """First unknown of a link's joint centre."""
        return 3 * list(self.joints).index(link)

    def marker(self, index: int) -> int:
        """First unknown of a marker's place."""
        return 3 * (len(self.joints) + index)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 3 * (len(self.joints) + len(self.markers))

    def believe(self, terms: Mapping[int, float], value: np.ndarray, spread: np.ndarray) -> None:
        """Add three statements (x, y, z): sum of ``terms`` (first unknown: coefficient) is ``value`` +- ``spread``;
        an infinite spread says nothing about that axis."""
        for axis in range(3):
            if np.isfinite(spread[axis]):
                row = np.zeros(self.size)
                for place, coefficient in terms.items():
                    row[place + axis] += coefficient
                self.rows.append(row)
                self.values.append(float(value[axis]))
                self.spreads.append(float(spread[axis]))

    def quadratic(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Information matrix (T, T), vector (T,) and constant of all statements: A' S^-2 A, A' S^-2 d, d' S^-2 d."""
        rows = np.array(self.rows) / np.array(self.spreads)[:, None]
        values = np.array(self.values) / np.array(self.spreads)
        return rows.T @ rows, rows.T @ values, float(values @ values)


def beliefs_of(
    rig: Rig,
    marker_set: MarkerSet,
    names: Sequence[str],
    places: Sequence[Place],
    dimensions: Mapping[str, float],
    loosened: float = 1.0,
) -> Beliefs:
    """All beliefs about a person before the fit.

    Args:
        rig: of that stature; its joint centres are the expected ones.
        marker_set: to which ``names`` belong.
        names: recorded markers.
        places: their expected places.
        dimensions: measured distances [m]: ``asis_width`` and ``pelvis_depth`` where the markers show them.
        loosened: factor on the spread of joint centres, for an unknown stature.
    """
    joints = {link: np.array(rig.model.jointPlacements[k + 1].translation) for k, link in enumerate(rig.links) if k}
    stature = float(rig.provenance["height"])  # type: ignore[arg-type]
    result = Beliefs(tuple(joints), tuple(names))
    regressed = {"asis_width", "pelvis_depth"} <= dimensions.keys()
    for link, centre in joints.items():
        if regressed and _segment(link) == "thigh":
            continue  # its pelvis tells more than stature, by which hips lie 20 to 30 mm higher and 8 mm further in
        hangs = _segment(link) == "upper_arm" and _segment(rig.links[rig.parents[rig.index(link)]]) == SCAPULA
        spread = np.array(ON_SCAPULA if hangs else JOINT_SPREADS[_segment(link)])
        result.believe({result.joint(link): 1.0}, centre, np.where(spread > TIGHT, loosened * spread, spread))
    for index, place in enumerate(places):
        terms = {result.marker(index): 1.0}
        if place.child is not None and place.fraction:
            terms[result.joint(place.child)] = -place.fraction
        result.believe(terms, stature * place.offset, place.spread)
    for left, right in rig.pairs:
        mirror = np.array([1.0, -1.0, 1.0])
        for axis in range(3):
            spread = np.full(3, np.inf)
            spread[axis] = TWIN_SPREAD
            terms = {result.joint(left): 1.0, result.joint(right): -mirror[axis]}
            result.believe(terms, np.zeros(3), spread)
    _pelvis(result, marker_set, names, dimensions, str(rig.provenance["sex"]))
    return result


def carried(rig: Rig, place: Place) -> Place:
    """A place that is measured from a joint centre, on the link that carries that joint on this rig: an acromion lies
    on the scapula where there is one."""
    if place.child is None:
        return place
    return replace(place, link=rig.links[rig.parents[rig.index(place.child)]])


def joint_centre_place(rig: Rig, link: str) -> Place:
    """Expected place of a virtual marker in a link's joint centre, carried by the parent link."""
    parent = rig.links[rig.parents[rig.index(link)]]
    return Place(parent, link, 1.0, np.zeros(3), np.full(3, CENTRE_SPREAD), False)


def _pelvis(
    result: Beliefs, marker_set: MarkerSet, names: Sequence[str], dimensions: Mapping[str, float], sex: str
) -> None:
    """Axes and centres of the pelvis from its markers.

    Axes: x-y plane through both ASIS and the middle of the PSIS, y along the ASIS (Dumas et al. 2007). Hip centres:
    regression of Harrington et al. 2007 on ASIS distance and pelvis depth; L5S1: Reed et al. 1999.
    """
    found = {landmark: k for k, name in enumerate(names) if (landmark := marker_set.landmark_of(name))}
    if "left asis" not in found or "right asis" not in found or "asis_width" not in dimensions:
        return
    left, right = result.marker(found["left asis"]), result.marker(found["right asis"])
    front = {left: 0.5, right: 0.5}
    width = dimensions["asis_width"]
    result.believe({left: 1.0, right: -1.0}, np.array([0.0, width, 0.0]), np.array([0.002, 0.003, 0.002]))
    depth = dimensions.get("pelvis_depth")
    lumbar = width * np.mean([LUMBAR[each] for each in columns_of(sex)], axis=0)
    if depth is not None:
        lumbar[0] = -LUMBAR_DEPTH * depth
    result.believe(front, -lumbar, LUMBAR_SPREAD)
    back = _back(result, found)
    if back:
        level = {**front, **{place: -share for place, share in back.items()}}
        result.believe(level, np.zeros(3), np.array([np.inf, 0.006, 0.002]))
    if depth is None:
        return
    for side, outwards in LATERAL.items():
        terms = {result.joint(f"{side}_thigh"): 1.0, left: -0.5, right: -0.5}
        centre = np.array([-0.24 * depth - 0.0099, outwards * (0.33 * width + 0.0073), -0.30 * width - 0.0109])
        result.believe(terms, centre, np.full(3, REGRESSION_SPREAD))


def _back(result: Beliefs, found: Mapping[str, int]) -> dict[int, float]:
    if "left psis" in found and "right psis" in found:
        return {result.marker(found["left psis"]): 0.5, result.marker(found["right psis"]): 0.5}
    if "sacrum" in found:
        return {result.marker(found["sacrum"]): 1.0}
    return {}


def _segment(link: str) -> str:
    return link.removeprefix("left_").removeprefix("right_")
