"""The human rig: fifteen segments and 34 joint degrees of freedom, or twelve and 23.

``"34dof"`` is the body of jovic2016 (section V) and of ayusawa: ten spherical and four revolute joints (elbows,
knees). ``"23dof"`` is that of bonnet2016 (section II.A): twelve segments. The paper does not list its joints; the
count follows from lumbar 3, shoulders 3, elbows 1, hips 3, knees 1, ankles 2 (pitch, then roll): 3 + 2 (3 + 1) +
2 (3 + 1 + 2) = 23, with the head as part of the torso and the hands as parts of the forearms. (The paper's optimisation
lists 12 joints of head, arms and trunk and 12 of the legs, one more than its 23.)

Frames: at neutral (standing, arms hanging, palms and feet forward) every link frame is parallel to the world, x
forward, y left, z up, with its origin in the proximal joint centre; the pelvis and torso both start at L5S1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.assets import read_asset
from ..base.errors import InvalidValue, checked
from ..dynamics import link_poses
from ..skeleton.rig import PRIOR_SPREAD, Rig
from ..values.inertials import InertialParameters
from ..values.person import GIRDLE, SEXES, SHOULDERS, SIDES, TRUNKS, UNKNOWN, columns_of, describe_build, require_person
from ..values.shape import Shape
from .anthropometry import TABLES, Segment, SegmentInertia, segment_inertia, split_trunk, stack_parameters
from .assembly import MovingBody, assemble
from .human_skeleton import (
    ABDOMEN,
    LATERAL_SIGN,
    HumanSkeleton,
    build_skeleton,
    build_soles,
    segment_box,
    segment_shapes,
    width_unit,
)
from .shoulder_girdle import girdle_axes, split_girdle

VARIANTS = ("34dof", "23dof")
MERGED_LINKS = {"34dof": (), "23dof": ("head", "right_hand", "left_hand")}
"""Links that are fixed to their parent, by variant."""
PITCH, ROLL = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
SPHERICAL = (ROLL, PITCH, (0.0, 0.0, 1.0))
ELBOW, KNEE = ((0.0, -1.0, 0.0),), (PITCH,)
ANKLE = (PITCH, ROLL)
ABDOMINAL = (PITCH, ROLL)
"""Axial rotation of the abdomen is excluded because it is not observable: no marker is on the abdomen.

