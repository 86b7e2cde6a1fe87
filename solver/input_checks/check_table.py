"""The table of checks of recordings, one row each.

A new check is a file in `checks` that defines an `InputCheck`, and a row here.
"""

from __future__ import annotations

from .check_definition import InputCheck
from .checks.angle_unit import ANGLE_UNIT
from .checks.forces import FORCES
from .checks.joint_columns import JOINT_COLUMNS
from .checks.quaternion_order import QUATERNION_ORDER
from .checks.rate import RATE
from .checks.root_position import ROOT_POSITION
from .checks.sides import SIDES
from .checks.size import SIZE
from .checks.subjects import SUBJECTS
from .checks.upright import UPRIGHT

CHECKS: tuple[InputCheck, ...] = (
    SUBJECTS,
    JOINT_COLUMNS,
    ANGLE_UNIT,
    QUATERNION_ORDER,
    UPRIGHT,
    SIDES,
    SIZE,
    ROOT_POSITION,
    RATE,
    FORCES,
)
