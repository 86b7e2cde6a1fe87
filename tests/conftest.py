"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from solver.skeleton.rig import Rig

WITHOUT_PINOCCHIO = Path(__file__).resolve().parent / "without_pinocchio"
if os.environ.get("ENGINE") == "numpy" and find_spec("pinocchio"):  # here and in every process that a test starts
    runpy.run_path(str(WITHOUT_PINOCCHIO / "sitecustomize.py"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(WITHOUT_PINOCCHIO), os.environ.get("PYTHONPATH"))))
SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings, which are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real recordings are not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def person() -> Rig:
    """A person."""
    from solver.rigs import human

    return human(1.75, 70.0, "male")


@pytest.fixture(scope="session")
def robot() -> Rig:
    """A small robot."""
    from solver.rigs import hoap3

    return hoap3()


@pytest.fixture(scope="session")
def strong_robot() -> Rig:
    """A small robot with its peak torques."""
    from solver.rigs import hoap3

    return hoap3(torque="peak")


@pytest.fixture(scope="session")
def robot_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a simulated robot's study with forces, which no test changes."""
    import solver

    robot = solver.demo.simulated_robot()
    settings = solver.Settings(no_cross_validation=True)
    folder = tmp_path_factory.mktemp("study")
    solver.identify(robot.recordings, rig=robot.rig, settings=settings).write(folder, simulated=True)
    return folder


_STATUS: list[int] = []


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the verdict for the way out."""
    _STATUS.append(int(exitstatus))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave without the exit handlers of Blender 4.5's module: now and then they wait for a thread for ever."""
    if "bpy" in sys.modules and _STATUS:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_STATUS[-1])
