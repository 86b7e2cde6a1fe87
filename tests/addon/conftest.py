"""Fixtures of the add-on's tests, which run with the `bpy` package."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from addon import registration  # noqa: E402
from solver.rig import Rig  # noqa: E402
from solver.rigs import hoap3, hrp2, human  # noqa: E402

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


@pytest.fixture
def own(registered: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which jobs create their folders."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="session", params=list(RIGS))
def rig(request: pytest.FixtureRequest) -> Rig:
    """Each built-in rig."""
    return RIGS[request.param]()


@pytest.fixture(scope="session")
def person() -> Rig:
    """A human rig."""
    return human(1.75, 70.0, "male")
