"""What is believed before measuring: where landmarks, joint centres and left/right twins are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..person import columns_of
from ..rig import Rig
from ..rigs.human_skeleton import LATERAL_SIGN
from ..rigs.shoulder_girdle import SCAPULA
from .marker_set import MarkerLocation, MarkerSet

CENTRE_STD = 0.008
"""[m] Standard deviation of a joint centre given as a virtual marker."""
FIXED_STD = 1e-4
"""[m] Spread of a coordinate that only fixes a link's axes (the long axis runs between joint centres)."""
JOINT_STDS: dict[str, tuple[float, float, float]] = {
    "abdomen": (FIXED_STD, FIXED_STD, FIXED_STD),
    "torso": (FIXED_STD, FIXED_STD, FIXED_STD),
    "head": (FIXED_STD, FIXED_STD, 0.03),
    "clavicle": (0.02, 0.01, 0.02),
    "scapula": (FIXED_STD, 0.015, FIXED_STD),
    "upper_arm": (0.015, 0.015, 0.02),
    "forearm": (FIXED_STD, 0.008, 0.025),
    "hand": (FIXED_STD, 0.02, 0.025),
    "thigh": (0.02, 0.012, 0.02),
    "shank": (FIXED_STD, 0.01, 0.035),
    "foot": (FIXED_STD, 0.01, 0.035),
}
"""[m] Spread of joint centres about those of a person of that stature, in the parent's axes. A knee's or elbow's axis
need not be square to the bone: the next joint may lie beside the long axis (second number)."""
SHOULDER_ON_SCAPULA_STD = (0.012, FIXED_STD, 0.012)
"""[m] The same of an upper arm that hangs on a scapula: sideways its centre only says how far the scapula is turned."""
SYMMETRY_STD = 0.004
"""[m] Spread of the difference between left and right joint centres."""
REGRESSION_STD = 0.010
"""[m] Spread of the hip centre about its regression from pelvis markers, each axis."""
LUMBAR_RATIOS = {"female": (-0.289, 0.0, 0.172), "male": (-0.264, 0.0, 0.126)}
"""L5S1 from the middle of the ASIS in shares of their distance (Reed et al. 1999, as used with Dumas et al. 2007)."""
LUMBAR_DEPTH_RATIO = 0.5
"""Share of the pelvis depth (ASIS to PSIS) that L5S1 lies behind the ASIS, where the depth was measured. Reed's share
of the ASIS distance puts it 2 to 4 cm further forwards than where trunks turn about the pelvis in walks and squats.
"""
LUMBAR_STD = np.array([0.015, 0.004, 0.010])
"""[m]"""


