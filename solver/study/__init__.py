"""A study: from the recordings of a subject or robot to identified inertial parameters."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "values": ("TrialRecord",),
        "joint_motion": (
            "joints_of",
            "poses_of",
        ),
        "pipeline": ("identify_motions",),
        "tracking": ("track_all",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
