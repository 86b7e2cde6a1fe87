"""The one table of checks: a new check is a row here, and every verdict, drawing and programme takes it up."""

from __future__ import annotations

import numpy as np

from ..coordinates import coordinate_links, coordinate_names
from ..errors import UnknownName
from ..scene.labels import format_angle, format_angular_speed, format_length, format_percent
from . import foot_placement as feet
from .check_definition import Check, CheckItems, CheckMessages, NearMargins, SmoothLimit
from .check_input import Body, CheckInput
from .contact_forces import bounded_vertical_force, friction_margins, friction_margins_by_side
from .joint_limits import (
    angle_margin_derivatives,
    angle_margins,
    speed_margin_derivatives,
    speed_margins,
    torque_margins,
)
from .yaw_friction import yaw_margins, yaw_margins_by_side

COMFORTABLE_SHARE = 0.1
"""A margin of this share of a limit, of this angle in rad or of this share of the sole is comfortable."""
COMFORTABLE_DISTANCE = 0.01
"""A distance of this share of the body's extent is comfortable."""
FLOOR_REPORT_HEIGHT = 0.01
"""[m] Links higher over the floor than this are no news."""
ANGLE_SAMPLING_MARGIN = 0.005
"""[rad] A coarse sample keeps beyond the limits of joint angles."""
LEG_TOLERANCE = 1e-6
"""[m] A sole this near its anchor stands on it: legs are solved so far."""


FLIGHT_END_SHARE = 0.0005
"""Share of what a flight may lack that programmes leave it where it begins and ends: there the floor's forces begin."""


def _coordinate_items(body: Body) -> CheckItems:
    return CheckItems(coordinate_names(body.rig), coordinate_links(body.rig))


def _patch_items(body: Body) -> CheckItems:
    return CheckItems(body.rig.patches, tuple((patch.link,) for patch in body.rig.contacts))


def _foot_item(name: str, body: Body) -> CheckItems:
    return CheckItems((name,), (tuple(patch.link for patch in body.rig.contacts),))


def _support_item(body: Body) -> CheckItems:
    return _foot_item("support polygon", body)


def _feet_item(body: Body) -> CheckItems:
    return _foot_item("feet", body)


def _ballistic_item(body: Body) -> CheckItems:
    return CheckItems(("ballistic motion",), (body.rig.links[:1],))


def _link_items(body: Body) -> CheckItems:
    return CheckItems(body.rig.links, tuple((link,) for link in body.rig.links))


def _pair_items(body: Body) -> CheckItems:
    return CheckItems(tuple(f"{one} and {other}" for one, other in body.detector.pairs), body.detector.pairs)


def _comfortable_share(_: Body) -> float:
    return COMFORTABLE_SHARE


def _comfortable_speed(body: Body) -> float:
    limits = body.rig.limits.speed
    return COMFORTABLE_SHARE * (float(limits[np.isfinite(limits)].max(initial=0.0)) or 1.0)


def _comfortable_zmp(body: Body) -> float:
    return COMFORTABLE_SHARE * body.sole_length


def _comfortable_slip(body: Body) -> float:
    return body.options.allowed_slip + body.options.tolerance


def _allowed_slip(body: Body) -> float:
    return body.options.allowed_slip


def _comfortable_flight(body: Body) -> float:
    return body.options.flight + body.options.tolerance


def _comfortable_distance(body: Body) -> float:
    return min(body.options.reach, COMFORTABLE_DISTANCE * body.size)


def _angle_margins(now: CheckInput) -> np.ndarray:
    return angle_margins(now.body.rig, now.curves.q)


def _speed_margins(now: CheckInput) -> np.ndarray:
    return speed_margins(now.body.rig, now.curves.v)


def _torque_margins(now: CheckInput) -> np.ndarray:
    return torque_margins(now.body.rig, now.torques) - now.body.options.torque_reserve


def _zmp_margins(now: CheckInput) -> np.ndarray:
    assert now.planted.polygon is not None
    return now.planted.polygon.margin(now.zmp)[:, None] - now.body.options.balance_reserve


def _zmp_margins_by_edge(now: CheckInput) -> np.ndarray:
    """Times the share of the weight that presses, by which it is linear in the wrench where little does."""
    assert now.planted.polygon is not None
    inside = now.planted.polygon.edge_distances(now.zmp) - now.body.options.balance_reserve
    return inside * (bounded_vertical_force(now.state.wrench, now.body.weight) / now.body.weight)[:, None]


def _friction_margins(now: CheckInput) -> np.ndarray:
    body = now.body
    return now.expand_to_patches(friction_margins(now.loads, now.planted.axes, body.options.friction, body.weight))


def _twist_margins(now: CheckInput) -> np.ndarray:
    body, planted = now.body, now.planted
    return now.expand_to_patches(
        yaw_margins(now.loads, planted.centres, planted.axes, planted.half_lengths, body.options.friction, body.weight)
    )


def _friction_margins_by_side(now: CheckInput) -> np.ndarray:
    body = now.body
    return friction_margins_by_side(now.loads, now.planted.axes, body.options.friction, body.weight)


