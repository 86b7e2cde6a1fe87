"""HRP-2, approximate: a model from published dimensions, because no model file of the robot is public.

1.54 m, 31 links, 30 joints. Lengths, joint order and joint ranges are published. The distribution of masses (trunk and
waist 46 %, a leg 17 %, an arm 8 %, head 3 %), boxes, torques and speeds are plausible assumptions. The model is
suitable for simulation and demonstration, not for controlling the robot; a laboratory with the robot's URDF should
import that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.assets import read_asset
from ..base.errors import InvalidValue, checked
from ..dynamics import contact_corners
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .assembly import assemble
from .robot_assets import build_bodies, build_shapes, build_soles, left_right_pairs
from .solids import box_inertia

CAD_MASS = 58.0
"""Published total mass before the changes described by jovic2016 [kg]."""


@checked
def hrp2(mass: float = CAD_MASS) -> Rig:
    """An approximate HRP-2 from published dimensions.

    Every link is a solid box. At zero the robot stands with straight legs and hanging arms and every link frame is
    parallel to the base. ``provenance`` also holds ``base_link`` (the trunk with the inertial sensors),
    ``paper_segments`` (links in the order of jovic2016, Table II) and ``half_sitting`` (nq,), the initial posture of
    its motions, with the soles on the ground.

    Args:
        mass: of the whole robot [kg].

    Raises:
        InvalidValue: mass not positive.

    Example:
        >>> import solver
        >>> robot = solver.hrp2(mass=60.0)
        >>> f"{len(robot.links)} links, {robot.prior.total_mass:.2f} kg"
        '31 links, 60.00 kg'
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise InvalidValue(f"HRP-2's mass must be positive, got {mass!r} kg")
    asset = read_asset("hrp2")
    records = asset["links"]
    links = tuple(record["name"] for record in records)
    boxes = np.array([record["box"] for record in records])
    masses = mass * np.array([record["mass_share"] for record in records])
    sides = boxes[:, 1] - boxes[:, 0]
    inertias = np.array([box_inertia(m, s) for m, s in zip(masses, sides)])
    prior = InertialParameters.from_com(links, masses, boxes.mean(axis=1), inertias)
    joints, limits = assemble(build_bodies(records))
    rig = Rig(
        name=f"HRP-2 (approximate, from published dimensions), {mass:g} kg",
        links=links,
        joints=joints,
        prior=prior,
        boxes=boxes,
        limits=limits,
        contacts=build_soles(asset["soles"]),
        pairs=left_right_pairs(links),
        shapes=build_shapes([[record["name"], "box", *record["box"]] for record in records]),
        tips=np.array([record["tip"] for record in records]),
        notes=(asset["source"],),
        provenance={
            "kind": "hrp2",
            "mass": float(mass),
            "base_link": "chest",
            "paper_segments": _paper_order(links),
        },
    )
    return replace(rig, provenance={**rig.provenance, "half_sitting": _half_sitting(rig, asset["half_sitting"])})


def _paper_order(links: tuple[str, ...]) -> tuple[str, ...]:
    """Segments 1 ... 31 of jovic2016: waist and trunk, right leg, left leg, neck and head, right arm, left arm."""
    trunk, head = ("waist", "chest_yaw", "chest"), ("neck", "head")
    legs = ("hip_yaw", "hip_roll", "thigh", "shank", "ankle", "foot")

    def limb(side: str, leg: bool) -> tuple[str, ...]:
        return tuple(n for n in links if n.startswith(side) and (n.removeprefix(f"{side}_") in legs) == leg)

    return (*trunk, *limb("right", True), *limb("left", True), *head, *limb("right", False), *limb("left", False))


def _half_sitting(rig: Rig, degrees: dict[str, float]) -> np.ndarray:
    q, places = rig.neutral, dict(zip((joint.name for joint in rig.joints), rig.q_slices))
    for name, angle in degrees.items():
        for side, sign in (("right", 1.0), ("left", -1.0 if name.endswith("roll") else 1.0)):
            q[places[f"{side}_{name}"]] = sign * np.radians(angle)
    corners = dict(zip((sole.name for sole in rig.soles), contact_corners(rig, q)))
    q[2] = -corners["right_sole"][:, 2].min()
    return q
