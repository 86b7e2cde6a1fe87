"""What the user chose, kept with the scene."""

from __future__ import annotations

from pathlib import Path

import bpy

from .bpy_access import scene
from .colours import QUANTITIES
from .scene_rigs import active_rig, is_rig
from .solver_api import RIG_KINDS, errors
from .transaction import all_or_nothing

METHODS = (
    ("consistent", "Consistent", "Every link physically possible: pseudo-inertia positive semi-definite"),
    ("hierarchical", "Hierarchical", "Four levels of priority, jovic2016"),
    ("constrained", "Constrained", "Bounds around the prior, bonnet2016"),
    ("minimum_norm", "Least squares", "Minimum norm, no constraints: shows where data alone are not enough"),
)
TRUNKS = (("one", "One part", "Pelvis and torso"), ("three", "Three parts", "Pelvis, abdomen and thorax"))
SHOULDERS = (
    ("fixed", "Fixed", "Upper arms hang on the torso"),
    ("girdle", "Girdle", "Upper arms hang on clavicle and scapula"),
)
ESTIMATORS = (
    ("smoother", "All sources", "Weighs motion and forces by their noise, over the whole recording"),
    ("complementary", "Complementary filter", "The recursive filter of bailly2019 with the paper's cut-offs"),
    ("causal", "Complementary, causal", "The same looking back only, as it runs live"),
    ("ekf", "Extended Kalman filter", "Rotella et al. 2015, to compare with"),
    ("fusion", "Linear fusion", "Kalman smoother of centre of mass and force, to compare with"),
    ("force", "Forces alone", "Forces integrated twice, to compare with"),
    ("kinematic", "Motion alone", "Motion and inertials, to compare with"),
)
SCENE_RIG = "scene"
FOLLOWERS = (
    (SCENE_RIG, "A rig of this scene", "The rig that is chosen below"),
    ("hrp2", "HRP-2 (stand-in)", "Humanoid, 30 joints, approximate; added to the scene"),
    ("hoap3", "HOAP-3", "Small humanoid, 21 joints; added to the scene"),
)


def _is_rig(settings: Settings, item: bpy.types.Object) -> bool:
    return is_rig(item)


def _on_quantity_changed(settings: Settings, context: bpy.types.Context) -> None:
    from .inertials import PARAMETERS
    from .legend import show_quantity

    body = active_rig(context)
    if body is None or not any(PARAMETERS in bone for bone in body.data.bones):
        return
    try:
        with all_or_nothing():
            show_quantity(scene(context), body, settings.quantity)
    except errors.SolverError:
        return  # a callback tells nobody: the panel shows what is wrong with the rig


def _on_file_selected(settings: Settings, context: bpy.types.Context) -> None:
    from .recording import show_recording_of

    if 0 <= settings.file_index < len(settings.files):
        show_recording_of(context, Path(bpy.path.abspath(settings.files[settings.file_index].path)).absolute())


class RecordingFile(bpy.types.PropertyGroup):
    """One file of a recording."""

    path: bpy.props.StringProperty(name="File", subtype="FILE_PATH")  # type: ignore[valid-type]


