"""The demonstration: a simulated person and HRP-2 through the whole pipeline, with errors against the known truth."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "examples": (
            "simulated_person",
            "simulated_robot",
        ),
        "run": ("run_demo",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
