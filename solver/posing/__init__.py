"""Posing by dragging points of the body: whole-body inverse kinematics with planted feet, limits and balance."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "drag": ("Drag",),
        "values": ("DragResult", "Pin", "Target"),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
