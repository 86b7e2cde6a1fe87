"""Replaces command-line options in the solver's messages by the panel fields that set the same value."""

from __future__ import annotations

import re

import bpy

STUDY, DANCE, CHECKS = "exciting_dance", "exciting_dance_dance", "exciting_dance_checks"
CAPTURE = "exciting_dance_capture"
"""Properties of a scene or a rig that store the settings."""

SAME_NAME: tuple[tuple[str, str, str], ...] = (
    ("design", DANCE, "postures min-duration hold passes emphasise objective bpm skill effort seed"),
    ("check", DANCE, "interpolate dynamics"),
    ("perform", DANCE, "trial"),
    ("checks", CHECKS, "shrink friction allowed-slip clearance pairs"),
    ("rig", STUDY, "packages height sex mass"),
    ("identify", STUDY, "smooth trunk shoulders method flight-only bootstrap output"),
    ("markers", STUDY, "marker-set"),
    ("retarget", STUDY, "keep-timing slower allow-collisions no-step-completion"),
    ("stream", CAPTURE, "address port lsl budget"),
)
"""Panel, settings that store the values, and options whose property has the same name."""
FIELDS: dict[str, tuple[str, str, str]] = {
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
