"""Typed access to Blender data that is optional in its type stubs, such as a context's scene."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Literal, TypeAlias, TypeVar

import bpy

from .solver_api import errors

T = TypeVar("T")
Status: TypeAlias = set[Literal["RUNNING_MODAL", "CANCELLED", "FINISHED", "PASS_THROUGH", "INTERFACE"]]
"""What an operator's `execute`, `invoke` and `modal` return."""


def require(item: T | None, what: str) -> T:
    """The item, which must not be None.

    Raises:
        InvalidValue: the item is None.
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
    """Layout of a panel."""
    return require(panel.layout, "layout")


def armature(item: bpy.types.Object) -> bpy.types.Armature:
    """The data of an armature object.

    Raises:
        InvalidValue: the object is not an armature.
    """
    if not isinstance(item.data, bpy.types.Armature):
        raise errors.InvalidValue(f"{item.name!r} is not an armature")
    return item.data


def pose_bones(item: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """The pose bones of an armature object, by name."""
    return require(item.pose, "pose").bones


def mesh(item: bpy.types.Object) -> bpy.types.Mesh:
    """The data of a mesh object.

    Raises:
        InvalidValue: the object is not a mesh.
    """
    if not isinstance(item.data, bpy.types.Mesh):
        raise errors.InvalidValue(f"{item.name!r} is not a mesh")
    return item.data


def local_copy(item: T) -> T:
    """A local copy of a data-block, also of a linked one or a library override."""
    made = require(item.copy(), "copy")  # type: ignore[attr-defined]
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    return made


def session_id(item: bpy.types.ID) -> int:
    """A number that identifies a data-block during the session, also after undo and renaming."""
    return int(item.session_uid)


def run_at_once(steps: Generator[float, None, T]) -> T:
    """The result of work in steps, without a break between them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def find_by_session_id(items: Iterable, uid: int):  # type: ignore[no-untyped-def]  # bpy's collections are not generic
    """The data-block with a session id.

    Raises:
        InvalidValue: it was deleted.
    """
    for item in items:
        if item.session_uid == uid:
            return item
    raise errors.InvalidValue("the rig was deleted in the meantime")
