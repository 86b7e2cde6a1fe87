"""What the user chose for authoring and designing dances; kept with the scene."""

from __future__ import annotations

import bpy

from ..bpy_access import scene
from ..scene_rigs import active_rig
from ..solver_api import errors

ROLES = (
    ("fixed", "Fixed", "Kept exactly (keyframe type Extreme)", "KEYTYPE_EXTREME_VEC", 0),
    ("preferred", "Preferred", "Kept where possible (keyframe type Keyframe)", "KEYTYPE_KEYFRAME_VEC", 1),
    ("free", "Free", "To be filled by Complete (keyframe type Breakdown)", "KEYTYPE_BREAKDOWN_VEC", 2),
)
BODY_PARTS = (
    ("none", "Nothing", "Every link counts the same"),
    ("right_arm", "Right arm", ""),
    ("left_arm", "Left arm", ""),
    ("right_leg", "Right leg", ""),
    ("left_leg", "Left leg", ""),
    ("trunk", "Trunk", "Everything that is neither arm nor leg"),
)
OBJECTIVES = (
    ("sigma", "Deviations", "The mean deviation to expect of all parameters: identifies best"),
    ("criterion", "Links", "The paper's criterion: the condition number of every link's part of the regressor"),
)
GHOST_PLACES = (
    ("over", "Over", "The ghost stands where the body stands"),
    ("beside", "Beside", "The ghost stands one step aside"),
)


def _on_passes_changed(settings: DanceSettings, context: bpy.types.Context) -> None:
    if settings.passes % 2 == 0:
        settings.passes += 1


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
            return  # nothing is keyed: the panel shows no field then


def _on_ghost_place_changed(settings: DanceSettings, context: bpy.types.Context) -> None:
    from .ghost import find_ghost, place_ghost

    body = active_rig(context)
    ghost = None if body is None else find_ghost(scene(context), body)
    if body is None or ghost is None:
        return
    try:
        place_ghost(body, ghost, beside=settings.ghost_place == "beside")
    except errors.SolverError:
        return  # a callback tells nobody: the panel shows what is wrong with the rig


SKILLS = (
    ("beginner", "Beginner", "On both feet, small ranges, no bending back"),
    ("intermediate", "Intermediate", "Ranges of comfort, little bending back"),
    ("expert", "Expert", "Ranges of anatomy"),
)


class DanceSettings(bpy.types.PropertyGroup):
    """Settings of dances in a scene."""

    role: bpy.props.EnumProperty(name="Role", items=ROLES, default="preferred")  # type: ignore[valid-type]
    between: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace in-betweens",
        description="When a posture is keyed, remove the generated keys up to its neighbours: they led to the old one",
        default=True,
    )
    posture_name: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Name",
        description="Of the posture at this frame: a pose marker of the action",
        get=_get_posture_name,
        set=_set_posture_name,
    )
    postures: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Postures", description="Shared among standing on both feet, right forward, right, left", default=12,
        min=1, soft_max=60, max=400,
    )  # fmt: skip
    seed: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Seed", description="Of every random choice: the same seed gives the same dance", min=0
    )
    emphasis: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Emphasise", description="Part of the body that the dance excites most", items=BODY_PARTS
    )
    factor: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Factor", description="Weight of the emphasised part", default=3.0, min=0.1, max=100.0, precision=1
    )
    shortest: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Transition", description="Least duration between two postures [s]; 0: the rig's own", min=0.0,
        soft_max=10.0, max=60.0, precision=1, subtype="TIME_ABSOLUTE",
    )  # fmt: skip
    hold: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Hold", description="How long each posture is held [s]; 0: the rig's own", min=0.0, soft_max=5.0, max=60.0,
        precision=1, subtype="TIME_ABSOLUTE",
    )  # fmt: skip
    effort: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Effort", description="Of the search: 0.2 for a quick look, 1 for use", default=0.5, min=0.02,
        soft_max=2.0, max=10.0,
    )  # fmt: skip
    passes: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Passes", description="Times that each transition is danced, odd: forth, back and forth tell three times "
        "as much", default=1, min=1, soft_max=9, step=2, update=_on_passes_changed,
    )  # fmt: skip
    objective: bpy.props.EnumProperty(name="Objective", items=OBJECTIVES)  # type: ignore[valid-type]
    posed: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Named Postures",
        description="Dance the named postures of the timeline, varied in size, side and timing, instead of any",
    )
    counted: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="On Counts", description="Postures land on beats, phrases have eight counts, motifs come again mirrored"
    )
    bpm: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Tempo", description="Beats a minute, as of the music", default=120.0, min=20.0, max=400.0, precision=0
    )
    skill: bpy.props.EnumProperty(name="Skill", items=SKILLS, default="expert")  # type: ignore[valid-type]
    mirrored: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Mirror Motifs", description="What is danced to one side comes again to the other", default=True
    )
    calm: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Calm", description="Fill free postures by the calm way between their neighbours, nothing exciting"
    )
    dynamics: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="For torque, too", description="Slow down for torques, balance and friction, not only for speeds"
    )
    ghost_place: bpy.props.EnumProperty(name="Ghost", items=GHOST_PLACES, update=_on_ghost_place_changed)  # type: ignore[valid-type]
    performed: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Performance",
        description="Folder of a tracked or identified recording of this dance; empty: the rig's own study",
        subtype="DIR_PATH",
    )
    trial: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Trial", description="Of the folder, where it holds several"
    )


def dance_settings(context: bpy.types.Context) -> DanceSettings:
    """The scene's settings of dances."""
    return context.scene.exciting_dance_dance


CLASSES = (DanceSettings,)
