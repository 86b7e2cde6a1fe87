"""The one table of checks: a new check is a row here, and every verdict, drawing and programme takes it up."""

from __future__ import annotations

import numpy as np

from ..coordinates import coordinate_links, coordinate_names
from ..errors import UnknownName
from ..scene.words import angle, length, percent, turning
from . import feet
from .balance import friction_by_side, friction_margins, loaded
from .definition import Check, Items, Near, Programme, Words
from .joints import angle_margins, angle_slopes, speed_margins, speed_slopes, torque_margins
from .situation import Body, Situation
from .twist import twist_by_side, twist_margins

COMFORTABLE = 0.1
"""A margin of this share of a limit, of this angle in rad or of this share of the sole is comfortable."""
APART = 0.01
"""A distance of this share of the body's extent is comfortable."""
LOW = 0.01
"""[m] Links higher over the floor than this are no news."""
ANGLE_SLACK = 0.005
"""[rad] A coarse sample keeps beyond the limits of joint angles."""
STANDS = 1e-6
"""[m] A sole this near its anchor stands on it: legs are solved so far."""


EXACT = 0.0005
"""Share of what a flight may lack that programmes leave it where it begins and ends: there the floor's forces begin."""


def _coordinates(body: Body) -> Items:
    return Items(coordinate_names(body.rig), coordinate_links(body.rig))


def _patches(body: Body) -> Items:
    return Items(body.rig.patches, tuple((patch.link,) for patch in body.rig.contacts))


def _feet(name: str, body: Body) -> Items:
    return Items((name,), (tuple(patch.link for patch in body.rig.contacts),))


def _support(body: Body) -> Items:
    return _feet("support polygon", body)


def _all_feet(body: Body) -> Items:
    return _feet("feet", body)


def _whole(body: Body) -> Items:
    return Items(("ballistic motion",), (body.rig.links[:1],))


def _links(body: Body) -> Items:
    return Items(body.rig.links, tuple((link,) for link in body.rig.links))


def _pairs(body: Body) -> Items:
    return Items(tuple(f"{one} and {other}" for one, other in body.detector.pairs), body.detector.pairs)


def _share(_: Body) -> float:
    return COMFORTABLE


def _fast(body: Body) -> float:
    limits = body.rig.limits.speed
    return COMFORTABLE * (float(limits[np.isfinite(limits)].max(initial=0.0)) or 1.0)


def _inside(body: Body) -> float:
    return COMFORTABLE * body.sole


def _still(body: Body) -> float:
    return body.options.allowed_slip + body.options.tolerance


def _allowed(body: Body) -> float:
    return body.options.allowed_slip


def _free_fall(body: Body) -> float:
    return body.options.flight + body.options.tolerance


def _apart(body: Body) -> float:
    return min(body.options.reach, APART * body.size)


def _angle(now: Situation) -> np.ndarray:
    return angle_margins(now.body.rig, now.curves.q)


def _speed(now: Situation) -> np.ndarray:
    return speed_margins(now.body.rig, now.curves.v)


def _torque(now: Situation) -> np.ndarray:
    return torque_margins(now.body.rig, now.torques) - now.body.options.torque_reserve


def _zmp(now: Situation) -> np.ndarray:
    assert now.planted.polygon is not None
    return now.planted.polygon.margin(now.zmp)[:, None] - now.body.options.balance_reserve


def _zmp_by_edge(now: Situation) -> np.ndarray:
    """Times the share of the weight that presses, by which it is linear in the wrench where little does."""
    assert now.planted.polygon is not None
    inside = now.planted.polygon.edge_distances(now.zmp) - now.body.options.balance_reserve
    return inside * (loaded(now.state.wrench, now.body.weight) / now.body.weight)[:, None]


def _friction(now: Situation) -> np.ndarray:
    body = now.body
    return now.by_patch(friction_margins(now.loads, now.planted.axes, body.options.friction, body.weight))


