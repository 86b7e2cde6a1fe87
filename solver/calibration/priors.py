"""The prior of a calibration: landmarks, joint centres and their left/right symmetry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..rigs.human_skeleton import LATERAL_SIGN
from ..rigs.shoulder_girdle import SCAPULA
from ..skeleton.rig import Rig
from ..values.person import columns_of
from .marker_set import MarkerLocation, MarkerSet

CENTRE_STD = 0.008
"""[m] Standard deviation of a joint centre given as a virtual marker."""
FIXED_STD = 1e-4
"""[m] Standard deviation of a coordinate that only fixes a link's axes (the long axis runs between joint centres)."""
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
"""[m] Standard deviation of joint centres about those of a person of that stature, in the parent's axes. A knee's or
elbow's axis need not be perpendicular to the bone: the next joint may lie beside the long axis (second number)."""
SHOULDER_ON_SCAPULA_STD = (0.012, FIXED_STD, 0.012)
"""[m] The same of an upper arm on a scapula; sideways its centre is determined by the scapula's rotation."""
SYMMETRY_STD = 0.004
"""[m] Standard deviation of the difference between left and right joint centres. Measured on a simulated dance of 3 s,
whose joint centres are 8.6 mm off: half and twice the value end within 0.1 mm."""
REGRESSION_STD = 0.010
"""[m] Standard deviation of the hip centre about its regression from pelvis markers, each axis. Measured on a
simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value give 11.0 and 4.8 mm."""
LUMBAR_RATIOS = {"female": (-0.289, 0.0, 0.172), "male": (-0.264, 0.0, 0.126)}
"""L5S1 from the middle of the ASIS in units of their distance (Reed et al. 1999, as used with Dumas et al. 2007)."""
LUMBAR_DEPTH_RATIO = 0.5
"""Distance of L5S1 behind the ASIS in units of the pelvis depth (ASIS to PSIS), if that was measured. Chosen on
walks and squats, Reed's ratio of the ASIS distance puts it 2 to 4 cm in front of where trunks rotate about the
pelvis."""
LUMBAR_STD = np.array([0.015, 0.004, 0.010])
"""[m]. Measured on a simulated dance of 3 s, whose joint centres are 8.6 mm off: half and twice the value give 8.9 and
8.6 mm."""


@dataclass
class LinearPrior:
    """Linear equations sum_i c_i P_i = d +- std about points P of a rig (joint centres and marker locations).

    The unknowns are stacked: J joint centres (3 each, links 1.. in the rig's order), then M marker locations.
    """

    joints: Sequence[str]
    markers: Sequence[str]
    rows: list[np.ndarray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    stds: list[float] = field(default_factory=list)

    def joint_index(self, link: str) -> int:
        """Index of the first unknown of a link's joint centre."""
        return 3 * list(self.joints).index(link)

    def marker_index(self, index: int) -> int:
        """Index of the first unknown of a marker's location."""
        return 3 * (len(self.joints) + index)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 3 * (len(self.joints) + len(self.markers))

    def add(self, terms: Mapping[int, float], value: np.ndarray, std: np.ndarray) -> None:
        """Adds three equations (x, y, z): the sum of ``terms`` (first unknown: coefficient) is ``value`` +- ``std``; an
        infinite std adds none for that axis.
        """
        for axis in range(3):
            if np.isfinite(std[axis]):
                row = np.zeros(self.size)
                for index, coefficient in terms.items():
                    row[index + axis] += coefficient
                self.rows.append(row)
                self.values.append(float(value[axis]))
                self.stds.append(float(std[axis]))

    def information_form(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Information matrix (T, T), vector (T,) and constant of all equations: A' S^-2 A, A' S^-2 d, d' S^-2 d."""
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
    """The prior of a person's joint centres and marker locations.

    Args:
        rig: of that stature; its joint centres are the prior means.
        marker_set: to which ``names`` belong.
        names: recorded markers.
        locations: their expected locations.
        dimensions: measured distances [m]: ``asis_width`` and ``pelvis_depth`` if the markers determine them.
        std_factor: factor on the standard deviation of joint centres, for an unknown stature.
    """
    joints = {link: np.array(joint.position) for link, joint in list(zip(rig.links, rig.joints))[1:]}
    stature = float(rig.provenance["height"])  # type: ignore[arg-type]
    result = LinearPrior(tuple(joints), tuple(names))
    regressed = {"asis_width", "pelvis_depth"} <= dimensions.keys()
    for link, centre in joints.items():
        if regressed and _without_side(link) == "thigh":
            continue  # its pelvis markers say more than stature, which puts hips 20 to 30 mm higher and 8 mm further in
        on_scapula = (
            _without_side(link) == "upper_arm" and _without_side(rig.links[rig.parents[rig.index(link)]]) == SCAPULA
        )
        std = np.array(SHOULDER_ON_SCAPULA_STD if on_scapula else JOINT_STDS[_without_side(link)])
        result.add({result.joint_index(link): 1.0}, centre, np.where(std > FIXED_STD, std_factor * std, std))
    for index, location in enumerate(locations):
        terms = {result.marker_index(index): 1.0}
        if location.reference_joint is not None and location.fraction:
            terms[result.joint_index(location.reference_joint)] = -location.fraction
        result.add(terms, stature * location.offset, location.std)
    for left, right in rig.pairs:
        mirror = np.array([1.0, -1.0, 1.0])
        for axis in range(3):
            std = np.full(3, np.inf)
            std[axis] = SYMMETRY_STD
            terms = {result.joint_index(left): 1.0, result.joint_index(right): -mirror[axis]}
            result.add(terms, np.zeros(3), std)
    _add_pelvis(result, marker_set, names, dimensions, str(rig.provenance["sex"]))
    return result


def joint_centre_location(rig: Rig, link: str) -> MarkerLocation:
    """Expected location of a virtual marker at a link's joint centre, on the parent link."""
    parent = rig.links[rig.parents[rig.index(link)]]
    return MarkerLocation(parent, link, 1.0, np.zeros(3), np.full(3, CENTRE_STD), False)


def _add_pelvis(
    prior: LinearPrior, marker_set: MarkerSet, names: Sequence[str], dimensions: Mapping[str, float], sex: str
) -> None:
    """Adds the axes and joint centres of the pelvis, from its markers.

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
    if back := _back_of_pelvis(prior, found):
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
