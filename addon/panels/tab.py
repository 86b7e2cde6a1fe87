"""Where the panels are."""

from __future__ import annotations


class Tab:
    """Mix-in: a panel of the tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dance"
