"""What a rig's dance is held to, kept with the rig: design leaves it here, and every verdict on the dance uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy

from . import custom
from .values import DANCE_CHECKS, CheckOptions, errors

KEY = "dance checks"
"""Custom property of the armature object: all choices as JSON, in double precision."""
DIGITS = 6
"""After the point, of a number typed into a field, which Blender keeps in single precision."""
SHOWN = ("shrink", "friction", "allowed_slip", "clearance", "pairs")
PAIRS = (
    ("all", "All", "No two links touch that are not neighbours"),
    ("paper", "Paper's", "The pairs of bonnet2016 III.D: faster, may miss a touch"),
    ("own", "Own", "Pairs that were chosen outside Blender"),
)
NUMBERS = {name: number for number, (name, _, _) in enumerate(PAIRS)}


def checks_of(body: bpy.types.Object) -> CheckOptions:
    """What the rig's dance is held to.

    Raises:
        InvalidValue: the rig's custom property was edited by hand and is damaged.
    """
    from .values import from_tree

    if KEY not in body:
        return DANCE_CHECKS
    remedy = "remove it to begin with the defaults"
    tree = custom.tree(body, KEY, remedy)
    try:
        found: CheckOptions = from_tree(CheckOptions, tree)
    except (ValueError, OverflowError, errors.SolverError) as error:
        raise custom.damaged(body, KEY, str(error), remedy) from None
    return found


def hold_to(body: bpy.types.Object, checks: CheckOptions) -> None:
    """Judge the rig's dance by these checks from now on."""
    from .values import to_tree

    body[KEY] = json.dumps(to_tree(checks))


def words_of(body: bpy.types.Object | None) -> list[str]:
    """The same as options of a verb that designs a dance; none without a rig, whose defaults are the verb's."""
    if body is None:
        return []
    checks = checks_of(body)
    told = {name: getattr(checks, name) for name in SHOWN if not isinstance(getattr(checks, name), tuple)}
    return [word for name, value in told.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def _shown(body: bpy.types.Object) -> CheckOptions:
    """As `checks_of`, of a damaged rig the defaults: fields must show something."""
    try:
        return checks_of(body)
    except errors.InvalidValue:
        return DANCE_CHECKS


def _changed(body: bpy.types.Object, changes: dict[str, Any]) -> None:
    hold_to(body, replace(_shown(body), **changes))


def _reader(name: str) -> Callable[[Any], float]:
    return lambda self: float(getattr(_shown(self.id_data), name))


def _writer(name: str) -> Callable[[Any, float], None]:
    return lambda self, value: _changed(self.id_data, {name: round(value, DIGITS)})


def _write_clearance(self: Any, value: float) -> None:
    clearance = round(value, DIGITS)
    reach = max(_shown(self.id_data).reach, clearance + DANCE_CHECKS.reach)
    _changed(self.id_data, {"clearance": clearance, "reach": reach})


def _read_pairs(self: Any) -> int:
    pairs = _shown(self.id_data).pairs
    return NUMBERS[pairs if isinstance(pairs, str) else "own"]


def _write_pairs(self: Any, number: int) -> None:
    if PAIRS[number][0] != "own":  # which only says that there are some
        _changed(self.id_data, {"pairs": PAIRS[number][0]})


class CheckSettings(bpy.types.PropertyGroup):
    """The fields of a rig's checks; each reads and writes the one value."""

    shrink: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Shrink support",
        description="Share by which the support polygon is shrunk about its centre, to be safe",
        get=_reader("shrink"),
        set=_writer("shrink"),
        min=0.0,
        max=0.95,
        subtype="FACTOR",
    )
    friction: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Friction",
        description="Coefficient between soles and floor",
        get=_reader("friction"),
        set=_writer("friction"),
        min=0.01,
        max=2.0,
        precision=2,
    )
    allowed_slip: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Allowed slip",
        description="By which a standing foot may leave its place; hand-made feet are never quite still",
        get=_reader("allowed_slip"),
        set=_writer("allowed_slip"),
        min=0.0,
        max=0.1,
        precision=4,
        unit="LENGTH",
    )
    clearance: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Clearance",
        description="Distance that links keep from each other",
        get=_reader("clearance"),
        set=_write_clearance,
        min=0.0,
        max=0.2,
        precision=4,
        unit="LENGTH",
    )
    pairs: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Collisions", description="Links that must not touch", items=PAIRS, get=_read_pairs, set=_write_pairs
    )


def settings_of(body: bpy.types.Object) -> CheckSettings:
    """The fields of a rig."""
    return body.exciting_dance_checks  # type: ignore[attr-defined]


def register() -> None:
    """Give every object the fields; only rigs show them."""
    bpy.types.Object.exciting_dance_checks = bpy.props.PointerProperty(type=CheckSettings)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take them away; what rigs carry stays in their custom property."""
    del bpy.types.Object.exciting_dance_checks  # type: ignore[attr-defined]


CLASSES = (CheckSettings,)
