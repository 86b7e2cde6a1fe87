"""Settings of the study, stored with the scene."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..base.bpy_access import scene
from ..base.option_fields import option_group
from ..base.scene_rigs import active_rig, find_rigs, is_rig
from ..base.solver_api import IDENTIFICATION_METHODS, RIG_KINDS, CohortOptions, RetargetOptions, errors
from ..base.solver_api import Settings as StudySettings
from ..base.transaction import all_or_nothing
from ..scene.colours import QUANTITIES

AUTHOR, RESEARCH = "author", "research"
MODES = (
    (AUTHOR, "Author", "Pose and animate a body in balance, and design dances", "ARMATURE_DATA", 0),
    (RESEARCH, "Research", "Identify mass, centre of mass and inertia of every link from recordings", "PHYSICS", 1),
)
METHODS = tuple((row.name, row.title, row.description) for row in IDENTIFICATION_METHODS)
TRUNKS = (("one", "One Segment", "Pelvis and torso"), ("three", "Three Segments", "Pelvis, abdomen and thorax"))
SHOULDERS = (
    ("fixed", "Fixed", "Upper arms are attached to the torso"),
    ("girdle", "Shoulder Girdle", "Upper arms are attached to clavicle and scapula"),
)
ESTIMATORS = (
    ("smoother", "Smoother", "Combine motion and forces by their noise, over the whole recording"),
    ("complementary", "Complementary Filter", "Filter of Bailly et al. 2019 with the published cutoff frequencies"),
    ("causal", "Causal Complementary Filter", "The same filter using past samples only, as in live use"),
    ("ekf", "Extended Kalman Filter", "Filter of Rotella et al. 2015, for comparison"),
    ("fusion", "Linear Fusion", "Kalman smoother of centre of mass and force, for comparison"),
    ("force", "Forces Only", "Forces integrated twice, for comparison"),
    ("kinematic", "Motion Only", "Motion and inertial parameters, for comparison"),
)
FOLLOWERS = (
    ("human", "Person", "Add a person as tall as the source, with the mass and sex of a new rig"),
    ("hrp2", "HRP-2 (Approximate)", "Add an approximate humanoid with 30 joints to the scene"),
    ("hoap3", "HOAP-3", "Add a small humanoid with 21 joints to the scene"),
)


def _is_rig(settings: SceneSettings, item: bpy.types.Object) -> bool:
    return is_rig(item)


def _on_quantity_changed(settings: SceneSettings, context: bpy.types.Context) -> None:
    from ..scene.colours import colour_body

    body = active_rig(context)
    if body is None:
        return
    try:
        with all_or_nothing():
            colour_body(scene(context), body, settings.quantity)
    except errors.SolverError:
        return  # the rig does not carry the quantity; the panel shows what is wrong with it


def _on_borders_changed(settings: SceneSettings, context: bpy.types.Context) -> None:
    from ..scene.skin import soften_borders

    soften_borders(find_rigs(scene(context)), settings.soft_borders)


def _on_file_selected(settings: SceneSettings, context: bpy.types.Context) -> None:
    from ..scene.recording import show_recording_of

    if 0 <= settings.file_index < len(settings.files):
        show_recording_of(context, Path(bpy.path.abspath(settings.files[settings.file_index].path)).absolute())


class RecordingFile(bpy.types.PropertyGroup):
    """One file of a recording."""

    path: bpy.props.StringProperty(name="File", subtype="FILE_PATH")  # type: ignore[valid-type]


FIELDS: dict[str, Any] = {
    "method": {"items": METHODS},
    "trunk": {"items": TRUNKS},
    "shoulders": {"items": SHOULDERS},
}


class SceneSettings(option_group(CohortOptions, StudySettings, RetargetOptions, **FIELDS), bpy.types.PropertyGroup):  # type: ignore[misc]
    """The add-on's settings of a scene."""

    mode: bpy.props.EnumProperty(name="Mode", description="Panels that the tab shows", items=MODES)  # type: ignore[valid-type]
    kind: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Rig",
        items=tuple((row.name, row.title, row.description) for row in RIG_KINDS if row.title),
    )
    height: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Height", description="Stature of the person", default=1.75, min=0.5, max=2.5, precision=3, unit="LENGTH"
    )
    mass: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Mass", description="Body mass in kilograms", default=70.0, min=5.0, max=300.0, precision=1, unit="MASS"
    )
    sex: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Sex",
        description="Sex of the person, which selects the table of segment inertias",
        items=(
            ("female", "Female", ""),
            ("male", "Male", ""),
            ("unknown", "Unknown", "Mean of both tables, with a wider prior"),
        ),
    )
    packages: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Packages",
        description="Folder with the packages of package:// mesh paths. If empty, the folders above the file",
        subtype="DIR_PATH",
    )
    up: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Up Axis",
        description="Axis of the file that points up",
        items=(
            ("auto", "Automatic", "Direction from the feet to the root, or Z if there are no feet"),
            ("z", "Z", ""),
            ("y", "Y", "Convention of game engines"),
        ),
    )
    stated_feet: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Feet", description="Links that are feet, separated by spaces. They replace the feet that were found"
    )
    stated_soles: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Soles", description="Flat soles as LINK=LENGTHxWIDTH in metres, separated by spaces"
    )
    stated_patches: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Patches",
        description="Other contact patches, separated by spaces: hands, knees or shins of a person, or "
        "LINK=X,Y,Z,RADIUS or LINK=X,Y,Z,LENGTHxWIDTH in metres in the link frame, then optionally its side (,-x)",
    )
    stated_torques: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Torques", description="Torque limits as JOINT=NM, separated by spaces, where the file has placeholders"
    )
    stated_pairs: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Allowed Contacts", description="Pairs LINK:LINK, separated by spaces, whose collisions are ignored"
    )
    stated_srdf: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="SRDF", description="The manufacturer's SRDF file with allowed collisions", subtype="FILE_PATH"
    )
    files: bpy.props.CollectionProperty(type=RecordingFile)  # type: ignore[valid-type]
    file_index: bpy.props.IntProperty(update=_on_file_selected)  # type: ignore[valid-type]
    marker_set: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Marker Set",
        description="File with the marker locations. If empty, they are recognised",
        subtype="FILE_PATH",
    )
    weigh: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Mass from Plates",
        description="Determine the body mass from the force plates instead of the field Mass",
        default=True,
    )
    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Results", description="Folder for the results. If empty, the add-on's own folder", subtype="DIR_PATH"
    )
    quantity: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Colour By",
        description="Quantity that colours the links",
        items=tuple((name, q.label, q.description) for name, q in QUANTITIES.items()),
        update=_on_quantity_changed,
    )
    soft_borders: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Soft Borders",
        description="Blend the colours of a person between links, in pictures, rendered views and solid views with the "
        "colour Attribute. Blended colours show values that no link has",
        update=_on_borders_changed,
    )
    overlay: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Legend in Viewport", description="Draw the legend in the 3D view", default=True
    )
    show_com: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Centre of Mass",
        description="Show the centre of mass of the whole body, with its projection on the floor",
        default=True,
    )
    show_support: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Support Polygon", description="Show the support polygon on the floor", default=True
    )
    show_forces: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Plate Forces", description="Show the force on each plate at its centre of pressure"
    )
    show_markers: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Marker Errors", description="Show measured markers with lines to their modelled positions"
    )
    show_momentum: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Momentum",
        description="Show linear momentum (green) and angular momentum about the centre of mass (violet)",
    )
    follows: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="New Body", description="Body that is added for the motion", items=FOLLOWERS
    )
    follower: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Target", description="Rig that gets the motion; empty: a new one", type=bpy.types.Object, poll=_is_rig
    )
    follow_repaired: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Repair",
        description="Repair failed balance, torque and collision checks with the smallest change, not only report them",
        default=True,
    )
    follow_forces: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Plate Forces",
        description="Force file of the recording (.mot, .csv, .c3d), with the same time axis, from which contacts are "
        "found. If empty, they are found from the motion",
        subtype="FILE_PATH",
    )
    estimator: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Estimator", description="Method of the estimation", items=ESTIMATORS
    )
    show_estimate: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Path",
        description="Show the estimated centre of mass, its path for one second, and its projection on the floor",
        default=True,
    )
    show_axis: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Central Axis", description="Show the central axis of the contact wrench", default=True
    )
    show_spin: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Angular Momentum",
        description="Show angular momentum about the centre of mass (violet), its rate (cyan) and flight mean (white)",
        default=True,
    )
    show_sources: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Sources", description="Also show the estimates from motion alone and from the wrench alone, faintly"
    )
    show_moments: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Arcs",
        description="Show the moment at every joint as an arc about its axis, on the scale in the legend",
        default=True,
    )
    show_flights: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Flights",
        description="Show flight phases in the timeline, with the error of the angular momentum from motion alone",
        default=True,
    )


def study_settings(context: bpy.types.Context) -> SceneSettings:
    """The scene's settings."""
    return context.scene.exciting_dance
