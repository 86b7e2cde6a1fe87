"""Joint centres of a person, from default or measured lengths or measured, and the shapes of the segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..base.assets import read_asset
from ..base.errors import InvalidValue, UnknownLink, UnknownName
from ..values.person import CHAINS, GIRDLE, LINKS, SIDES, TABLED, columns_of
from ..values.shape import ContactPolygon, Shape
from .shoulder_girdle import CLAVICLE, SCAPULA, girdle_joints
from .solids import box, capsule, ellipsoid

CENTRAL_LENGTHS = ("pelvis_width", "pelvis_height", "torso", "shoulder_width", "head")
SIDED_LENGTHS = ("shoulder_drop", "upper_arm", "forearm", "hand", "thigh", "shank", "foot", "ankle_height")
ABDOMEN = "abdomen"
LATERAL_SIGN = {"right": -1.0, "left": 1.0}
"""Of the y axis, which points to the left. By definition."""


class UnknownLength(UnknownName):
    """There is no segment length of that name."""

    kind = "segment length"


@dataclass(frozen=True, slots=True)
class HumanSkeleton:
    """Joint centres of the fifteen links, sixteen with an abdomen, four more with a shoulder girdle.

    Attributes:
        sex: one of `solver.values.person.SEXES`.
        lengths: [m] central ones by name, sided ones as ``"right_thigh"``; as measured between ``joints``.
        joints: (3,) [m] joint centre of each link but the pelvis, in the parent link's frame.
        ends: (3,) [m] far end of each link in its own frame; of the foot the middle of the metatarsal heads.
    """

    sex: str
    lengths: Mapping[str, float]
    joints: Mapping[str, np.ndarray]
    ends: Mapping[str, np.ndarray]

    @staticmethod
    def segment(link: str) -> str:
        """``"thigh"`` of ``"left_thigh"``."""
        return link.removeprefix("right_").removeprefix("left_")

    @staticmethod
    def side(link: str) -> str:
        """``"left"`` of ``"left_thigh"``, empty for a central link."""
        return link.split("_")[0] if link.startswith(("right_", "left_")) else ""

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links, depth first."""
        return tuple(self.ends)

    def parent(self, link: str) -> str | None:
        """Parent link, None for the pelvis."""
        if link == "pelvis":
            return None
        name, side = HumanSkeleton.segment(link), HumanSkeleton.side(link)
        if name in GIRDLE:
            return "torso" if name == CLAVICLE else f"{side}_{CLAVICLE}"
        if name == "upper_arm" and self.has_girdle:
            return f"{side}_{SCAPULA}"
        for chain, base in zip(CHAINS, ("torso", "pelvis")):
            if name in chain:
                place = chain.index(name)
                return f"{side}_{chain[place - 1]}" if place else base
        below = ABDOMEN if ABDOMEN in self.joints else "pelvis"
        return {ABDOMEN: "pelvis", "torso": below, "head": "torso"}[link]

    @property
    def has_girdle(self) -> bool:
        """Whether the upper arms are attached to clavicle and scapula."""
        return f"right_{SCAPULA}" in self.joints

    def shoulder(self, side: str) -> np.ndarray:
        """(3,) [m] centre of a side's shoulder in the torso's frame, at rest."""
        return shoulder_centre(self.joints, side)

    def heel(self, link: str) -> float:
        """Horizontal distance [m] from the ankle back to the end of the heel."""
        return float(read_asset("human_body")["heel_share_of_foot"] * self.lengths[link])

    def toe(self, link: str) -> float:
        """Horizontal distance [m] from the ankle forward to the end of the toes."""
        return float(self.lengths[link] - self.heel(link))


def shoulder_centre(joints: Mapping[str, np.ndarray], side: str) -> np.ndarray:
    """Centre of a side's shoulder (3,) [m] in the torso's frame at rest, from joint centres in parents' frames."""
    chain = [f"{side}_{name}" for name in (*GIRDLE, "upper_arm")]
    return np.sum([joints[link] for link in chain if link in joints], axis=0)


