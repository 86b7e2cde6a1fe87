"""Preferences of the extension: the Python that runs the solver, and instructions if Pinocchio is missing."""

from __future__ import annotations

import bpy

from .interpreter import INSTALL_INSTRUCTIONS, PACKAGE, has_engine


class Preferences(bpy.types.AddonPreferences):
    """Settings of the extension."""

    bl_idname = PACKAGE

    solver_python: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Solver Python",
        description="Python that runs the solver. If empty, Blender's own with the extension's packages",
        subtype="FILE_PATH",
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.prop(self, "solver_python")
        if self.solver_python:
            layout.label(text="The solver runs in the Python above", icon="INFO")
        elif has_engine():
            layout.label(text="The solver is ready", icon="CHECKMARK")
        else:
            layout.label(text="The solver's packages are missing in Blender's Python", icon="ERROR")
            for line in INSTALL_INSTRUCTIONS:
                layout.label(text=line)
