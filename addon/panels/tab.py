"""Where the panels are."""

from __future__ import annotations

from typing import Any

import bpy


class DancePanel:
    """Mix-in: a panel of the tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dance"


class SimpleList:
    """Mix-in: a list whose rows show their item and nothing else."""

    def draw_item(  # noqa: PLR0913 the signature that Blender calls
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
        """Draw one."""
        self.draw_row(layout, item)

    def draw_row(self, layout: bpy.types.UILayout, item: Any) -> None:
        """Draw an item."""
        raise NotImplementedError