Pitch is poorly observable too. In one person's squats it varied from -.65 to +.65 rad while the thorax rotated back by
as much, and the error of the prior's vertical forces in her moving trials was 38 N instead of 21 N with a one-piece
trunk. Penalised towards rest with a standard deviation of .2 or .06 rad, the error was 31 or 23 N. No penalty is used,
because .2 rad explained two running trials of other persons less well (.44 and .58 of the prior's error instead of .41
and .56).
"""
JOINT_AXES = {"forearm": ELBOW, "shank": KNEE, ABDOMEN: ABDOMINAL}
"""Axes of joints that are not spherical, by segment; those of the girdle differ by side."""
ARM_ABDUCTION = np.radians(15.0)
"""[rad] Abduction of the shoulders in the standing posture; with the arms straight down, hands and hips would
overlap."""
MIRRORED_AXES = np.array([True, False, True])
"""Rotations about x and z change sign between right and left."""


@checked
def human(  # noqa: PLR0913 what a user types; all but three have one sensible default each
    height: float,
    mass: float,
    sex: str,
    *,
    variant: str = "34dof",
    tables: Sequence[str] = TABLES,
    trunk: str = "one",
    shoulders: str = "fixed",
    lengths: Mapping[str, float] | None = None,
    joints: Mapping[str, Sequence[float]] | None = None,
) -> Rig:
    """A person's rig from height, mass and sex, refined by measured lengths or joint centres.

    The prior's mass fractions are divided by their sum, so that the total mass is exactly ``mass``. Joint limits are
    boxes in the rotation vector that contain healthy adults' ranges. Limits, speeds and torques are rounded values of
    the general literature on joint ranges and maximal voluntary strength (torques scaled by mass times height), to be
    replaced by a person's own values if they are known.

    Args:
        height: stature [m].
        mass: [kg].
        sex: ``"male"`` or ``"female"``: column of the tables; ``"unknown"``: the mean of both, for lengths and
            inertials. `Rig.prior_spread` is then the relative deviation of both columns from the mean, by link;
            identification widens the prior by it.
        variant: ``"34dof"`` (15 links) or ``"23dof"`` (12 links).
        tables: some of ``"dumas"``, ``"deleva"``, ``"winter"`` and ``"shan"``, whose mean is the inertial prior
            (`solver.rigs.anthropometry`).
        trunk: ``"one"`` (pelvis and torso) or ``"three"``: pelvis, abdomen from L5S1 to T12L1, and the thorax, named
            ``torso``; two more degrees of freedom.
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"``: a clavicle that rotates about two axes on the
            sternum and a scapula that rotates on it about the thorax's normal; six more degrees of freedom.
        lengths: segment lengths [m] that replace those from stature: pelvis_width (hip to hip), pelvis_height (L5S1
            above the hips), torso (L5S1 to C7T1), shoulder_width, shoulder_drop (C7T1 above the shoulders), head
            (C7T1 to vertex), upper_arm, forearm, hand (wrist to finger tip), thigh, shank, foot (heel to toe),
            ankle_height; all but the first four and the head also one-sided as ``"right_thigh"``.
        joints: joint centres (3,) [m] in the parent link's frame, by link; they override lengths. Inertials, boxes
            and shapes follow the distance and direction between joint centres.

    Returns:
        Rig whose links are pelvis, torso, head, then upper arm, forearm, hand right and left, thigh, shank, foot
        right and left (``"right_thigh"``). ``provenance["standing"]`` (nq,) is a posture with both soles on the ground
        and the arms clear of the hips.

    Raises:
        InvalidValue: an implausible height or mass, an unknown sex, variant or table, or invalid lengths.
        UnknownLength, UnknownLink: a name in ``lengths`` or ``joints`` that does not exist.

    Example:
        >>> import solver
        >>> person = solver.human(1.75, 70.0, "female", lengths={"thigh": 0.44})
        >>> f"{len(person.links)} links, {person.prior.total_mass:.2f} kg"
        '15 links, 70.00 kg'
    """
    for name, choice, choices in (
        ("sex", sex, SEXES),
        ("variant", variant, VARIANTS),
        ("trunk", trunk, TRUNKS),
        ("shoulders", shoulders, SHOULDERS),
    ):
        if choice not in choices:
            raise InvalidValue(f"{name} {choice!r} is none of {', '.join(choices)}")
    if not tables or not set(tables) <= set(TABLES):
        raise InvalidValue(f"tables must be some of {', '.join(TABLES)}, not {', '.join(tables) or 'none'}")
    require_person(height, None)
    require_person(None, mass)
    lengths, joints = dict(lengths or {}), dict(joints or {})
    skeleton = build_skeleton(height, sex, lengths, joints, trunk, shoulders)
    merged = MERGED_LINKS[variant]
    links = tuple(link for link in skeleton.links if link not in merged)
    priors, projected = zip(*(_build_prior(skeleton, each, tables, height, mass, links) for each in columns_of(sex)))
    prior = InertialParameters(links, np.mean([each.values for each in priors], axis=0))
    strength = mass * height / np.prod(list(read_asset("human_body")["torque_reference"].values()))
    moving, limits = assemble([_build_body(skeleton, link, variant, float(strength)) for link in links])
    boxes, shapes = _build_geometry(skeleton, merged, width_unit(height, mass))
    rig = Rig(
        # without the mass: a study measures the mass and scales the prior, and the name would then be wrong
        name=f"human, {sex}, {height:.2f} m"
        + (", 23 DoF" if variant == "23dof" else "")
        + ((", trunk of three" if trunk == "three" else "") + (", shoulder girdle" if shoulders == "girdle" else "")),
        links=links,
        joints=moving,
        prior=prior,
        boxes=np.array([boxes[link] for link in links]),
        limits=limits,
        contacts=build_soles(skeleton),
        pairs=tuple(
            (f"left_{n}", f"right_{n}")
            for n in [HumanSkeleton.segment(link) for link in links if HumanSkeleton.side(link) == "right"]
        ),
        shapes=shapes,
        tips=np.array([_link_tip(skeleton, link) for link in links]),
        notes=_build_notes(
            tables, sex, height, mass, tuple(dict.fromkeys(link for names in projected for link in names))
        ),
        excluded=_touching_links(skeleton),
        provenance={
            "kind": "human",
            "height": float(height),
            "mass": float(mass),
            "sex": sex,
            "variant": variant,
            "tables": list(tables),
            "trunk": trunk,
            "shoulders": shoulders,
            "lengths": {name: float(value) for name, value in lengths.items()},
            "joints": {name: [float(x) for x in position] for name, position in joints.items()},
            **({PRIOR_SPREAD: _relative_std(*priors)} if sex == UNKNOWN else {}),
        },
    )
    return replace(rig, provenance={**rig.provenance, "standing": _standing_posture(rig, skeleton)})


def _build_prior(
    skeleton: HumanSkeleton, sex: str, tables: Sequence[str], height: float, mass: float, links: tuple[str, ...]
) -> tuple[InertialParameters, list[str]]:
    """Inertials by one column of the tables, and the segments whose inertia there is inconsistent."""
    inertias = _segment_inertias(skeleton, sex, tables, height)
    for link in [link for link in skeleton.links if link not in links]:
        parent = skeleton.parent(link)
        assert parent is not None
        inertias[parent] = inertias[parent].combine(inertias[link], skeleton.joints[link])
    changed = [link for link, inertia in inertias.items() if inertia.projected]
    return stack_parameters(links, [inertias[link] for link in links], mass), changed


def _relative_std(one: InertialParameters, other: InertialParameters) -> dict[str, float]:
    """Relative standard deviation of each link's mass over two equally likely bodies."""
    relative_std = np.abs(one.masses - other.masses) / (one.masses + other.masses)
    return {link: float(each) for link, each in zip(one.links, relative_std)}


