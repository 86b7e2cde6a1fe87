"""Fixtures of the add-on's tests, which run with the `bpy` package."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from addon import registration  # noqa: E402
from addon.jobs import job  # noqa: E402
from addon.jobs.job import JobOperator  # noqa: E402
from solver.cli import main  # noqa: E402
from solver.cli.exit_codes import INCOMPLETE  # noqa: E402
from solver.rigs import hoap3, hrp2, human  # noqa: E402
from solver.skeleton.rig import Rig  # noqa: E402

RIGS: dict[str, Callable[[], Rig]] = {
    "human": lambda: human(1.75, 70.0, "male"),
    "person with a girdle": lambda: human(1.75, 70.0, "male", shoulders="girdle"),
    "hoap3": hoap3,
    "hrp2": hrp2,
}


@pytest.fixture
def empty_scene() -> None:
    """Blender with an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.fixture
def registered(empty_scene: None) -> Iterator[None]:
    """The registered add-on in an empty scene."""
    registration.register()
    yield
    registration.unregister()


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which jobs create their folders: none that other processes of tests also clean."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def own(registered: None, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which jobs of the registered add-on create their folders. Jobs prepare in many short steps, and ask
    after each one whether the user has to do something first, as in a window."""
    advance = JobOperator._advance
    monkeypatch.setattr(job, "STEP_TIME", 1e-5)
    monkeypatch.setattr(JobOperator, "_advance", lambda self: (advance(self), self._waits_for_user())[0])
    return temporary


@pytest.fixture
def study(robot_study: Path, tmp_path: Path) -> Path:
    """The folder of a simulated robot's study, copied for one test."""
    return Path(shutil.copytree(robot_study, tmp_path / "study"))


@pytest.fixture
def studied(own: Path, study: Path) -> Any:
    """The body of the study in an empty scene."""
    assert bpy.ops.exciting_dance.open_study(directory=str(study)) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


@pytest.fixture(scope="session")
def designed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a small dance, designed with its own checks."""
    folder = tmp_path_factory.mktemp("designed") / "dance"
    words = "dance hoap3 --postures both=1 --effort 0.1 --knot-spacing 0.4 --workers 1 --seed 1"
    own_checks = "--shrink 0.3 --friction 0.45 --progress none"
    assert (
        main([*words.split(), *own_checks.split(), "--output", str(folder)]) == INCOMPLETE
    )  # feet that never leave the floor
    return folder


@pytest.fixture(scope="session", params=list(RIGS))
def rig(request: pytest.FixtureRequest) -> Rig:
    """Each built-in rig."""
    return RIGS[request.param]()