def _twist_margins_by_side(now: CheckInput) -> np.ndarray:
    body, planted = now.body, now.planted
    return yaw_margins_by_side(
        now.loads, planted.centres, planted.axes, planted.half_lengths, body.options.friction, body.weight
    )


def _unilateral_margins(now: CheckInput) -> np.ndarray:
    spread = now.planted.load_distribution
    pressed = now.loads[:, :, 2] if spread is None else spread.edge_loads(now.loads)
    return now.expand_to_patches(pressed / now.body.weight)


def _slip_margins(now: CheckInput) -> np.ndarray:
    left_place = feet.slip_distances(now.body.rig, now.state.rotation, now.state.position, now.planted.phase.anchors)
    return now.expand_to_patches(now.body.options.allowed_slip - left_place)


def _smooth_slip_margins(now: CheckInput) -> np.ndarray:
    """Soles as they are, since legs are solved under them; what else stands axis by axis."""
    anchors, rig, state = now.planted.phase.anchors, now.body.rig, now.state
    others = [anchor for anchor in anchors if not rig.patch(anchor.patch).sole]
    soles = _slip_margins(now)[:, [k for k, patch in enumerate(rig.contacts) if patch.sole]]
    if not others:
        return soles
    rows = feet.slip_by_axis(rig, state.rotation, state.position, others, now.body.options.allowed_slip)
    return np.concatenate([soles, rows], axis=1)


def _placement_margins(now: CheckInput) -> np.ndarray:
    anchors = now.planted.phase.anchors
    if len(anchors) < 2:
        return np.full((len(now), 1), np.inf)
    error = feet.placement_errors(now.body.rig, now.state.rotation, now.state.position, anchors)
    return (now.body.options.allowed_slip - error)[:, None]


def _missing_wrench(now: CheckInput) -> np.ndarray:
    """Force and moment about the centre of mass (N, 6) that nothing gives, as shares of the weight and of its lever."""
    force, body = now.state.wrench[:, :3], now.body
    moment = now.state.wrench[:, 3:] - np.cross(now.state.com, force)
    return np.concatenate([force, moment / body.size], axis=1) / body.weight


def _flight_margins(now: CheckInput) -> np.ndarray:
    missing = np.linalg.norm(_missing_wrench(now).reshape(-1, 2, 3), axis=2).max(axis=1)
    return (now.body.options.flight - missing)[:, None]


def _flight_margins_by_axis(now: CheckInput) -> np.ndarray:
    missing = _missing_wrench(now)
    return FLIGHT_END_SHARE * now.body.options.flight - np.concatenate([missing, -missing], axis=1)


def _collision_margins(now: CheckInput) -> NearMargins:
    options = now.body.options
    found = now.body.detector.find_near_pairs(now.curves.q, now.state.rotation, now.state.position)
    seen, columns = np.unique(found.pairs, return_inverse=True)
    values = np.full((len(now), len(seen)), options.reach)
    np.minimum.at(values, (found.frames, columns.reshape(-1)), found.distances)
    return NearMargins(seen, values - options.clearance, options.reach - options.clearance)


def _floor_margins(now: CheckInput) -> np.ndarray:
    rig = now.body.rig
    heights = now.body.detector.floor_distances(now.state.rotation, now.state.position, now.ground)
    planted = {rig.index(link) for link in now.planted.links}
    heights[:, sorted(planted)] = np.inf  # they stand on it
    if now.body.options.swing:
        standing = set(planted)  # a toe stands with its foot
        for link, parent in enumerate(rig.parents):
            if parent in standing:
                standing.add(link)
        heights[:, sorted({rig.index(patch.link) for patch in rig.contacts} - standing)] -= now.body.options.swing
    return heights