def _segment_inertias(
    skeleton: HumanSkeleton, sex: str, tables: Sequence[str], height: float
) -> dict[str, SegmentInertia]:
    result = {}
    for link in skeleton.links:
        if HumanSkeleton.segment(link) in (ABDOMEN, *GIRDLE):
            continue
        side = HumanSkeleton.side(link)
        foot = f"{side or 'right'}_foot"
        body = {name: skeleton.lengths[name] for name in ("torso", "pelvis_height")}
        body |= {"foot": skeleton.lengths[foot], "heel": skeleton.heel(foot)}
        body["ankle_height"] = skeleton.lengths[f"{side or 'right'}_ankle_height"]
        end = skeleton.ends[link] + (skeleton.ends.get(ABDOMEN, 0.0) if link == "torso" else 0.0)
        result[link] = segment_inertia(tables, sex, Segment(HumanSkeleton.segment(link), side, end), body)
    if ABDOMEN in skeleton.ends:
        abdomen = skeleton.ends[ABDOMEN]
        result |= split_trunk(result["torso"], sex, abdomen + skeleton.ends["torso"], abdomen)
    if skeleton.has_girdle:
        joints = {side: {name: skeleton.joints[f"{side}_{name}"] for name in GIRDLE} for side in SIDES}
        result |= split_girdle(result["torso"], height, {side: skeleton.shoulder(side) for side in SIDES}, joints)
    return result


