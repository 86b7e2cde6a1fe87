"""HOAP-3: a small humanoid with 21 joints and 22 moving bodies, from public data.

bonnet2016 counts twelve rigid segments (a hip's three axes as one joint); here every joint has its own link. The head
and the wrists, which the paper does not move, are fixed to the chest and forearms. At zero the robot stands with
straight legs and arms stretched forward; every link frame is then parallel to the base (x forward, y left, z up).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.assets import read_asset
from ..base.errors import UnknownPreset, checked
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .anthropometry import SegmentInertia
from .assembly import assemble
from .robot_assets import build_bodies, build_shapes, build_soles, left_right_pairs

MAX_SPEED = 1.0
"""Joint speed limit of bonnet2016 [rad/s]; the public URDF has only placeholders."""
TORQUE_RATINGS = ("rated", "peak")
"""Choices of the motors' published torques as limits of the joints."""
MILLI, SQUARE_MILLI = 1e-3, 1e-6


@checked
def hoap3(payload: str = "battery_radio", torque: str = "peak") -> Rig:
    """HOAP-3 with one of the manufacturer's three trunk loads.

    The limits are the motors' peak torques by default, because the rated torque of a hip is too small to stand on one
    foot. If sources disagree on a joint's range, the narrower one is used, except that the knee may stretch to zero.
    With the published link lengths the robot is 0.60 m tall, not 0.88 m as bonnet2016 states.

    Args:
        payload: ``"battery_radio"`` (trunk 3.26 kg, 8.80 kg in all), ``"middle"`` (2.40 kg, 7.94 kg in all, nearest
            to the 7.9 kg of bonnet2016) or ``"light"`` (1.80 kg, 7.34 kg in all).
        torque: limits: the motors' ``"peak"`` or ``"rated"`` torques.

    Raises:
        UnknownPreset: another payload or torque.

    Example:
        >>> import solver
        >>> robot = solver.hoap3("middle")
        >>> f"{len(robot.links)} links, {robot.prior.total_mass:.2f} kg"
        '22 links, 7.94 kg'
    """
    asset = read_asset("hoap3")
    if payload not in asset["payloads"]:
        raise UnknownPreset(payload, asset["payloads"])
    if torque not in TORQUE_RATINGS:
        raise UnknownPreset(torque, TORQUE_RATINGS)
    records = asset["links"]
    links = tuple(record["name"] for record in records)
    table = {**asset["rows"], "BODY1": asset["payloads"][payload]}
    parts = [_link_inertia(record, table, asset["dh_axes"]) for record in records]
    prior = InertialParameters.from_com(
        links,
        np.array([p.mass for p in parts]),
        np.array([p.com for p in parts]),
        np.array([p.inertia for p in parts]),
    )
    joints, limits = assemble(build_bodies(records, MAX_SPEED, TORQUE_RATINGS.index(torque)))
    return Rig(
        name=f"HOAP-3 ({payload.replace('_', ' and ')})",
        links=links,
        joints=joints,
        prior=prior,
        boxes=np.array([record["box"] for record in records]),
        limits=limits,
        contacts=build_soles(asset["soles"]),
        pairs=left_right_pairs(links),
        shapes=build_shapes(asset["shapes"]),
        tips=np.array([record["tip"] for record in records]),
        notes=(
            asset["source"],
            f"torque limits: {torque}; ranges: the narrower of two public sources, knee from 0 deg; speeds: 1 rad/s",
        ),
        provenance={"kind": "hoap3", "payload": payload, "torque": torque, "base_link": "waist"},
    )


def _link_inertia(
    record: Mapping[str, Any], table: Mapping[str, Any], axes: Mapping[str, Mapping[str, Sequence[float]]]
) -> SegmentInertia:
    """Inertia of all table rows of a link; a row's Denavit-Hartenberg axes are rotated to the link's."""
    side = {"right": "R", "left": "L"}.get(record["name"].split("_")[0], "")
    total: SegmentInertia | None = None
    for row_name, place in record["rows"].items():
        row = table[side + row_name]
        x, z = (np.array(axes[row_name][a], float) for a in ("x", "z"))
        turn = np.column_stack([x, np.cross(z, x), z])
        xx, yy, zz, xy, xz, yz = np.array(row["inertia"]) * SQUARE_MILLI
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        com = MILLI * np.array(row["com"])
        part = SegmentInertia(row["mass"], turn @ com + place, turn @ inertia @ turn.T)
        total = part if total is None else total.combine(part, np.zeros(3))
    assert total is not None
    return total