def _twist(now: Situation) -> np.ndarray:
    body, planted = now.body, now.planted
    return now.by_patch(
        twist_margins(now.loads, planted.centres, planted.axes, planted.halves, body.options.friction, body.weight)
    )


def _friction_by_side(now: Situation) -> np.ndarray:
    body = now.body
    return friction_by_side(now.loads, now.planted.axes, body.options.friction, body.weight)


def _twist_by_side(now: Situation) -> np.ndarray:
    body, planted = now.body, now.planted
    return twist_by_side(now.loads, planted.centres, planted.axes, planted.halves, body.options.friction, body.weight)


def _unilateral(now: Situation) -> np.ndarray:
    spread = now.planted.spread
    pressed = now.loads[:, :, 2] if spread is None else spread.pressed(now.loads)
    return now.by_patch(pressed / now.body.weight)


def _slip(now: Situation) -> np.ndarray:
    left_place = feet.slip(now.body.rig, now.state.rotation, now.state.position, now.planted.phase.anchors)
    return now.by_patch(now.body.options.allowed_slip - left_place)


def _slip_smoothly(now: Situation) -> np.ndarray:
    """Soles as they are, since legs are solved under them; what else stands axis by axis."""
    anchors, rig, state = now.planted.phase.anchors, now.body.rig, now.state
    others = [anchor for anchor in anchors if not rig.patch(anchor.patch).sole]
    soles = _slip(now)[:, [k for k, patch in enumerate(rig.contacts) if patch.sole]]
    if not others:
        return soles
    rows = feet.slip_by_axis(rig, state.rotation, state.position, others, now.body.options.allowed_slip)
    return np.concatenate([soles, rows], axis=1)


def _placement(now: Situation) -> np.ndarray:
    anchors = now.planted.phase.anchors
    if len(anchors) < 2:
        return np.full((len(now), 1), np.inf)
    error = feet.placement(now.body.rig, now.state.rotation, now.state.position, anchors)
    return (now.body.options.allowed_slip - error)[:, None]


def _missing(now: Situation) -> np.ndarray:
    """Force and moment about the centre of mass (N, 6) that nothing gives, as shares of the weight and of its lever."""
    force, body = now.state.wrench[:, :3], now.body
    moment = now.state.wrench[:, 3:] - np.cross(now.state.com, force)
    return np.concatenate([force, moment / body.size], axis=1) / body.weight


def _flight(now: Situation) -> np.ndarray:
    missing = np.linalg.norm(_missing(now).reshape(-1, 2, 3), axis=2).max(axis=1)
    return (now.body.options.flight - missing)[:, None]


def _flight_by_axis(now: Situation) -> np.ndarray:
    missing = _missing(now)
    return EXACT * now.body.options.flight - np.concatenate([missing, -missing], axis=1)


def _collision(now: Situation) -> Near:
    options = now.body.options
    found = now.body.detector.near_pairs(now.curves.q, now.state.rotation, now.state.position)
    seen, columns = np.unique(found.pairs, return_inverse=True)
    values = np.full((len(now), len(seen)), options.reach)
    np.minimum.at(values, (found.frames, columns.reshape(-1)), found.distances)
    return Near(seen, values - options.clearance, options.reach - options.clearance)


