"""Checks of joint angles, speeds and torques: bonnet2016 (15), (18)."""

from __future__ import annotations

import numpy as np

from ...dynamics.coordinates import Curves, coordinate_links, coordinate_names, joint_coordinates
from ...scene.labels import display_name, format_angle, format_angular_speed, format_percent
from ...skeleton.rig import ROOT_NV, Rig
from ..check_definition import COMFORTABLE_SHARE, Check, CheckItems, CheckMessages, SmoothLimit, comfortable_share
from ..check_input import CheckedBody, CheckInput

ANGLE_SAMPLING_MARGIN = 0.005
"""[rad] A coarse sample keeps this distance from the limits of joint angles."""


def angle_margins(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Distance (N, nv - 6) [rad] of each joint coordinate to its nearer limit; negative beyond it, (15)."""
    coordinates = joint_coordinates(rig, q)
    return np.minimum(coordinates - rig.limits.lower, rig.limits.upper - coordinates)


def speed_margins(rig: Rig, v: np.ndarray) -> np.ndarray:
    """Distance (N, nv - 6) [rad/s] of each joint speed to its limit; negative beyond it, (18)."""
    return rig.limits.speed - np.abs(v[:, ROOT_NV:])


def angle_margin_derivatives(rig: Rig, curves: Curves) -> np.ndarray:
    """Derivatives (N, nv - 6) of `angle_margins` by their coordinates: 1 where the lower limit is nearer, else -1."""
    coordinates = joint_coordinates(rig, curves.q)
    return np.where(coordinates - rig.limits.lower < rig.limits.upper - coordinates, 1.0, -1.0)


def speed_margin_derivatives(rig: Rig, curves: Curves) -> np.ndarray:
    """Derivatives (N, nv - 6) of `speed_margins` by the speeds of their joints."""
    return -np.sign(curves.v[:, ROOT_NV:])


def torque_margins(rig: Rig, torques: np.ndarray) -> np.ndarray:
    """Unused fraction (N, nv - 6) of each joint's torque limit, 1 - |torque| / limit, (15); 1 without a limit.

    Args:
        rig: with torque limits.
        torques: (N, nv - 6) [N m].
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.abs(torques) / rig.limits.torque
    return 1.0 - np.nan_to_num(used, nan=0.0, posinf=np.inf)


def missing_limits(rig: Rig) -> tuple[str, ...]:
    """What cannot be checked because the rig has no limit for it, one sentence each."""
    names = np.array(coordinate_names(rig))
    notes = []
    for quantity, limit in (
        ("torque", rig.limits.torque),
        ("speed", rig.limits.speed),
        ("angle", np.minimum(-rig.limits.lower, rig.limits.upper)),
    ):
        free = names[~np.isfinite(limit)]
        if len(free):
            which = "any joint" if len(free) == len(names) else ", ".join(display_name(name) for name in free)
            notes.append(f"Rig {rig.name!r} states no {quantity} limit for {which}: not checked there")
    return tuple(notes)


def _coordinate_items(body: CheckedBody) -> CheckItems:
    return CheckItems(coordinate_names(body.rig), coordinate_links(body.rig))


def _comfortable_speed(body: CheckedBody) -> float:
    limits = body.rig.limits.speed
    return COMFORTABLE_SHARE * (float(limits[np.isfinite(limits)].max(initial=0.0)) or 1.0)


def _angle_margins(inputs: CheckInput) -> np.ndarray:
    return angle_margins(inputs.body.rig, inputs.curves.q)


def _speed_margins(inputs: CheckInput) -> np.ndarray:
    return speed_margins(inputs.body.rig, inputs.curves.v)


def _torque_margins(inputs: CheckInput) -> np.ndarray:
    return torque_margins(inputs.body.rig, inputs.torques) - inputs.body.options.torque_reserve


JOINT_ANGLE = Check(
    name="joint angle",
    unit="rad",
    limit="range of each joint",
    items=_coordinate_items,
    margins=_angle_margins,
    comfortable_margin=comfortable_share,
    messages=CheckMessages(
        "joint angles", "{item} is turned {far} beyond its limit", "{item} may turn {far} farther", format_angle
    ),
    category="joints",
    depends_on="posture",
    needs_contacts=False,
    sampling_margin=ANGLE_SAMPLING_MARGIN,
    smooth_limit=SmoothLimit(0.1, joint_derivatives=angle_margin_derivatives),
)
JOINT_SPEED = Check(
    name="joint speed",
    unit="rad/s",
    limit="largest speed of each joint",
    items=_coordinate_items,
    margins=_speed_margins,
    comfortable_margin=_comfortable_speed,
    messages=CheckMessages(
        "joint speeds", "{item} is {far} faster than it can", "{item} could be {far} faster", format_angular_speed
    ),
    category="joints",
    depends_on="speed",
    needs_contacts=False,
    sampling_margin=0.02,
    smooth_limit=SmoothLimit(0.2, joint_derivatives=speed_margin_derivatives),
)
JOINT_TORQUE = Check(
    name="joint torque",
    unit="of the limit",
    limit="largest torque of each joint, less the torque reserve",
    items=_coordinate_items,
    margins=_torque_margins,
    comfortable_margin=comfortable_share,
    messages=CheckMessages(
        "joint torques",
        "joint torque of {item} is {far} beyond its limit",
        "joint torque of {item} is {far} below its limit",
        format_percent,
    ),
    category="joints",
    depends_on="force",
    sampling_margin=0.02,
    smooth_limit=SmoothLimit(0.1),
)
