"""Fields of the solver's options in Blender: properties as declared, and labels in the solver's messages."""

from __future__ import annotations

import re
from typing import Any

import bpy

from .solver_api import (
    CheckOptions,
    CohortOptions,
    CompleteOptions,
    DanceOptions,
    Declaration,
    RetargetOptions,
    declarations,
)
from .solver_api import Settings as StudySettings

DIGITS = 6
"""Decimal places of a number typed into a field, which Blender stores in single precision."""
UNITS: dict[str, dict[str, Any]] = {
    "m": {"unit": "LENGTH", "precision": 4},
    "s": {"subtype": "TIME_ABSOLUTE", "precision": 1},
}
"""Blender's settings by an option's unit."""
STUDY, DANCE, CHECKS = "exciting_dance", "exciting_dance_dance", "exciting_dance_checks"
CAPTURE = "exciting_dance_capture"
"""Properties of a scene or a rig that store the settings."""

PANELS: tuple[tuple[str, str, type], ...] = (
    ("design", DANCE, DanceOptions),
    ("check", DANCE, CompleteOptions),
    ("checks", CHECKS, CheckOptions),
    ("identify", STUDY, CohortOptions),
    ("identify", STUDY, StudySettings),
    ("retarget", STUDY, RetargetOptions),
)
"""Panel, settings that store the values, and class of options whose labelled ones are its fields."""
SAME_NAME: tuple[tuple[str, str, str], ...] = (
    ("design", DANCE, "postures effort"),
    ("check", DANCE, "dynamics"),
    ("perform", DANCE, "trial"),
    ("rig", STUDY, "packages height sex mass"),
    ("identify", STUDY, "output"),
    ("markers", STUDY, "marker-set"),
    ("stream", CAPTURE, "address port lsl budget"),
)
"""Panel, settings that store the values, and other options whose property has the same name."""


def labelled(kind: type) -> dict[str, Declaration]:
    """Options of a class that have a field in Blender, by name."""
    return {name: each for name, each in declarations(kind).items() if each.option.label}


FIELDS: dict[str, tuple[str, str, str]] = {
    **{each.flag[2:]: (panel, kept, name) for panel, kept, kind in PANELS for name, each in labelled(kind).items()},
    **{name: (panel, kept, name.replace("-", "_")) for panel, kept, names in SAME_NAME for name in names.split()},
    "poses": ("design", DANCE, "posed"),
    "feet": ("stated", STUDY, "stated_feet"),
    "soles": ("stated", STUDY, "stated_soles"),
    "patches": ("stated", STUDY, "stated_patches"),
    "torques": ("stated", STUDY, "stated_torques"),
    "may-touch": ("stated", STUDY, "stated_pairs"),
    "srdf": ("stated", STUDY, "stated_srdf"),
    "forces": ("retarget", STUDY, "follow_forces"),
}
"""By option: the panel that shows its field, and the settings and property that store it."""
COMMANDS = {"python -m solver excite": "Fixed-Base Arm > Design Motion"}
"""By command: the button that does the same."""
LIST_OPTIONS = {"place": "Markers > Location"}
"""By option: the list column that sets it."""
COMMAND_LINE = "on the command line "
OPTION = re.compile(rf"(?<![\w-])(?<!{COMMAND_LINE})--([a-z][a-z0-9-]*)")
USAGE = re.compile(r" \(see [^()]* --help\)")


def option_group(*kinds: type, **settings: dict[str, Any]) -> Any:
    """Base of a property group with a property for each labelled option of the classes.

    Args:
        kinds: classes of options.
        settings: of single properties, in addition to what is declared, by option.
    """
    shown = [(kind, name) for kind in kinds for name in labelled(kind)]
    return type("Options", (), {"__annotations__": {n: option_field(k, n, **settings.get(n, {})) for k, n in shown}})


def option_field(kind: type, name: str, **settings: Any) -> Any:
    """The property of an option: label, tooltip, limits and choices as declared.

    Args:
        kind: class of options.
        name: of its field.
        settings: of the property, in addition or instead.
    """
    declared = declarations(kind)[name]
    meaning = declared.meaning
    common = {"name": declared.option.label, "description": meaning[:1].upper() + meaning[1:]}
    if declared.default is not None and "get" not in settings:
        common["default"] = declared.default
    if declared.kind is bool:
        return bpy.props.BoolProperty(**{**common, **settings})
    if not declared.is_number and not declared.choices:
        return bpy.props.StringProperty(**{**common, **settings})
    if not declared.is_number:
        items = [(each, each.replace("_", " ").title(), "") for each in declared.choices]
        return bpy.props.EnumProperty(**{**common, "items": items, **settings})
    limits = declared.option.range
    step = 1 if declared.kind is int else 10.0**-DIGITS
    lowest = limits.low + step * limits.above
    numbers = {
        "min": lowest if limits.also is None else min(lowest, limits.also),
        "max": min(limits.high - step * limits.below, 2**31 - 1),
        **dict(zip(("soft_min", "soft_max"), declared.option.slider or ())),
        **({} if declared.kind is int else UNITS.get(declared.unit, {})),
        **({"subtype": "FACTOR"} if limits.high == 1.0 else {}),
    }
    property_of = bpy.props.IntProperty if declared.kind is int else bpy.props.FloatProperty
    return property_of(**{**common, **numbers, **settings})


def shown_values(settings: Any, kind: type) -> dict[str, Any]:
    """Values that a property group shows for the labelled options of a class, by option."""
    values = {name: getattr(settings, name) for name in labelled(kind)}
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in values.items()}


def option_words(settings: Any, kind: type, *names: str) -> list[str]:
    """Command-line words for the labelled options of a class, or the named ones, that are not a group's defaults."""
    words = []
    for name, value in shown_values(settings, kind).items():
        declared = declarations(kind)[name]
        if name in (names or (name,)) and getattr(settings, name) != settings.bl_rna.properties[name].default:
            words += [declared.flag] if declared.kind is bool else [declared.flag, str(value)]
    return words


def use_field_labels(text: str) -> str:
    """Replace every option in a message of the solver by the panel field that sets it.

    ``"reduce it (--shrink)"`` becomes ``"reduce it (Checks > Shrink Support)"``. An option without a field keeps its
    name after the words "on the command line".
    """
    for command, button in COMMANDS.items():
        text = text.replace(command, button)
    return OPTION.sub(lambda found: find_field(found[1]) or f"{COMMAND_LINE}{found[0]}", USAGE.sub("", text))


def find_field(option: str) -> str:
    """Labels of the panel and field that set an option; empty if there is no such field."""
    if option not in FIELDS:
        return LIST_OPTIONS.get(option, "")
    place, kept, name = FIELDS[option]
    owner = bpy.types.Object if kept == CHECKS else bpy.types.Scene
    panel, settings = getattr(bpy.types, f"EXCITING_DANCE_PT_{place}", None), owner.bl_rna.properties.get(kept)
    if panel is None or not isinstance(
        settings, bpy.types.PointerProperty
    ):  # panels are not registered without a window
        return ""
    return f"{panel.bl_label} > {settings.fixed_type.properties[name].name}"
