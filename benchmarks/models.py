"""Folders of robot models by other authors: packages, stated folders, `../shared/models`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared" / "models"
HOW = "pip install example-robot-data icub-models, or name their folders in ROBOT_MODELS"
"""To have them."""
HUMANS = {66: ("human66_subject01.urdf",), 48: ("human48_subject01.urdf",)}
G1 = ("g1_description", "urdf", "g1_29dof_rev_1_0.urdf")
H1 = ("h1_description", "urdf", "h1.urdf")
ICUB = ("iCub", "robots", "iCubGazeboV2_7", "model.urdf")
PANDA = ("panda_description", "urdf", "panda.urdf")
UR5 = ("ur_description", "urdf", "ur5_robot.urdf")


def places() -> list[Path]:
    """Folders in which models may be, the stated ones first; meshes are searched for there too."""
    stated = [Path(p) for p in os.environ.get("ROBOT_MODELS", "").split(os.pathsep) if p]
    packaged = [Path(p) / "cmeel.prefix" / "share" / "example-robot-data" / "robots" for p in sys.path]
    return [*stated, *packaged, Path(sys.prefix) / "share", SHARED]


class MissingModel(Exception):
    """A model that a figure needs is not installed; names it, and how to have it."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        super().__init__(f"the model {'/'.join(parts)} is not installed: {HOW}")


def model_file(parts: tuple[str, ...]) -> Path | None:
    """A model by the last parts of its path, as `G1`; None where it is not installed."""
    return next((path for place in places() if (path := place.joinpath(*parts)).is_file()), None)
