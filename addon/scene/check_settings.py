"""Check settings of a rig's dance, stored with the rig. Designing a dance stores them; every check uses them."""

from __future__ import annotations

import json
from typing import Any

import bpy

from ..base import custom_properties
from ..base.option_fields import DIGITS, labelled, option_group
from ..base.solver_api import DANCE_CHECKS, CheckOptions, errors

CHECKS_KEY = "dance checks"
"""Custom property of the armature object: all check options as JSON, in double precision."""
SHOWN_CHECKS = labelled(CheckOptions)


def read_checks(body: bpy.types.Object) -> CheckOptions:
    """Check options of a rig's dance; the defaults if none are stored.

    Raises:
        InvalidValue: the rig's custom property was edited and is damaged.
    """
    from ..base.solver_api import from_tree

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
    from ..base.solver_api import to_tree

    body[CHECKS_KEY] = json.dumps(to_tree(checks))


def check_arguments(body: bpy.types.Object | None) -> list[str]:
    """A rig's check options as command-line arguments of `dance`; none without a rig, which means the defaults."""
    if body is None:
        return []
    checks = read_checks(body)
    return [word for name, each in SHOWN_CHECKS.items() for word in (each.flag, str(getattr(checks, name)))]


def _checks_or_default(body: bpy.types.Object) -> CheckOptions:
    """As `read_checks`, but the defaults for a damaged rig, because the fields must show a value."""
    try:
        return read_checks(body)
    except errors.InvalidValue:
        return DANCE_CHECKS


def _store_changes(body: bpy.types.Object, changes: dict[str, Any]) -> None:
    store_checks(body, _checks_or_default(body).changed(**changes))


def _stored(name: str) -> dict[str, Any]:
    """Settings of a field that reads and writes the one stored value."""
    kind = SHOWN_CHECKS[name].kind

    def read(self: Any) -> Any:
        return kind(getattr(_checks_or_default(self.id_data), name))

    def write(self: Any, value: Any) -> None:
        _store_changes(self.id_data, {name: kind(round(value, DIGITS))})

    return {"get": read, "set": write}


FIELDS = {name: _stored(name) for name in SHOWN_CHECKS}


class CheckSettings(option_group(CheckOptions, **FIELDS), bpy.types.PropertyGroup):  # type: ignore[misc]
    """Fields for a rig's check options; each reads and writes the one stored value."""


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