def _build_body(skeleton: HumanSkeleton, link: str, variant: str, strength: float) -> MovingBody:
    if link == "pelvis":
        return MovingBody("pelvis", None)
    name = HumanSkeleton.segment(link)
    axes: tuple[tuple[float, float, float], ...] = JOINT_AXES.get(name, SPHERICAL)
    if name in GIRDLE:
        axes = girdle_axes(name, HumanSkeleton.side(link))
    values: dict[str, Any] = {k: np.array(v, float) for k, v in read_asset("human_body")["joints"][name].items()}
    lower, upper = np.radians(values["lower"]), np.radians(values["upper"])
    if HumanSkeleton.side(link) == "left" and len(lower) == 3:
        lower, upper = np.where(MIRRORED_AXES, -upper, lower), np.where(MIRRORED_AXES, -lower, upper)
    speed, torque = values["speed"], strength * values["torque"]
    if name == "foot" and variant == "23dof":
        axes, order = ANKLE, [1, 0]
        lower, upper, speed, torque = lower[order], upper[order], speed[order], torque[order]
    return MovingBody(
        link,
        skeleton.parent(link),
        axes,
        skeleton.joints[link],
        lower=lower,
        upper=upper,
        speed=speed,
        torque=torque,
    )


def _build_geometry(
    skeleton: HumanSkeleton, merged: Sequence[str], unit: float
) -> tuple[dict[str, np.ndarray], tuple[Shape, ...]]:
    boxes = {link: segment_box(skeleton, link, unit) for link in skeleton.links}
    shapes: list[Shape] = []
    for link in skeleton.links:
        pieces = segment_shapes(skeleton, link, unit)
        if link in merged:
            parent, offset = skeleton.parent(link), skeleton.joints[link]
            assert parent is not None
            moved = boxes[link] + offset
            boxes[parent] = np.array([np.minimum(boxes[parent][0], moved[0]), np.maximum(boxes[parent][1], moved[1])])
            pieces = tuple(Shape(parent, s.kind, s.size, s.rotation, s.centre + offset) for s in pieces)
        shapes += pieces
    return boxes, tuple(shapes)


def _touching_links(skeleton: HumanSkeleton) -> tuple[tuple[str, str], ...]:
    """Pairs of links that overlap around the girdle; without girdle they are adjacent or one link."""
    if not skeleton.has_girdle:
        return ()
    return tuple(
        pair
        for clavicle, scapula, arm in ([f"{side}_{name}" for name in (*GIRDLE, "upper_arm")] for side in SIDES)
        for pair in (("torso", scapula), ("torso", arm), ("head", clavicle), ("head", scapula), (clavicle, arm))
    )


def _link_tip(skeleton: HumanSkeleton, link: str) -> np.ndarray:
    if HumanSkeleton.segment(link) == "foot":
        return np.array([skeleton.toe(link), 0.0, -skeleton.lengths[f"{HumanSkeleton.side(link)}_ankle_height"]])
    return skeleton.ends[link]


def _standing_posture(rig: Rig, skeleton: HumanSkeleton) -> np.ndarray:
    """(nq,) standing posture with both soles at height zero and the arms clear of the hips."""
    q = rig.neutral
    for side in SIDES:
        own = rig.q_slices[rig.index(f"{side}_upper_arm")]
        q[own] = [
            LATERAL_SIGN[side] * np.sin(ARM_ABDUCTION / 2),
            0.0,
            0.0,
            np.cos(ARM_ABDUCTION / 2),
        ]
    _, places = link_poses(rig, q)
    ankle = [places[rig.index(f"{side}_foot"), 2] for side in SIDES]
    q[2] = max(skeleton.lengths[f"{side}_ankle_height"] - z for side, z in zip(SIDES, ankle))
    return q


def _build_notes(
    tables: Sequence[str], sex: str, height: float, mass: float, changed: Iterable[str]
) -> tuple[str, ...]:
    assets = [read_asset(f"human_{table}") for table in tables]
    sources = "; ".join(f"{asset['source']} ({asset['people']})" for asset in assets)
    column = "mean of male and female" if sex == UNKNOWN else sex
    notes = [
        f"inertial prior: {'mean of ' if len(tables) > 1 else ''}{sources}, {column}; mass fractions divided by their "
        f"sum to total {mass:g} kg"
    ]
    if problem := describe_build(height, mass):
        notes.append(f"check height and mass: {problem}")
    if changed:
        notes.append(
            f"{', '.join(changed)}: the tables' inertia is physically inconsistent (negative pseudo-inertia); replaced "
            "by the nearest consistent one with the same mass and centre of mass"
        )
    return tuple(notes)


__all__ = ["SEXES", "VARIANTS", "human"]