def default_lengths(height: float, sex: str) -> dict[str, float]:
    """`CENTRAL_LENGTHS` and `SIDED_LENGTHS` [m] (without side) of a person of a stature [m]."""
    dumas, body = read_asset("human_dumas"), read_asset("human_body")
    ratios = {
        name: column_mean({each: dumas["lengths"][each][name] / dumas["stature"][each] for each in TABLED}, sex)
        for name in dumas["lengths"][TABLED[0]]
    }
    shares = body["stature_ratios"]
    ratios |= {name: column_mean({each: shares[each][name] for each in TABLED}, sex) for name in shares[TABLED[0]]}
    return {name: height * ratios[name] for name in (*CENTRAL_LENGTHS, *SIDED_LENGTHS)}


def column_mean(columns: Mapping[str, float], sex: str) -> float:
    """A value of a table for a sex, or the mean of both columns if the sex is unknown."""
    return float(np.mean([columns[each] for each in columns_of(sex)]))


def build_skeleton(
    height: float,
    sex: str,
    lengths: Mapping[str, float],
    joints: Mapping[str, Sequence[float]],
    trunk: str = "one",
    shoulders: str = "fixed",
) -> HumanSkeleton:
    """Build the skeleton of a person; see `solver.rigs.human` for the arguments.

    Raises:
        UnknownLength, UnknownLink: an unknown name.
        InvalidValue: a length that is not positive, or a joint centre that is not three finite numbers.
    """
    resolved = _resolve_lengths(height, sex, lengths)
    centres = _default_joints(height, sex, resolved)
    if trunk == "three":
        centres = _with_abdomen(sex, resolved, centres)
    if shoulders == "girdle":
        centres = _with_girdle(height, centres)
    for link, position in joints.items():
        if link not in centres:
            raise UnknownLink(link, centres)
        centre = np.array(position, float)
        if centre.shape != (3,) or not np.isfinite(centre).all():
            raise InvalidValue(f"joint centre of {link!r} must be three finite numbers in metres, got {position!r}")
        centres[link] = centre
    ends = _segment_ends(sex, resolved, centres)
    for name, end in ends.items():
        if np.linalg.norm(end) < 1e-3:
            raise InvalidValue(f"link {name!r} has no length: its next joint centre is at its origin")
    return HumanSkeleton(sex, _measure_lengths(resolved, centres, ends), centres, ends)


def _resolve_lengths(height: float, sex: str, given: Mapping[str, float]) -> dict[str, float]:
    defaults = default_lengths(height, sex)
    sided = {f"{side}_{name}" for side in SIDES for name in SIDED_LENGTHS}
    for name, value in given.items():
        if name not in defaults and name not in sided:
            raise UnknownLength(name, (*defaults, *sorted(sided)))
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidValue(f"segment length {name!r} must be a positive number of metres, got {value!r}")
    result = {name: float(given.get(name, defaults[name])) for name in CENTRAL_LENGTHS}
    for side in SIDES:
        for name in SIDED_LENGTHS:
            result[f"{side}_{name}"] = float(given.get(f"{side}_{name}", given.get(name, defaults[name])))
    return result


def _default_joints(height: float, sex: str, lengths: Mapping[str, float]) -> dict[str, np.ndarray]:
    body = read_asset("human_body")
    ahead = column_mean(body["hip_ahead_of_l5s1_per_pelvis_height"], sex) * lengths["pelvis_height"]
    shoulder = body["shoulder_ahead_of_c7t1"] * height
    joints = {"torso": np.zeros(3), "head": np.array([0.0, 0.0, lengths["torso"]])}
    for side in SIDES:
        out = 0.5 * LATERAL_SIGN[side]
        drop = lengths["torso"] - lengths[f"{side}_shoulder_drop"]
        joints[f"{side}_upper_arm"] = np.array([shoulder, out * lengths["shoulder_width"], drop])
        joints[f"{side}_thigh"] = np.array([ahead, out * lengths["pelvis_width"], -lengths["pelvis_height"]])
        for chain in CHAINS:
            for name, following in pairwise(chain):
                joints[f"{side}_{following}"] = np.array([0.0, 0.0, -lengths[f"{side}_{name}"]])
    return {link: joints[link] for link in LINKS if link != "pelvis"}


