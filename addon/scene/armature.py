"""A rig as an armature: one bone per link, meshes for its shapes, joint limits, sides, and the stored rig itself."""

from __future__ import annotations

import hashlib

import bpy
import numpy as np
from mathutils import Matrix

from ..base import bpy_access, convert, custom_properties, meshes
from ..base.change_cache import cached_until_change
from ..base.scene_rigs import RIG_KEY, is_rig
from ..base.solver_api import CHARACTER_KIND, Rig, errors, has_body_mesh, rig_from_text, rig_to_text
from .skin import add_skin, skin_links

DIGEST_KEY = "exciting_dance_digest"
"""Custom property of the armature data: hash of the rig's text, so that the rig is parsed only once."""
LINK_KEY = "exciting_dance_link"
"""Custom property of a mesh object: the link it shows."""
RIG_CACHE: dict[str, Rig] = {}
"""Rigs read from armatures, by hash."""
CACHE_SIZE = 16
LIMITS_NAME = "Joint limits"
SIDES = {"Left": "THEME04", "Right": "THEME01", "Middle": "THEME09"}
AXES = "xyz"
SCALE_TOLERANCE = 1e-4
"""Largest difference of a scale from 1 that is ignored."""
REMEDY = "undo the edit, or add the rig again: Dance > Rig > Add Rig"
"""What to do when a rig and its armature no longer match."""
POSITION_TOLERANCE = 1e-3
"""[m] Largest distance between the rest positions of a bone and its link."""
LISTED_BONES = 4
"""Largest number of bones that an error lists."""
ROLL_STEPS = 3
"""Iterations for a bone's roll: Blender computes it to about 1e-5 rad, a hinge axis needs single precision."""


def build_armature(context: bpy.types.Context, rig: Rig) -> bpy.types.Object:
    """Build a rig's armature with its shapes, in a new collection with the rig's name.

    Args:
        context: its scene receives the armature.
        rig: the rig to build; it is stored on the armature.

    Returns:
        the armature object, active, in rest pose on the floor.
    """
    collection = bpy.data.collections.new(rig.name)
    context.scene.collection.children.link(collection)
    data = bpy.data.armatures.new(rig.name)
    armature = bpy.data.objects.new(rig.name, data)
    collection.objects.link(armature)
    frames = [convert.bone_frame(rig, link) for link in range(len(rig.links))]
    _add_bones(context, armature, rig, frames)
    _assign_sides(data, rig)
    for link, frame in enumerate(frames):
        _restrict_to_joint(armature.pose.bones[rig.links[link]], rig, link, frame)
    shapes = bpy.data.collections.new(f"{rig.name} shapes")
    collection.children.link(shapes)
    if has_body_mesh(rig):
        add_skin(armature, rig, shapes, np.array([frame.axes for frame in frames]))
    else:
        _add_shapes(armature, rig, shapes)
    store_rig(armature, rig)
    data.display_type, armature.show_in_front = "STICK", True
    return armature


def store_rig(armature: bpy.types.Object, rig: Rig) -> None:
    """Store a rig on its armature."""
    data, text = bpy_access.armature(armature), rig_to_text(rig)
    data[RIG_KEY], data[DIGEST_KEY] = text, _digest(text)


def hide_rig(armature: bpy.types.Object | None) -> None:
    """Hide a rig and its shapes; None is ignored."""
    if armature is not None:
        for item in (armature, *shape_objects(armature)):
            item.hide_set(True)


def move_sideways(item: bpy.types.Object, distance: float) -> None:
    """Move an armature with its animation sideways by a distance [m]."""
    item.matrix_world = Matrix.Translation((0.0, distance, 0.0)) @ item.matrix_world


