"""Replaces command-line options in the solver's messages by the panel fields that set the same value."""

from __future__ import annotations

import re

import bpy

STUDY, DANCE, CHECKS = "exciting_dance", "exciting_dance_dance", "exciting_dance_checks"
CAPTURE = "exciting_dance_capture"
"""Properties of a scene or a rig that store the settings."""

FIELDS: dict[str, tuple[str, str, str]] = {
    "postures": ("design", DANCE, "postures"),
    "min-duration": ("design", DANCE, "shortest"),
    "hold": ("design", DANCE, "hold"),
    "passes": ("design", DANCE, "passes"),
    "emphasise": ("design", DANCE, "emphasis"),
    "objective": ("design", DANCE, "objective"),
    "poses": ("design", DANCE, "posed"),
    "bpm": ("design", DANCE, "bpm"),
    "skill": ("design", DANCE, "skill"),
    "effort": ("design", DANCE, "effort"),
    "seed": ("design", DANCE, "seed"),
    "interpolate": ("check", DANCE, "calm"),
    "dynamics": ("check", DANCE, "dynamics"),
    "trial": ("perform", DANCE, "trial"),
    "shrink": ("checks", CHECKS, "shrink"),
    "friction": ("checks", CHECKS, "friction"),
    "allowed-slip": ("checks", CHECKS, "allowed_slip"),
    "clearance": ("checks", CHECKS, "clearance"),
    "pairs": ("checks", CHECKS, "pairs"),
    "feet": ("stated", STUDY, "stated_feet"),
    "soles": ("stated", STUDY, "stated_soles"),
    "patches": ("stated", STUDY, "stated_patches"),
    "torques": ("stated", STUDY, "stated_torques"),
    "may-touch": ("stated", STUDY, "stated_pairs"),
    "srdf": ("stated", STUDY, "stated_srdf"),
    "packages": ("rig", STUDY, "packages"),
    "height": ("rig", STUDY, "height"),
    "sex": ("rig", STUDY, "sex"),
    "mass": ("rig", STUDY, "mass"),
    "smooth": ("identify", STUDY, "smooth"),
    "trunk": ("identify", STUDY, "trunk"),
    "shoulders": ("identify", STUDY, "shoulders"),
    "method": ("identify", STUDY, "method"),
    "flight-only": ("identify", STUDY, "flight_only"),
    "bootstrap": ("identify", STUDY, "bootstrap"),
    "output": ("identify", STUDY, "output"),
    "marker-set": ("markers", STUDY, "marker_set"),
    "keep-timing": ("retarget", STUDY, "follow_pace"),
    "slower": ("retarget", STUDY, "follow_slower"),
    "allow-collisions": ("retarget", STUDY, "follow_overlaps"),
    "no-step-completion": ("retarget", STUDY, "follow_broken_steps"),
    "forces": ("retarget", STUDY, "follow_forces"),
    "address": ("stream", CAPTURE, "address"),
    "port": ("stream", CAPTURE, "port"),
    "lsl": ("stream", CAPTURE, "lsl"),
    "budget": ("stream", CAPTURE, "budget"),
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