class Settings(bpy.types.PropertyGroup):
    """The add-on's settings of a scene."""

    kind: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Rig",
        items=tuple((row.name, row.title, row.description) for row in RIG_KINDS if row.title),
    )
    height: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Height", description="Stature", default=1.75, min=0.5, max=2.5, precision=3, unit="LENGTH"
    )
    mass: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Mass", description="Body mass [kg]", default=70.0, min=5.0, max=300.0, precision=1, unit="MASS"
    )
    sex: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Sex",
        description="Chooses the table of segment inertias",
        items=(
            ("female", "Female", ""),
            ("male", "Male", ""),
            ("unknown", "Unknown", "The mean of both tables, doubted the more"),
        ),
    )
    urdf: bpy.props.StringProperty(name="URDF", subtype="FILE_PATH")  # type: ignore[valid-type]
    packages: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Packages", description="Folder in which package:// paths of meshes begin; empty: those above the file",
        subtype="DIR_PATH",
    )  # fmt: skip
    up: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Up",
        description="Axis of the file that points up",
        items=(
            ("auto", "Found out", "From feet to root, or else z"),
            ("z", "Z", ""),
            ("y", "Y", "As engines write it"),
        ),
    )
    stated_feet: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Feet", description="Links that it stands on, parted by spaces; all others stand no more"
    )
    stated_soles: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Soles", description="Level soles, LINK=LENGTHxWIDTH in metres, parted by spaces"
    )
    stated_patches: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Patches",
        description="Besides soles, parted by spaces: hands, knees or shins of a person, or LINK=X,Y,Z,RADIUS or "
        "LINK=X,Y,Z,LENGTHxWIDTH in metres in the link's frame, where wanted with the side it faces (,-x)",
    )
    stated_torques: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Torques", description="Limits, JOINT=NM, parted by spaces: where the file has placeholders"
    )
    stated_pairs: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="May touch", description="LINK:LINK, parted by spaces: their collisions do not count"
    )
    stated_srdf: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="SRDF", description="The maker's file of links that may touch", subtype="FILE_PATH"
    )
    files: bpy.props.CollectionProperty(type=RecordingFile)  # type: ignore[valid-type]
    file_index: bpy.props.IntProperty(update=_on_file_selected)  # type: ignore[valid-type]
    marker_set: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Marker set", description="That says which marker sits where; empty: found out", subtype="FILE_PATH"
    )
    method: bpy.props.EnumProperty(name="Method", items=METHODS)  # type: ignore[valid-type]
    weigh: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Mass from plates",
        description="Weigh the body by the force plates; otherwise the rig's mass",
        default=True,
    )
    flight_only: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Flight alone",
        description="Identify from flights that the motion shows; plates, where there are any, only weigh the body",
    )
    trunk: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Trunk", description="Of one piece above the pelvis, or abdomen and thorax", items=TRUNKS
    )
    shoulders: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Shoulders", description="Upper arms fixed on the torso, or on clavicle and scapula", items=SHOULDERS
    )
    smooth: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Smooth",
        description="Take each recording of markers as a whole, not frame by frame: quieter motion, gaps bridged",
    )
    bootstrap: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Bootstrap", description="Samples for the standard deviations; 0 for none", default=40, min=0, max=1000
    )
    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Results", description="Folder for the results; empty: the add-on's own", subtype="DIR_PATH"
    )
    quantity: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Colour by",
        items=tuple((name, q.label, q.description) for name, q in QUANTITIES.items()),
        update=_on_quantity_changed,
    )
    overlay: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Legend in viewport", description="Draw the legend over the 3D view", default=True
    )
    show_com: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Centre of mass", description="Of the whole body, with its foot on the floor", default=True
    )
    show_support: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Support", description="Polygon of the contacts on the floor", default=True
    )
    show_forces: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Plate forces", description="What each force plate measured, at the centre of pressure"
    )
    show_markers: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Marker errors", description="Markers as seen, with a line each to where the body has them"
    )
    show_momentum: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Momentum", description="Linear (green) and angular about the centre of mass (violet)"
    )
    follows: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Follower", description="Who dances what the selected armature does", items=FOLLOWERS
    )
    follower: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Rig", description="That follows", type=bpy.types.Object, poll=_is_rig
    )
    follow_repaired: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Repair",
        description="Move as little as possible what then fails in balance, torque or collision; otherwise check only",
        default=True,
    )
    follow_beside: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Stand beside",
        description="The one who follows dances a step to the left of who leads; otherwise in the same place",
        default=True,
    )
    follow_pace: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Keep pace",
        description="Leave joints faster than their limits, and say so, instead of slowing down",
    )
    follow_slower: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Slower", description="Times as long as it lasts now", default=1.0, min=0.1, soft_min=1.0, soft_max=10.0
    )
    follow_overlaps: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Leave overlaps", description="Leave links that are inside each other as they are, instead of apart"
    )
    follow_broken_steps: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Leave broken steps",
        description="Leave a step in the middle of which it begins or ends, instead of beginning and finishing it",
    )
    follow_forces: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Plate forces",
        description="Plates' forces of the recording (.mot, .csv, .c3d), on its clock: feet stand as long as the "
        "plates felt them; empty: as the motion tells",
        subtype="FILE_PATH",
    )
    estimator: bpy.props.EnumProperty(name="Estimator", items=ESTIMATORS)  # type: ignore[valid-type]
    show_estimate: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Path",
        description="Estimated centre of mass, a second of its path, and its line to the floor",
        default=True,
    )
    show_axis: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Central axis", description="The line along which the contact wrench pushes", default=True
    )
    show_spin: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Angular momentum",
        description="About the centre of mass (violet) and its rate (cyan); white: what a flight should keep",
        default=True,
    )
    show_sources: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Sources", description="Faintly, what motion alone and the wrench alone say of the same"
    )
    show_flights: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Flights",
        description="Along the timeline: when nothing touches the body, and how its momentum by motion alone errs then",
        default=True,
    )


def study_settings(context: bpy.types.Context) -> Settings:
    """The scene's settings."""
    return context.scene.exciting_dance
