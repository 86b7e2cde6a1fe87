"""What Blender's types leave open and this add-on knows: a scene is there, a rig's data is an armature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, TypeVar

import bpy

from .solver_api import errors

T = TypeVar("T")
Status: TypeAlias = set[Literal["RUNNING_MODAL", "CANCELLED", "FINISHED", "PASS_THROUGH", "INTERFACE"]]
"""What an operator's `execute`, `invoke` and `modal` return."""


def require(item: T | None, what: str) -> T:
    """The item.

    Raises:
        InvalidValue: there is none.
    """
    if item is None:
        raise errors.InvalidValue(f"Blender has no {what} here")
    return item


def scene(context: bpy.types.Context) -> bpy.types.Scene:
    """The scene of a context."""
    return require(context.scene, "scene")


def view_layer(context: bpy.types.Context) -> bpy.types.ViewLayer:
    """The view layer of a context."""
    return require(context.view_layer, "view layer")


def layout(panel: bpy.types.Panel | bpy.types.AddonPreferences) -> bpy.types.UILayout:
    """Where a panel draws."""
    return require(panel.layout, "layout")


def armature(item: bpy.types.Object) -> bpy.types.Armature:
    """The data of an armature object.

    Raises:
        InvalidValue: it is none.
    """
    if not isinstance(item.data, bpy.types.Armature):
        raise errors.InvalidValue(f"{item.name!r} is no armature")
    return item.data


def pose_bones(item: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """The pose bones of an armature object, by name."""
    return require(item.pose, "pose").bones


def mesh(item: bpy.types.Object) -> bpy.types.Mesh:
    """The data of a mesh object.

    Raises:
        InvalidValue: it is none.
    """
    if not isinstance(item.data, bpy.types.Mesh):
        raise errors.InvalidValue(f"{item.name!r} is no mesh")
    return item.data


def local_copy(item: T) -> T:
    """A copy of a data-block that belongs to this file, also of one that is linked or a library override."""
    made = require(item.copy(), "copy")  # type: ignore[attr-defined]
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    return made


def session_id(item: bpy.types.ID) -> int:
    """A number that finds a data-block again after undo and renaming, for the time of the session."""
    return int(item.session_uid)


def find_by_session_id(items: Iterable, uid: int):  # type: ignore[no-untyped-def]  # bpy's collections are not generic
    """The data-block with that number.

    Raises:
        InvalidValue: it was deleted.
    """
    for item in items:
        if item.session_uid == uid:
            return item
    raise errors.InvalidValue("the rig that this was about was deleted")
