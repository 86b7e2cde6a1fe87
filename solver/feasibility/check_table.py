"""The table of checks, one row each.

A new check is a file in `checks` that defines a `Check`, and a row here. Results, the command line, Blender, the
optimisations and the documentation read this table.
"""

from __future__ import annotations

from .check_definition import Check
from .checks.balance import ZMP
from .checks.collisions import FLOOR, SELF_COLLISION
from .checks.flight import FLIGHT
from .checks.friction import FRICTION, TWIST, UNILATERAL
from .checks.joint_limits import JOINT_ANGLE, JOINT_SPEED, JOINT_TORQUE
from .checks.planted_feet import PLACEMENT, SLIP

CHECKS: tuple[Check, ...] = (
    JOINT_ANGLE,
    JOINT_SPEED,
    JOINT_TORQUE,
    ZMP,
    FRICTION,
    TWIST,
    UNILATERAL,
    SLIP,
    PLACEMENT,
    FLIGHT,
    SELF_COLLISION,
    FLOOR,
)