def rig_of(armature: bpy.types.Object) -> Rig:
    """The rig an armature was made from.

    Raises:
        InvalidValue: the object is no rig, the stored rig is damaged, or the bones no longer match the rig's links.
    """
    if not is_rig(armature):
        raise errors.InvalidValue(
            f"{armature.name!r} is not a rig of this add-on: add one first (Dance > Rig > Add Rig)"
        )
    data = bpy_access.armature(armature)
    digest = custom_properties.read_text(data, DIGEST_KEY, REMEDY)
    if digest not in RIG_CACHE:
        text = custom_properties.read_text(data, RIG_KEY, REMEDY)
        if _digest(text) != digest:
            raise custom_properties.damaged_error(data, RIG_KEY, "it differs from what the add-on wrote", REMEDY)
        try:
            rig = rig_from_text(text)
        except errors.SolverError as error:
            raise custom_properties.damaged_error(data, RIG_KEY, str(error), REMEDY) from error
        while len(RIG_CACHE) >= CACHE_SIZE:
            del RIG_CACHE[next(iter(RIG_CACHE))]
        RIG_CACHE[digest] = rig
    rig, posed = RIG_CACHE[digest], bpy_access.pose_bones(armature)
    names = (digest, armature.name, data.is_editmode, tuple(data.bones.keys()), tuple(posed.keys()))
    mismatch = cached_until_change(
        "bones", armature, lambda: _find_mismatch(armature, rig), kinds=("ARMATURE",), state=names
    )
    if mismatch:
        raise errors.InvalidValue(mismatch)
    return rig


def count_links(armature: bpy.types.Object) -> int:
    """Number of a rig's links; of its bones if they do not match the rig."""
    try:
        return len(rig_of(armature).links)
    except errors.SolverError:
        return len(bpy_access.armature(armature).bones)


def is_character(rig: Rig) -> bool:
    """Whether a rig was made from a character's own armature, which has other bones too."""
    return rig.provenance.get("kind") == CHARACTER_KIND


def _find_mismatch(armature: bpy.types.Object, rig: Rig) -> str:
    """How a rig's bones and links differ in name or parent, as one sentence; empty if they match."""
    bones, posed = bpy_access.armature(armature).bones, bpy_access.pose_bones(armature)
    if bpy_access.armature(armature).is_editmode:
        return f"{armature.name} is in edit mode: leave it first (Tab)"
    found = {bone.name: bone.parent.name if bone.parent else None for bone in bones}
    foreign = is_character(rig)
    lacking = [link for link in rig.links if link not in found or link not in posed]
    if lacking:
        others = [name for name in found if name not in rig.links and not foreign]
        hint = f" ({_join_names(others)} belongs to no link: restore its name)" if others else ""
        return f"{armature.name}: link {_join_names(lacking)} of the rig has no bone{hint}: {REMEDY}"
    for link, parent in zip(rig.links, rig.parents, strict=True):
        expected = rig.links[parent] if parent >= 0 else None
        if found[link] != expected and not foreign:
            return (
                f"{armature.name}: bone {link} has the parent {found[link] or 'none'}, not {expected or 'none'}; "
                f"bones were renamed or reparented: {REMEDY}"
            )
    return ""


def _join_names(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:LISTED_BONES])
    return f"{shown} and {len(names) - LISTED_BONES} more" if len(names) > LISTED_BONES else shown


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def library_problem(body: bpy.types.Object, *, data: bool = False) -> str:
    """Why a rig that is linked from another file cannot be changed, as one sentence; empty if it can.

    Args:
        body: the rig.
        data: whether its bones must be changed too; a library override leaves them linked.
    """
    if body.library is not None:
        remedy = "make a library override of it (Object > Library Override > Make), or append it"
        return f"{body.name} is linked from {bpy.path.basename(body.library.filepath)}: {remedy}"
    if data and body.data is not None and body.data.library is not None:
        remedy = "make them local (Object > Relations > Make Local > Selected Objects and Data)"
        return f"The bones of {body.name} are linked from {bpy.path.basename(body.data.library.filepath)}: {remedy}"
    return ""


def rig_problem(body: bpy.types.Object, *, data: bool = False) -> str:
    """What prevents work with a rig, as one sentence; empty if nothing does.

    Args:
        body: the rig.
        data: whether its bones must be changed too.
    """
    try:
        rig_of(body)
    except errors.SolverError as error:
        return str(error)
    return library_problem(body, data=data)


def require_unscaled(armature: bpy.types.Object) -> None:
    """Raise an error if a rig's object is scaled or mirrored, because its lengths or sides would differ from the rig.

    Raises:
        InvalidValue: the object is scaled or mirrored.
    """
    problem = scale_problem(armature)
    if problem:
        raise errors.InvalidValue(problem)