@dataclass
class LinearPrior:
    """Linear statements sum_i c_i P_i = d +- spread about points P of a rig (joint centres and marker places).

    The unknowns are stacked: J joint centres (3 each, links 1.. in the rig's order), then M marker places.
    """

    joints: Sequence[str]
    markers: Sequence[str]
    rows: list[np.ndarray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    stds: list[float] = field(default_factory=list)

    def joint_index(self, link: str) -> int:
        """First unknown of a link's joint centre."""
        return 3 * list(self.joints).index(link)

    def marker_index(self, index: int) -> int:
        """First unknown of a marker's place."""
        return 3 * (len(self.joints) + index)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 3 * (len(self.joints) + len(self.markers))

    def add(self, terms: Mapping[int, float], value: np.ndarray, std: np.ndarray) -> None:
        """Add three statements (x, y, z): sum of ``terms`` (first unknown: coefficient) is ``value`` +- ``spread``;
        an infinite spread says nothing about that axis."""
        for axis in range(3):
            if np.isfinite(std[axis]):
                row = np.zeros(self.size)
                for place, coefficient in terms.items():
                    row[place + axis] += coefficient
                self.rows.append(row)
                self.values.append(float(value[axis]))
                self.stds.append(float(std[axis]))

    def information_form(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Information matrix (T, T), vector (T,) and constant of all statements: A' S^-2 A, A' S^-2 d, d' S^-2 d."""
        rows = np.array(self.rows) / np.array(self.stds)[:, None]
        values = np.array(self.values) / np.array(self.stds)
        return rows.T @ rows, rows.T @ values, float(values @ values)


def build_prior(
    rig: Rig,
    marker_set: MarkerSet,
    names: Sequence[str],
    locations: Sequence[MarkerLocation],
    dimensions: Mapping[str, float],
    std_factor: float = 1.0,
) -> LinearPrior:
    """All beliefs about a person before the fit.

    Args:
        rig: of that stature; its joint centres are the expected ones.
        marker_set: to which ``names`` belong.
        names: recorded markers.
        locations: their expected places.
        dimensions: measured distances [m]: ``asis_width`` and ``pelvis_depth`` where the markers show them.
        std_factor: factor on the spread of joint centres, for an unknown stature.
    """
    joints = {link: np.array(rig.model.jointPlacements[k + 1].translation) for k, link in enumerate(rig.links) if k}
    stature = float(rig.provenance["height"])  # type: ignore[arg-type]
    result = LinearPrior(tuple(joints), tuple(names))
    regressed = {"asis_width", "pelvis_depth"} <= dimensions.keys()
    for link, centre in joints.items():
        if regressed and _without_side(link) == "thigh":
            continue  # its pelvis tells more than stature, by which hips lie 20 to 30 mm higher and 8 mm further in
        hangs = _without_side(link) == "upper_arm" and _without_side(rig.links[rig.parents[rig.index(link)]]) == SCAPULA
        spread = np.array(SHOULDER_ON_SCAPULA_STD if hangs else JOINT_STDS[_without_side(link)])
        result.add({result.joint_index(link): 1.0}, centre, np.where(spread > FIXED_STD, std_factor * spread, spread))
    for index, place in enumerate(locations):
        terms = {result.marker_index(index): 1.0}
        if place.reference_joint is not None and place.fraction:
            terms[result.joint_index(place.reference_joint)] = -place.fraction
        result.add(terms, stature * place.offset, place.std)
    for left, right in rig.pairs:
        mirror = np.array([1.0, -1.0, 1.0])
        for axis in range(3):
            spread = np.full(3, np.inf)
            spread[axis] = SYMMETRY_STD
            terms = {result.joint_index(left): 1.0, result.joint_index(right): -mirror[axis]}
            result.add(terms, np.zeros(3), spread)
    _add_pelvis(result, marker_set, names, dimensions, str(rig.provenance["sex"]))
    return result


def move_to_carrying_link(rig: Rig, location: MarkerLocation) -> MarkerLocation:
    """A place that is measured from a joint centre, on the link that carries that joint on this rig: an acromion lies
    on the scapula where there is one."""
    if location.reference_joint is None:
        return location
    return replace(location, link=rig.links[rig.parents[rig.index(location.reference_joint)]])


def joint_centre_location(rig: Rig, link: str) -> MarkerLocation:
    """Expected place of a virtual marker in a link's joint centre, carried by the parent link."""
    parent = rig.links[rig.parents[rig.index(link)]]
    return MarkerLocation(parent, link, 1.0, np.zeros(3), np.full(3, CENTRE_STD), False)


def _add_pelvis(
    prior: LinearPrior, marker_set: MarkerSet, names: Sequence[str], dimensions: Mapping[str, float], sex: str
) -> None:
    """Axes and centres of the pelvis from its markers.

    Axes: x-y plane through both ASIS and the middle of the PSIS, y along the ASIS (Dumas et al. 2007). Hip centres:
    regression of Harrington et al. 2007 on ASIS distance and pelvis depth; L5S1: Reed et al. 1999.
    """
    found = {landmark: k for k, name in enumerate(names) if (landmark := marker_set.find_landmark(name))}
    if "left asis" not in found or "right asis" not in found or "asis_width" not in dimensions:
        return
    left, right = prior.marker_index(found["left asis"]), prior.marker_index(found["right asis"])
    front = {left: 0.5, right: 0.5}
    width = dimensions["asis_width"]
    prior.add({left: 1.0, right: -1.0}, np.array([0.0, width, 0.0]), np.array([0.002, 0.003, 0.002]))
    depth = dimensions.get("pelvis_depth")
    lumbar = width * np.mean([LUMBAR_RATIOS[each] for each in columns_of(sex)], axis=0)
    if depth is not None:
        lumbar[0] = -LUMBAR_DEPTH_RATIO * depth
    prior.add(front, -lumbar, LUMBAR_STD)
    back = _back_of_pelvis(prior, found)
    if back:
        level = {**front, **{place: -share for place, share in back.items()}}
        prior.add(level, np.zeros(3), np.array([np.inf, 0.006, 0.002]))
    if depth is None:
        return
    for side, outwards in LATERAL_SIGN.items():
        terms = {prior.joint_index(f"{side}_thigh"): 1.0, left: -0.5, right: -0.5}
        centre = np.array([-0.24 * depth - 0.0099, outwards * (0.33 * width + 0.0073), -0.30 * width - 0.0109])
        prior.add(terms, centre, np.full(3, REGRESSION_STD))


def _back_of_pelvis(prior: LinearPrior, found: Mapping[str, int]) -> dict[int, float]:
    if "left psis" in found and "right psis" in found:
        return {prior.marker_index(found["left psis"]): 0.5, prior.marker_index(found["right psis"]): 0.5}
    if "sacrum" in found:
        return {prior.marker_index(found["sacrum"]): 1.0}
    return {}


def _without_side(link: str) -> str:
    return link.removeprefix("left_").removeprefix("right_")
