"""Robots with a fixed base: exciting motions, and inertials from joint torques or from a force sensor at the base.

No other package imports this one; the command line finds its verbs (`cli.extensions`).
"""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "exciting_motions": (
            "ExcitingOptions",
            "exciting_motion",
        ),
        "identify": (
            "FixedBaseOptions",
            "FixedBaseTrial",
            "identify_fixed_base",
        ),
        "robot": ("FixedBaseRobot",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