def _with_abdomen(sex: str, lengths: Mapping[str, float], joints: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same joint centres with a torso that starts at T12L1, at the end of an abdomen that starts at L5S1."""
    up = np.array([0.0, 0.0, column_mean(read_asset("human_trunk")["abdomen_share_of_torso"], sex) * lengths["torso"]])
    result = {ABDOMEN: np.zeros(3)}
    for link, centre in joints.items():
        on_torso = HumanSkeleton.segment(link) in ("head", "upper_arm")
        result[link] = up if link == "torso" else centre - up if on_torso else centre
    return result


def _with_girdle(height: float, joints: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same joint centres with clavicle and scapula before the upper arms."""
    result: dict[str, np.ndarray] = {}
    for link, centre in joints.items():
        if HumanSkeleton.segment(link) == "upper_arm":
            side = HumanSkeleton.side(link)
            result |= {f"{side}_{name}": place for name, place in girdle_joints(height, side, centre).items()}
        else:
            result[link] = centre
    return result


def _segment_ends(sex: str, lengths: Mapping[str, float], joints: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    hips = 0.5 * (joints["right_thigh"] + joints["left_thigh"])
    ends = {"pelvis": np.array([hips[0], 0.0, hips[2]])}
    ends |= {ABDOMEN: joints["torso"]} if ABDOMEN in joints else {}
    ends["torso"] = joints["head"]
    ends["head"] = np.array([0.0, 0.0, lengths["head"]])
    metatarsals = column_mean(read_asset("human_body")["ankle_to_metatarsals_share_of_foot"], sex)
    for side in SIDES:
        for name, following in pairwise((*GIRDLE, "upper_arm")):
            if f"{side}_{name}" in joints:
                ends[f"{side}_{name}"] = joints[f"{side}_{following}"]
        for chain in CHAINS:
            for name, following in pairwise(chain):
                ends[f"{side}_{name}"] = joints[f"{side}_{following}"]
        ends[f"{side}_hand"] = np.array([0.0, 0.0, -lengths[f"{side}_hand"]])
        ends[f"{side}_foot"] = np.array([metatarsals * lengths[f"{side}_foot"], 0.0, 0.0])
    return {link: ends[link] for link in ("pelvis", *joints)}


def _measure_lengths(
    lengths: Mapping[str, float], joints: Mapping[str, np.ndarray], ends: Mapping[str, np.ndarray]
) -> dict[str, float]:
    result = dict(lengths)
    result["torso"] = float(np.linalg.norm(ends["torso"] + ends.get(ABDOMEN, 0.0)))
    result["pelvis_height"] = float(-ends["pelvis"][2])
    result["pelvis_width"] = float(np.linalg.norm(joints["left_thigh"] - joints["right_thigh"]))
    right, left = (shoulder_centre(joints, side) for side in SIDES)
    result["shoulder_width"] = float(np.linalg.norm(left - right))
    for side in SIDES:
        result[f"{side}_shoulder_drop"] = float(joints["head"][2] - shoulder_centre(joints, side)[2])
        for name in ("upper_arm", "forearm", "thigh", "shank"):
            result[f"{side}_{name}"] = float(np.linalg.norm(ends[f"{side}_{name}"]))
    return result


def width_unit(height: float, mass: float) -> float:
    """[m] Unit of widths: the stature, scaled with the square root of mass over stature cubed."""
    build = mass / height**3 / read_asset("human_body")["reference_mass_over_stature_cubed"]
    return float(height * np.sqrt(build))


def segment_box(skeleton: HumanSkeleton, link: str, unit: float) -> np.ndarray:
    """(2, 3) [m] segment-aligned bounding box of a link; ``unit`` from `girth`."""
    name = skeleton.segment(link)
    around = read_asset("human_body")["boxes"][name]
    margin_low = unit * np.array([around["back"], around["side"], around["below"]])
    margin_high = unit * np.array([around["front"], around["side"], around["above"]])
    near, far = np.zeros(3), skeleton.ends[link]
    if name == "foot":
        near = np.array([-skeleton.heel(link), 0.0, 0.0])
        far = np.array([skeleton.toe(link), 0.0, -skeleton.lengths[f"{skeleton.side(link)}_ankle_height"]])
    return np.array([np.minimum(near, far) - margin_low, np.maximum(near, far) + margin_high])


def build_soles(skeleton: HumanSkeleton) -> tuple[ContactPolygon, ...]:
    """Contact polygons of both feet: heel, ball and toes."""
    return tuple(_build_sole(skeleton, side) for side in ("right", "left"))


def _build_sole(skeleton: HumanSkeleton, side: str) -> ContactPolygon:
    link = f"{side}_foot"
    heel, toe = skeleton.heel(link), skeleton.toe(link)
    foot, down = heel + toe, -skeleton.lengths[f"{side}_ankle_height"]
    outwards = -1.0 if side == "right" else 1.0
    outline = np.array(
        [
            [-heel, -0.11 * foot],
            [-heel, 0.11 * foot],
            [0.62 * toe, 0.20 * foot],
            [0.95 * toe, 0.10 * foot],
            [toe, -0.10 * foot],
            [0.75 * toe, -0.18 * foot],
        ]
    )
    outline[:, 1] *= outwards
    if side == "left":  # reflection reversed the order of the corners
        outline = outline[::-1]
    vertices = np.column_stack([outline, np.full(len(outline), down)])
    normal = np.cross(vertices[1] - vertices[0], vertices[2] - vertices[1])
    if normal[2] > 0:
        vertices = vertices[::-1]
    return ContactPolygon(f"{side}_sole", link, vertices, toes=True)


def segment_shapes(skeleton: HumanSkeleton, link: str, unit: float) -> tuple[Shape, ...]:
    """Collision and display shapes of a link.

    Widths are fractions of the stature at a mass over stature cubed of 14 kg/m^3 and grow with the square root of that
    ratio, so that the volume is proportional to the mass.
    """
    name, end = skeleton.segment(link), skeleton.ends[link]
    if name == "pelvis":
        out = np.array([0.0, 0.4 * skeleton.lengths["pelvis_width"], 0.0])
        middle = end * 0.6
        return (
            capsule(link, end - out, end + out, 0.046 * unit),
            ellipsoid(link, middle, unit * np.array([0.062, 0.080, 0.050])),
        )
    if name == "torso":
        long, ahead = float(np.linalg.norm(end)), np.array([0.005 * unit, 0.0, 0.0])
        neck, out = 0.97 * end - [0.0, 0.0, 0.02 * unit], np.array([0.0, 0.045 * unit, 0.0])
        if skeleton.parent(link) != "pelvis":
            return (
                ellipsoid(link, 0.42 * end + ahead, [0.066 * unit, 0.086 * unit, 0.58 * long]),
                capsule(link, neck - out, neck + out, 0.024 * unit),
            )
        return (
            ellipsoid(link, 0.64 * end + ahead, [0.066 * unit, 0.086 * unit, 0.36 * long]),
            ellipsoid(link, 0.20 * end + ahead, [0.058 * unit, 0.074 * unit, 0.26 * long]),
            capsule(link, neck - out, neck + out, 0.024 * unit),
        )
    if name == "abdomen":
        ahead = np.array([0.005 * unit, 0.0, 0.0])
        return (ellipsoid(link, 0.45 * end + ahead, [0.058 * unit, 0.074 * unit, 0.58 * float(np.linalg.norm(end))]),)
    if name == "head":
        skull = float(np.linalg.norm(end))
        return (
            ellipsoid(link, 0.64 * end + [0.008 * unit, 0.0, 0.0], [0.056 * unit, 0.044 * unit, 0.36 * skull]),
            capsule(link, 0.0 * end, 0.35 * end, 0.030 * unit),
        )
    if name == "foot":
        side = skeleton.side(link)
        heel, toe, height = skeleton.heel(link), skeleton.toe(link), skeleton.lengths[f"{side}_ankle_height"]
        half = 0.20 * (heel + toe)
        return (
            box(link, [-heel, -half, -height], [toe, half, -0.55 * height]),
            capsule(link, np.zeros(3), [0.35 * toe, 0.0, -0.45 * height], 0.40 * height),
        )
    if name == "clavicle":
        return (capsule(link, 0.05 * end, 0.95 * end, 0.006 * unit),)
    if name == "scapula":
        inwards = unit * np.array([-0.022, 0.022 if skeleton.side(link) == "right" else -0.022, -0.030])
        return (ellipsoid(link, inwards, unit * np.array([0.016, 0.030, 0.044])),)
    if name == "hand":
        return (ellipsoid(link, 0.5 * end, [0.014 * unit, 0.021 * unit, 0.5 * float(np.linalg.norm(end))]),)
    first, last, radius = LIMB_CAPSULES[name]
    return (capsule(link, first * end, last * end, radius * unit),)


LIMB_CAPSULES = {
    "upper_arm": (0.05, 0.95, 0.0265),
    "forearm": (0.05, 0.95, 0.0205),
    "thigh": (0.08, 0.95, 0.0425),
    "shank": (0.04, 0.94, 0.0300),
}
"""Capsules of the limbs: positions of the end spheres as fractions of the segment, radius as fraction of the
stature."""
