"""Posing by dragging points of the body: whole-body inverse kinematics with planted feet, limits and balance."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "drag": ("Drag",),
        "values": ("DragResult", "Pin", "Target"),
    },
)
