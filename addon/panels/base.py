"""Base classes of panels and lists."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..base.scene_rigs import active_rig
from ..base.solver_api import display_name
from ..display.properties import AUTHOR, RESEARCH, study_settings


class DancePanel:
    """Mix-in of a panel of the sidebar tab Dance, which is closed at first."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dance"
    bl_options: ClassVar[set[str]] = {"DEFAULT_CLOSED"}
    modes: ClassVar[tuple[str, ...]] = (AUTHOR, RESEARCH)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the panel belongs to the mode and has something to show."""
        return study_settings(context).mode in cls.modes and cls.has_content(context)

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether the panel has something to show; by default always."""
        return True


class RigPanel(DancePanel):
    """Mix-in of a panel about the active rig."""

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active rig."""
        return active_rig(context) is not None


class TrialPanel(DancePanel):
    """Mix-in of a panel about the active rig's trials."""

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether the active rig has trials."""
        body = active_rig(context)
        if body is None:
            return False
        from ..display.study import find_trials

        return bool(find_trials(body))


class AuthorPanel(DancePanel):
    """Mix-in of a panel about the dance of an undamaged rig."""

    modes = (AUTHOR,)

    @classmethod
    def has_content(cls, context: bpy.types.Context) -> bool:
        """Whether there is such a rig."""
        body = active_rig(context)
        if body is None:
            return False
        from ..scene.armature import rig_problem

        return not rig_problem(body)


class SimpleList:
    """Mix-in of a list whose rows show only their item."""

    def draw_item(  # noqa: PLR0913 the signature is Blender's
        self,
        context: bpy.types.Context | None,
        layout: bpy.types.UILayout,
        data: object,
        item: Any,
        icon: int | None,
        active_data: object,
        active_property: str | None,
        index: int | None,
        flt_flag: int | None,
    ) -> None:
        """Draw a row; called by Blender."""
        self.draw_row(layout, item)

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw an item."""
        raise NotImplementedError


def capitalised_name(name: str) -> str:
    """A name of the rig for display."""
    return display_name(name).capitalize()
