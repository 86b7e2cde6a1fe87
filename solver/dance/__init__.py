"""Exciting dances: motions that excite a body's inertias in balance and without collisions, bonnet2016."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "workflows.check": ("CheckResult",),
        "workflows.design": ("DesignedDance",),
        "workflows.edited_dance": ("EditedDance",),
        "workflows.loading": ("LoadedDance",),
        "workflows.perform": ("PerformedDance",),
        "workflows.retarget": (
            "RetargetLimits",
            "RetargetedDance",
        ),
        "design.options": (
            "human_options",
            "paper_options",
        ),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
