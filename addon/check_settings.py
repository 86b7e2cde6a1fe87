"""What a rig's dance is held to, kept with the rig: design leaves it here, and every verdict on the dance uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy

from . import custom_properties as custom
from .solver_api import DANCE_CHECKS, CheckOptions, errors

CHECKS_KEY = "dance checks"
"""Custom property of the armature object: all choices as JSON, in double precision."""
DIGITS = 6
"""After the point, of a number typed into a field, which Blender keeps in single precision."""
SHOWN_CHECKS = ("shrink", "friction", "allowed_slip", "clearance", "pairs")
PAIRS = (
    ("all", "All", "No two links touch that are not neighbours"),
    ("paper", "Paper's", "The pairs of bonnet2016 III.D: faster, may miss a touch"),
    ("own", "Own", "Pairs that were chosen outside Blender"),
)
PAIR_NUMBERS = {name: number for number, (name, _, _) in enumerate(PAIRS)}


def read_checks(body: bpy.types.Object) -> CheckOptions:
    """What the rig's dance is held to.

    Raises:
        InvalidValue: the rig's custom property was edited by hand and is damaged.
    """
    from .solver_api import from_tree

    if CHECKS_KEY not in body:
        return DANCE_CHECKS
    remedy = "remove it to begin with the defaults"
    tree = custom.read_object(body, CHECKS_KEY, remedy)
    try:
        found: CheckOptions = from_tree(CheckOptions, tree)
    except (ValueError, OverflowError, errors.SolverError) as error:
        raise custom.damaged_error(body, CHECKS_KEY, str(error), remedy) from None
    return found


def store_checks(body: bpy.types.Object, checks: CheckOptions) -> None:
    """Judge the rig's dance by these checks from now on."""
    from .solver_api import to_tree

    body[CHECKS_KEY] = json.dumps(to_tree(checks))


def check_arguments(body: bpy.types.Object | None) -> list[str]:
    """The same as options of a verb that designs a dance; none without a rig, whose defaults are the verb's."""
    if body is None:
        return []
    checks = read_checks(body)
    told = {name: getattr(checks, name) for name in SHOWN_CHECKS if not isinstance(getattr(checks, name), tuple)}
    return [word for name, value in told.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def _checks_or_default(body: bpy.types.Object) -> CheckOptions:
    """As `read_checks`, of a damaged rig the defaults: fields must show something."""
    try:
        return read_checks(body)
    except errors.InvalidValue:
        return DANCE_CHECKS


def _store_changes(body: bpy.types.Object, changes: dict[str, Any]) -> None:
    store_checks(body, replace(_checks_or_default(body), **changes))


def _getter(name: str) -> Callable[[Any], float]:
    return lambda self: float(getattr(_checks_or_default(self.id_data), name))


def _setter(name: str) -> Callable[[Any, float], None]:
    return lambda self, value: _store_changes(self.id_data, {name: round(value, DIGITS)})


def _write_clearance(self: Any, value: float) -> None:
    clearance = round(value, DIGITS)
    reach = max(_checks_or_default(self.id_data).reach, clearance + DANCE_CHECKS.reach)
    _store_changes(self.id_data, {"clearance": clearance, "reach": reach})


def _read_pairs(self: Any) -> int:
    pairs = _checks_or_default(self.id_data).pairs
    return PAIR_NUMBERS[pairs if isinstance(pairs, str) else "own"]


def _write_pairs(self: Any, number: int) -> None:
    if PAIRS[number][0] != "own":  # which only says that there are some
        _store_changes(self.id_data, {"pairs": PAIRS[number][0]})


class CheckSettings(bpy.types.PropertyGroup):
    """The fields of a rig's checks; each reads and writes the one value."""

    shrink: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Shrink support",
        description="Share by which the support polygon is shrunk about its centre, to be safe",
        get=_getter("shrink"),
        set=_setter("shrink"),
        min=0.0,
        max=0.95,
        subtype="FACTOR",
    )
    friction: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Friction",
        description="Coefficient between soles and floor",
        get=_getter("friction"),
        set=_setter("friction"),
        min=0.01,
        max=2.0,
        precision=2,
    )
    allowed_slip: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Allowed slip",
        description="By which a standing foot may leave its place; hand-made feet are never quite still",
        get=_getter("allowed_slip"),
        set=_setter("allowed_slip"),
        min=0.0,
        max=0.1,
        precision=4,
        unit="LENGTH",
    )
    clearance: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Clearance",
        description="Distance that links keep from each other",
        get=_getter("clearance"),
        set=_write_clearance,
        min=0.0,
        max=0.2,
        precision=4,
        unit="LENGTH",
    )
    pairs: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Collisions", description="Links that must not touch", items=PAIRS, get=_read_pairs, set=_write_pairs
    )


def check_settings(body: bpy.types.Object) -> CheckSettings:
    """The fields of a rig."""
    return body.exciting_dance_checks  # type: ignore[attr-defined]


def register() -> None:
    """Give every object the fields; only rigs show them."""
    bpy.types.Object.exciting_dance_checks = bpy.props.PointerProperty(type=CheckSettings)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take them away; what rigs carry stays in their custom property."""
    del bpy.types.Object.exciting_dance_checks  # type: ignore[attr-defined]


CLASSES = (CheckSettings,)
