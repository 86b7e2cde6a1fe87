"""Every option of the program, declared once; light to import, for the command line and Blender need it at start."""

from __future__ import annotations

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "authoring": ("CompleteOptions", "RepairOptions"),
        "checks": ("DANCE_CHECKS", "CheckOptions"),
        "retargeting": ("RetargetOptions",),
        "declared": ("Declaration", "Option", "Options", "Range", "declarations"),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
