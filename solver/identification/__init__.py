"""Identification: inertial parameters of every link from motion and measured wrenches."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "accumulate": ("accumulate_regression",),
        "added_load": (
            "AddedLoad",
            "find_added_load",
        ),
        "flight": (
            "NullSpace",
            "null_space",
        ),
        "regression": ("Regression",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