CHECKS: tuple[Check, ...] = (
    Check(
        name="joint "
            "angle", unit="rad", items=_coordinate_items, margins=_angle_margins, comfortable_margin=_comfortable_share,
        messages=CheckMessages("joint "
            "angles", "{item} is turned {far} beyond its limit", "{item} may turn {far} farther", format_angle),
        category="joints", depends_on="posture", needs_contacts=False, sampling_margin=ANGLE_SAMPLING_MARGIN,
        smooth_limit=SmoothLimit(0.1, joint_derivatives=angle_margin_derivatives),
    ),
    Check(
        name="joint "
            "speed", unit="rad/s", items=_coordinate_items, margins=_speed_margins,
                comfortable_margin=_comfortable_speed,
        messages=CheckMessages("joint "
            "speeds", "{item} is {far} faster than it can", "{item} could be {far} faster", format_angular_speed),
        category="joints", depends_on="speed", needs_contacts=False, sampling_margin=0.02,
        smooth_limit=SmoothLimit(0.2, joint_derivatives=speed_margin_derivatives),
    ),
    Check(
        name="joint "
            "torque", unit="of the limit", items=_coordinate_items, margins=_torque_margins,
                comfortable_margin=_comfortable_share,
        messages=CheckMessages("joint torques", "joint torque of {item} is {far} beyond its limit",
                    "joint torque of {item} is {far} below its limit", format_percent),
        category="joints", depends_on="force", sampling_margin=0.02, smooth_limit=SmoothLimit(0.1),
    ),
    Check(
        name="zmp", unit="m", items=_support_item, margins=_zmp_margins, comfortable_margin=_comfortable_zmp,
        messages=CheckMessages("balance", "the zero-moment point is {far} outside the support polygon",
                    "the zero-moment point is {far} inside the support polygon", format_length),
        category="balance", depends_on="force", applies_when="standing", sampling_margin=0.001,
        smooth_limit=SmoothLimit(0.02, smooth_margins=_zmp_margins_by_edge), limits_transitions=True,
    ),
    Check(
        name="friction", unit="of the "
            "weight", items=_patch_items, margins=_friction_margins, comfortable_margin=_comfortable_share,
        messages=CheckMessages("friction", "{item} lacks friction for {far} of the weight",
                    "{item} has friction for {far} of the weight to spare", format_percent),
        category="feet", depends_on="force", applies_when="standing", sampling_margin=0.02,
        smooth_limit=SmoothLimit(0.1, smooth_margins=_friction_margins_by_side), limits_transitions=True,
    ),
    Check(
        name="twist", unit="of the "
            "weight", items=_patch_items, margins=_twist_margins, comfortable_margin=_comfortable_share,
        messages=CheckMessages("turning "
            "feet", "{item} would turn on the floor: friction for {far} of the weight is missing",
                    "{item} does not turn on the floor: friction for {far} of the weight to spare", format_percent),
        category="feet", depends_on="force", applies_when="standing", sampling_margin=0.005,
        smooth_limit=SmoothLimit(0.1, smooth_margins=_twist_margins_by_side), limits_transitions=True,
    ),
    Check(
        name="unilateral", unit="of the "
            "weight", items=_patch_items, margins=_unilateral_margins, comfortable_margin=_comfortable_share,
        messages=CheckMessages("weight on each foot", "{item} would have to pull on the floor with {far} of the weight",
                    "{item} presses on the floor with {far} of the weight", format_percent),
        category="feet", depends_on="force", applies_when="standing", sampling_margin=0.02,
            smooth_limit=SmoothLimit(0.1),
    ),
    Check(
        name="slip", unit="m", items=_patch_items, margins=_slip_margins, comfortable_margin=_comfortable_slip,
        messages=CheckMessages("planted "
            "feet", "{item} slides {far} too far from where it is planted", "{item} stays in place",
                    format_length),
        category="feet", depends_on="posture", applies_when="standing", report_below=-np.inf,
        smooth_limit=SmoothLimit(0.005, smooth_margins=_smooth_slip_margins, allowance=LEG_TOLERANCE,
            largest_margin=_allowed_slip),
    ),
    Check(
        name="placement", unit="m", items=_feet_item, margins=_placement_margins, comfortable_margin=_comfortable_slip,
        messages=CheckMessages("feet's distance", "the planted feet are {far} too near or too far from each other",
                    "the planted feet keep their distance", format_length),
        category="feet", depends_on="posture", applies_when="standing", report_below=-np.inf,
    ),
    Check(
        name="flight", unit="of the "
            "weight", items=_ballistic_item, margins=_flight_margins, comfortable_margin=_comfortable_flight,
        messages=CheckMessages("flight", "nothing carries the body ({far} of its weight missing)",
            "the body flies freely",
                    format_percent),
        category="body", depends_on="force", applies_when="airborne", report_below=-np.inf,
        smooth_limit=SmoothLimit(0.1, smooth_margins=_flight_margins_by_axis),
    ),
    Check(
        name="self-collision", unit="m", items=_pair_items, margins=_collision_margins,
            comfortable_margin=_comfortable_distance,
        messages=CheckMessages("collisions", "{item} overlap by {far}", "{item} are {far} apart", format_length),
        category="touch", depends_on="posture", needs_contacts=False, no_items_label="no pair within "
            "reach", sampling_margin=0.002, 
        smooth_limit=SmoothLimit(0.02, near_only="pairs"),
    ),
    Check(
        name="floor", unit="m", items=_link_items, margins=_floor_margins, comfortable_margin=_comfortable_distance,
        messages=CheckMessages("height above the "
            "floor", "{item} is {far} below the floor", "{item} is {far} above the floor",
                    format_length),
        category="touch", depends_on="posture", report_below=FLOOR_REPORT_HEIGHT, smooth_limit=SmoothLimit(0.02,
            near_only="links"),
    ),
)  # fmt: skip


def get_check(name: str) -> Check:
    """A row of the table.

    Raises:
        UnknownName: no such check.
    """
    for check in CHECKS:
        if check.name == name:
            return check
    raise UnknownName(name, [check.name for check in CHECKS])


JOINT_TORQUE, FLOOR = get_check("joint torque"), get_check("floor")
"""Checks whose margins others than checkers hold by their own slopes."""
