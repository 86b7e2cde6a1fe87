"""Joint moments of a person or robot: inverse dynamics from motion, external wrenches and identified inertials."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "contact_links": ("ContactLinks", "assign_wrenches"),
        "of_study": ("moments_of_study",),
        "inverse_dynamics": ("compute_moments",),
        "values": ("JointMoments",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