def _floor(now: Situation) -> np.ndarray:
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
        name="joint angle", unit="rad", items=_coordinates, margins=_angle, comfortable=_share,
        words=Words("joint angles", "{item} is turned {far} beyond its limit", "{item} may turn {far} farther", angle),
        about="joints", depends="posture", needs_contacts=False, slack=ANGLE_SLACK,
        programme=Programme(0.1, own=angle_slopes),
    ),
    Check(
        name="joint speed", unit="rad/s", items=_coordinates, margins=_speed, comfortable=_fast,
        words=Words("joint speeds", "{item} is {far} faster than it can", "{item} could be {far} faster", turning),
        about="joints", depends="speed", needs_contacts=False, slack=0.02,
        programme=Programme(0.2, own=speed_slopes),
    ),
    Check(
        name="joint torque", unit="of the limit", items=_coordinates, margins=_torque, comfortable=_share,
        words=Words("joint torques", "joint torque of {item} is {far} beyond its limit",
                    "joint torque of {item} is {far} below its limit", percent),
        about="joints", depends="force", slack=0.02, programme=Programme(0.1),
    ),
    Check(
        name="zmp", unit="m", items=_support, margins=_zmp, comfortable=_inside,
        words=Words("balance", "the zero-moment point is {far} outside the support polygon",
                    "the zero-moment point is {far} inside the support polygon", length),
        about="balance", depends="force", when="standing", slack=0.001,
        programme=Programme(0.02, smooth=_zmp_by_edge), transitions=True,
    ),
    Check(
        name="friction", unit="of the weight", items=_patches, margins=_friction, comfortable=_share,
        words=Words("friction", "{item} lacks friction for {far} of the weight",
                    "{item} has friction for {far} of the weight to spare", percent),
        about="feet", depends="force", when="standing", slack=0.02,
        programme=Programme(0.1, smooth=_friction_by_side), transitions=True,
    ),
    Check(
        name="twist", unit="of the weight", items=_patches, margins=_twist, comfortable=_share,
        words=Words("turning feet", "{item} would turn on the floor: friction for {far} of the weight is missing",
                    "{item} does not turn on the floor: friction for {far} of the weight to spare", percent),
        about="feet", depends="force", when="standing", slack=0.005,
        programme=Programme(0.1, smooth=_twist_by_side), transitions=True,
    ),
    Check(
        name="unilateral", unit="of the weight", items=_patches, margins=_unilateral, comfortable=_share,
        words=Words("weight on each foot", "{item} would have to pull on the floor with {far} of the weight",
                    "{item} presses on the floor with {far} of the weight", percent),
        about="feet", depends="force", when="standing", slack=0.02, programme=Programme(0.1),
    ),
    Check(
        name="slip", unit="m", items=_patches, margins=_slip, comfortable=_still,
        words=Words("planted feet", "{item} slides {far} too far from where it is planted", "{item} stays in place",
                    length),
        about="feet", depends="posture", when="standing", news=-np.inf,
        programme=Programme(0.005, smooth=_slip_smoothly, give=STANDS, most=_allowed),
    ),
    Check(
        name="placement", unit="m", items=_all_feet, margins=_placement, comfortable=_still,
        words=Words("feet's distance", "the planted feet are {far} too near or too far from each other",
                    "the planted feet keep their distance", length),
        about="feet", depends="posture", when="standing", news=-np.inf,
    ),
    Check(
        name="flight", unit="of the weight", items=_whole, margins=_flight, comfortable=_free_fall,
        words=Words("flight", "nothing carries the body ({far} of its weight missing)", "the body flies freely",
                    percent),
        about="body", depends="force", when="airborne", news=-np.inf,
        programme=Programme(0.1, smooth=_flight_by_axis),
    ),
    Check(
        name="self-collision", unit="m", items=_pairs, margins=_collision, comfortable=_apart,
        words=Words("collisions", "{item} overlap by {far}", "{item} are {far} apart", length),
        about="touch", depends="posture", needs_contacts=False, none_near="no pair within reach", slack=0.002, 
        programme=Programme(0.02, nearby="pairs"),
    ),
    Check(
        name="floor", unit="m", items=_links, margins=_floor, comfortable=_apart,
        words=Words("height above the floor", "{item} is {far} below the floor", "{item} is {far} above the floor",
                    length),
        about="touch", depends="posture", news=LOW, programme=Programme(0.02, nearby="links"),
    ),
)  # fmt: skip


def check_named(name: str) -> Check:
    """A row of the table.

    Raises:
        UnknownName: no such check.
    """
    for check in CHECKS:
        if check.name == name:
            return check
    raise UnknownName(name, [check.name for check in CHECKS])


TORQUE, FLOOR = check_named("joint torque"), check_named("floor")
"""Checks whose margins others than checkers hold by their own slopes."""