def scale_problem(armature: bpy.types.Object) -> str:
    """How a rig's object is scaled or mirrored and what to do, as one sentence; empty if it is not."""
    rotation = convert.to_array(armature.matrix_world)[:3, :3]
    sizes, mirrored = np.linalg.norm(rotation, axis=0), np.linalg.det(rotation) < 0.0
    if not mirrored and np.abs(sizes - 1.0).max() <= SCALE_TOLERANCE:
        return ""
    scale = f"{sizes[0]:.4g}" if np.ptp(sizes) < SCALE_TOLERANCE else " x ".join(f"{size:.4g}" for size in sizes)
    remedy = "the size of a rig is fixed: clear its scale, or its parent's (Object > Clear > Scale)"
    return f"{armature.name} is scaled by {scale}{' and mirrored' if mirrored else ''}, but {remedy}"


def local_collection(scene: bpy.types.Scene, body: bpy.types.Object) -> bpy.types.Collection:
    """The collection for objects that belong to a rig: a local collection of the rig, otherwise the scene's."""
    own = (c for c in body.users_collection if c.library is None and c.override_library is None)
    return next(own, scene.collection)


def link_shapes(armature: bpy.types.Object) -> list[tuple[str, bpy.types.Object]]:
    """Every link with each mesh object that shows it; a skin shows all links, and clothes show some again."""
    shown = []
    for child in armature.children:
        if child.type == "MESH":
            links = skin_links(child) or [custom_properties.read_label(child, LINK_KEY)]
            shown += [(link, child) for link in links if link]
    return shown


def shapes_of(armature: bpy.types.Object) -> dict[str, bpy.types.Object]:
    """A mesh object of each link that has a shape."""
    return dict(link_shapes(armature))


