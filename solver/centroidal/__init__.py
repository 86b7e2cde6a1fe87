"""Centre of mass and rate of angular momentum from kinematics and contact wrenches: bailly2019 and other estimators."""

from typing import Any

from ..lazy_imports import LazyExports

EXPORTS = LazyExports(
    __name__,
    {
        "values": (
            "CentroidalData",
            "CentroidalEstimate",
            "InertialModes",
        ),
        "inputs": ("centroidal_data",),
        "estimate": ("estimate_centroidal",),
        "live": (
            "CausalFilter",
            "LiveSample",
        ),
        ".scene.centroidal_estimate": ("SceneEstimate",),
    },
)

__all__ = EXPORTS.names


def __getattr__(name: str) -> Any:
    return EXPORTS.load(name)


def __dir__() -> list[str]:
    return EXPORTS.list_names()
