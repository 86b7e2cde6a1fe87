"""Settings for authoring and designing dances, stored with the scene."""

from __future__ import annotations

from typing import Any

import bpy

from ..base.bpy_access import scene
from ..base.option_fields import option_group
from ..base.scene_rigs import active_rig
from ..base.solver_api import CompleteOptions, DanceOptions, errors

ROLES = (
    ("fixed", "Fixed", "The posture must not change (keyframe type Extreme)", "KEYTYPE_EXTREME_VEC", 0),
    (
        "preferred",
        "Preferred",
        "The posture changes as little as possible (keyframe type Keyframe)",
        "KEYTYPE_KEYFRAME_VEC",
        1,
    ),
    ("free", "Free", "Complete replaces the posture (keyframe type Breakdown)", "KEYTYPE_BREAKDOWN_VEC", 2),
)
GHOST_PLACES = (
    ("over", "Over", "The ghost is at the same place as the rig"),
    ("beside", "Beside", "The ghost is beside the rig"),
)


def _get_posture_name(settings: DanceSettings) -> str:
    from .keying import posture_name_at_frame

    body = active_rig(bpy.context)
    return "" if body is None else posture_name_at_frame(scene(bpy.context), body)


def _set_posture_name(settings: DanceSettings, name: str) -> None:
    from .keying import name_posture

    body = active_rig(bpy.context)
    if body is not None:
        try:
            name_posture(scene(bpy.context), body, name)
        except errors.SolverError:
            return  # nothing is keyed, and the panel hides this field


def _on_ghost_place_changed(settings: DanceSettings, context: bpy.types.Context) -> None:
    from .ghost import find_ghost, place_ghost

    body = active_rig(context)
    ghost = None if body is None else find_ghost(scene(context), body)
    if body is None or ghost is None:
        return
    try:
        place_ghost(body, ghost, beside=settings.ghost_place == "beside")
    except errors.SolverError:
        return  # the panel shows what is wrong with the rig


SKILLS = (
    ("usual", "Usual", "Intermediate for a person, expert for a robot"),
    ("beginner", "Beginner", "Small ranges of motion, slow, no bending backward"),
    ("intermediate", "Intermediate", "Comfortable ranges of motion and speeds"),
    ("expert", "Expert", "Full anatomical ranges of motion"),
)


FIELDS: dict[str, Any] = {"bpm": {"precision": 0}, "skill": {"items": SKILLS, "default": "usual"}}


class DanceSettings(option_group(DanceOptions, CompleteOptions, **FIELDS), bpy.types.PropertyGroup):  # type: ignore[misc]
    """Settings for dances in a scene."""

    role: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Role", description="How far the posture may change", items=ROLES, default="preferred"
    )
    between: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace In-betweens",
        description="When a posture is keyed, remove the generated keys up to the neighbouring postures",
        default=True,
    )
    posture_name: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Name",
        description="Name of the posture at this frame, stored as a pose marker of the action",
        get=_get_posture_name,
        set=_set_posture_name,
    )
    postures: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Phrases",
        description="Number of phrases, mirrored ones included: half on both feet, the others on either foot",
        default=8,
        min=1,
        soft_max=60,
        max=400,
    )
    effort: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Search Effort",
        description="Effort of the search: 0.2 for a preview, 1 for a final dance",
        default=0.5,
        min=0.02,
        soft_max=2.0,
        max=10.0,
    )
    posed: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Named Postures",
        description="Use the named postures of the timeline, varied in size and side",
    )
    dynamics: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Include Torques", description="Slow down for torques, balance and friction too, not only for joint speeds"
    )
    ghost_place: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Ghost", description="Where the ghost is shown", items=GHOST_PLACES, update=_on_ghost_place_changed
    )
    performed: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Performance",
        description="Results folder of a recording of this dance. If empty, the rig's own study",
        subtype="DIR_PATH",
    )
    trial: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Trial", description="Trial to compare, if the folder contains several"
    )


def dance_settings(context: bpy.types.Context) -> DanceSettings:
    """The scene's settings of dances."""
    return context.scene.exciting_dance_dance


CLASSES = (DanceSettings,)