def shape_objects(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Mesh objects of a rig's shapes, each once."""
    return list(dict.fromkeys(shape for _, shape in link_shapes(armature)))


def bone_axes(armature: bpy.types.Object, rig: Rig) -> np.ndarray:
    """O_k of every link (L, 3, 3), computed from the bones in Blender's single precision.

    The bones' local matrices are chained from parent to child, as Blender does for poses. Where a bone points against
    its parent, its matrix in armature space differs from this chain by about 1e-5.

    Raises:
        InvalidValue: a bone's rest position differs from its link's, so that lengths would not match the rig.
    """
    rest = convert.rest_matrices(rig)
    matrices: dict[str, np.ndarray] = {}
    for index, link in enumerate(rig.links):
        bone = armature.data.bones[link]
        distance = float(np.linalg.norm(np.array(bone.head_local) - rest[index, :3, 3]))
        if not distance < POSITION_TOLERANCE:
            raise errors.InvalidValue(
                f"{armature.name}: bone {link} was moved by {distance:.3g} m in edit mode: {REMEDY}"
            )
        _chain_matrix(bone, matrices)
    return rest[:, :3, :3].transpose(0, 2, 1) @ np.array([matrices[link] for link in rig.links])


def _chain_matrix(bone: bpy.types.Bone, known: dict[str, np.ndarray]) -> np.ndarray:
    """Axes (3, 3) of a bone in armature space, from those of its parents; all of them are stored in ``known``."""
    if bone.name not in known:
        local = convert.to_array(bone.matrix)
        known[bone.name] = local if bone.parent is None else _chain_matrix(bone.parent, known) @ local
    return known[bone.name]


def attach(
    child: bpy.types.Object, armature: bpy.types.Object, link: str, axes: np.ndarray, placement: np.ndarray
) -> None:
    """Parent an object to a link's bone, with its transform (4, 4) given in the link frame."""
    bone = armature.data.bones[link]
    child.parent, child.parent_type, child.parent_bone = armature, "BONE", link
    to_tail = np.eye(4)  # Blender parents children to the bone's tail
    to_tail[1, 3] = -bone.length
    rotation = np.eye(4)
    rotation[:3, :3] = axes.T
    child.matrix_parent_inverse = convert.to_matrix(to_tail @ rotation)
    child.matrix_basis = convert.to_matrix(placement)


def is_limit_constraint(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint is the add-on's own, which only keeps a hinge within its limits."""
    return (
        constraint.name == LIMITS_NAME
        and isinstance(constraint, bpy.types.LimitRotationConstraint)
        and constraint.owner_space == "LOCAL"
        and constraint.influence == 1.0
        and bone.rotation_mode == "XYZ"
    )


def enforce_limits(armature: bpy.types.Object, on: bool) -> int:
    """Enable or disable joint limits while posing; returns their number.

    They are off by default so that measured motion is not changed.
    """
    bones = bpy_access.pose_bones(armature)
    limits = [limit for bone in bones for limit in bone.constraints if limit.name == LIMITS_NAME]
    for limit in limits:
        limit.mute = not on
    return len(limits)


def _add_bones(
    context: bpy.types.Context, armature: bpy.types.Object, rig: Rig, frames: list[convert.BoneFrame]
) -> None:
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.view_layer.objects.selected:
        other.select_set(False)
    armature.select_set(True)
    context.view_layer.objects.active = armature
    rest = convert.rest_matrices(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    for link, frame in enumerate(frames):
        bone = bones.new(rig.links[link])
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, frame.length, 0.0)
        matrix = rest[link].copy()
        matrix[:3, :3] = rest[link, :3, :3] @ frame.axes
        bone.matrix = convert.to_matrix(matrix)
        for _ in range(ROLL_STEPS):
            bone.roll += convert.roll_error(matrix, bone.matrix)
        if rig.parents[link] >= 0:
            bone.parent = bones[rig.links[rig.parents[link]]]
    bpy.ops.object.mode_set(mode="OBJECT")


def _assign_sides(data: bpy.types.Armature, rig: Rig) -> None:
    sides = {left: "Left" for left, _ in rig.pairs} | {right: "Right" for _, right in rig.pairs}
    groups = {name: data.collections.new(name) for name in SIDES}
    for link in rig.links:
        side = sides.get(link, "Middle")
        groups[side].assign(data.bones[link])
        data.bones[link].color.palette = SIDES[side]


def _restrict_to_joint(bone: bpy.types.PoseBone, rig: Rig, link: int, frame: convert.BoneFrame) -> None:
    """Lock a bone to its joint's degrees of freedom, with limits for inverse kinematics and as a muted constraint."""
    joint = rig.joints[link]
    if joint.kind != "free":
        bone.lock_location = [not (joint.kind == "prismatic" and axis == frame.axis) for axis in range(3)]  # type: ignore[assignment]
    bone.lock_scale = [True] * 3  # type: ignore[assignment]
    bone.rotation_mode = "QUATERNION"
    if joint.kind == "prismatic":
        bone.lock_rotation, bone.lock_rotation_w = [True] * 3, True  # type: ignore[assignment]
    if not joint.hinge:
        return
    bone.rotation_mode = "XYZ"
    bone.lock_rotation = [axis != frame.axis for axis in range(3)]  # type: ignore[assignment]
    limits = rig.limits_of(rig.links[link])
    low, high = sorted((frame.sign * float(limits.lower[0]), frame.sign * float(limits.upper[0])))
    for axis, name in enumerate(AXES):
        setattr(bone, f"lock_ik_{name}", axis != frame.axis)
    if not np.isfinite([low, high]).all():
        return
    name = AXES[frame.axis]
    setattr(bone, f"use_ik_limit_{name}", True)
    setattr(bone, f"ik_min_{name}", max(-np.pi, min(low, 0.0)))
    setattr(bone, f"ik_max_{name}", min(np.pi, max(high, 0.0)))
    constraint = bone.constraints.new("LIMIT_ROTATION")
    assert isinstance(constraint, bpy.types.LimitRotationConstraint)
    constraint.name, constraint.owner_space, constraint.use_transform_limit = LIMITS_NAME, "LOCAL", True
    setattr(constraint, f"use_limit_{name}", True)
    setattr(constraint, f"min_{name}", low)
    setattr(constraint, f"max_{name}", high)
    constraint.mute = True


def _add_shapes(armature: bpy.types.Object, rig: Rig, collection: bpy.types.Collection) -> None:
    axes = bone_axes(armature, rig)
    for index, link in enumerate(rig.links):
        parts = [meshes.shape_geometry(shape) for shape in rig.shapes if shape.link == link]
        if not parts:
            continue
        body = bpy.data.objects.new(f"{link} shape", meshes.build_mesh(f"{link} shape", parts))
        collection.objects.link(body)
        body[LINK_KEY] = link
        attach(body, armature, link, axes[index], np.eye(4))
