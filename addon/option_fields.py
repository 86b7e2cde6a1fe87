"""Blender's properties for options of the solver, from the declarations of `solver.options`."""

from __future__ import annotations

from typing import Any

import bpy

from .solver_api import declarations

DIGITS = 6
"""Decimal places of a number typed into a field, which Blender stores in single precision."""
UNITS = {"m": {"unit": "LENGTH"}, "s": {"subtype": "TIME_ABSOLUTE"}}
"""Blender's settings by an option's unit."""


def option_field(kind: type, name: str, **settings: Any) -> Any:
    """The property of an option: label, tooltip and limits as declared.

    Args:
        kind: class of options.
        name: of its field.
        settings: of the property, in addition or instead.
    """
    declared = declarations(kind)[name]
    meaning = declared.meaning
    common = {"name": declared.option.label, "description": meaning[:1].upper() + meaning[1:]}
    if declared.default is not None and "get" not in settings and not declared.choices:
        common["default"] = declared.default
    if not declared.is_number:
        return (bpy.props.BoolProperty if declared.kind is bool else bpy.props.EnumProperty)(**{**common, **settings})
    limits = declared.option.range
    step = 1 if declared.kind is int else 10.0**-DIGITS
    numbers = {
        "min": limits.low + step * limits.above,
        "max": min(limits.high - step * limits.below, 2**31 - 1),
        **dict(zip(("soft_min", "soft_max"), declared.option.slider or ())),
        **({} if declared.kind is int else UNITS.get(declared.unit, {})),
    }
    property_of = bpy.props.IntProperty if declared.kind is int else bpy.props.FloatProperty
    return property_of(**{**common, **numbers, **settings})


def option_words(settings: Any, kind: type) -> list[str]:
    """Command-line words for the options of a class that a property group shows and that are not its defaults."""
    words, properties = [], settings.bl_rna.properties
    for name, declared in declarations(kind).items():
        if name in properties and (value := getattr(settings, name)) != properties[name].default:
            shown = round(value, DIGITS) if isinstance(value, float) else value
            words += [declared.flag] if declared.kind is bool else [declared.flag, str(shown)]
    return words
