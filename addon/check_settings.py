"""Check settings of a rig's dance, stored with the rig. Designing a dance stores them; every check uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy

from . import custom_properties
from .solver_api import DANCE_CHECKS, CheckOptions, errors

CHECKS_KEY = "dance checks"
"""Custom property of the armature object: all check options as JSON, in double precision."""
DIGITS = 6
"""Decimal places of a number typed into a field, which Blender stores in single precision."""
SHOWN_CHECKS = ("shrink", "friction", "allowed_slip", "clearance", "pairs")
PAIRS = (
    ("all", "All", "Check all pairs of links that are not neighbours"),
    ("paper", "Published", "Check the pairs of Bonnet et al. 2016, section III.D. Faster, but may miss a collision"),
    ("own", "Custom", "Check pairs that were chosen outside Blender"),
)
PAIR_NUMBERS = {name: number for number, (name, _, _) in enumerate(PAIRS)}


def read_checks(body: bpy.types.Object) -> CheckOptions:
    """Check options of a rig's dance; the defaults if none are stored.

    Raises:
        InvalidValue: the rig's custom property was edited and is damaged.
    """
    from .solver_api import from_tree

    if CHECKS_KEY not in body:
        return DANCE_CHECKS
    remedy = "delete it to use the defaults"
    tree = custom_properties.read_object(body, CHECKS_KEY, remedy)
    try:
        found: CheckOptions = from_tree(CheckOptions, tree)
    except (ValueError, OverflowError, errors.SolverError) as error:
        raise custom_properties.damaged_error(body, CHECKS_KEY, str(error), remedy) from None
    return found


def store_checks(body: bpy.types.Object, checks: CheckOptions) -> None:
    """Store check options with a rig."""
    from .solver_api import to_tree

    body[CHECKS_KEY] = json.dumps(to_tree(checks))


def check_arguments(body: bpy.types.Object | None) -> list[str]:
    """A rig's check options as command-line arguments of `dance`; none without a rig, which means the defaults."""
    if body is None:
        return []
    checks = read_checks(body)
    options = {name: getattr(checks, name) for name in SHOWN_CHECKS if not isinstance(getattr(checks, name), tuple)}
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def _checks_or_default(body: bpy.types.Object) -> CheckOptions:
    """As `read_checks`, but the defaults for a damaged rig, because the fields must show a value."""
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
    if PAIRS[number][0] != "own":  # it only shows that custom pairs are stored
        _store_changes(self.id_data, {"pairs": PAIRS[number][0]})


class CheckSettings(bpy.types.PropertyGroup):
    """Fields for a rig's check options; each reads and writes the one stored value."""

    shrink: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Shrink Support",
        description="Fraction by which the support polygon is shrunk about its centre as a safety margin",
        get=_getter("shrink"),
        set=_setter("shrink"),
        min=0.0,
        max=0.95,
        subtype="FACTOR",
    )
    friction: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Friction",
        description="Friction coefficient between soles and floor",
        get=_getter("friction"),
        set=_setter("friction"),
        min=0.01,
        max=2.0,
        precision=2,
    )
    allowed_slip: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Allowed Slip",
        description="Distance by which a planted foot may slide, because keyed feet are never perfectly still",
        get=_getter("allowed_slip"),
        set=_setter("allowed_slip"),
        min=0.0,
        max=0.1,
        precision=4,
        unit="LENGTH",
    )
    clearance: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Clearance",
        description="Minimum distance between links",
        get=_getter("clearance"),
        set=_write_clearance,
        min=0.0,
        max=0.2,
        precision=4,
        unit="LENGTH",
    )
    pairs: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Collisions",
        description="Pairs of links that must not touch",
        items=PAIRS,
        get=_read_pairs,
        set=_write_pairs,
    )


def check_settings(body: bpy.types.Object) -> CheckSettings:
    """The check fields of a rig."""
    return body.exciting_dance_checks  # type: ignore[attr-defined]


def register() -> None:
    """Add the fields to all objects; panels show them for rigs only."""
    bpy.types.Object.exciting_dance_checks = bpy.props.PointerProperty(type=CheckSettings)  # type: ignore[attr-defined]


def unregister() -> None:
    """Remove the fields; the stored options stay in the rigs' custom property."""
    del bpy.types.Object.exciting_dance_checks  # type: ignore[attr-defined]


CLASSES = (CheckSettings,)
