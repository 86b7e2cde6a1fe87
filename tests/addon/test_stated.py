"""What is stated about a rig in the panel is written into the rig on its armature, and undone with it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from addon import armature, registration  # noqa: E402


@pytest.fixture
def registered(empty_scene: None) -> Iterator[None]:
    """The add-on's classes and settings, in an empty scene."""
    registration.register()
    yield
    registration.unregister()


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the add-on makes its own folders in this test."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def robot(registered: None, own_folders: Path) -> str:
    """Name of HOAP-3 in the scene."""
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    return str(bpy.context.view_layer.objects.active.name)


def _state(**words: str) -> None:
    settings = bpy.context.scene.exciting_dance
    for name in ("feet", "soles", "torques", "pairs", "srdf"):
        setattr(settings, f"stated_{name}", words.get(name, ""))


def test_what_is_stated_is_in_the_rig_and_undone(robot: str, own_folders: Path) -> None:
    """Soles, torques and pairs as typed; links and inertials as before; one undo takes all of it back."""
    before = armature.rig_of(bpy.data.objects[robot])
    one, other = before.links[1], before.links[5]
    joint = before.joints[3].name
    _state(soles=f"{before.contacts[0].link}=0.12x0.07", torques=f"{joint}=3.5", pairs=f"{one}:{other}")
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.exciting_dance.state_rig() == {"FINISHED"}
    after = armature.rig_of(bpy.data.objects[robot])
    assert after.limits_of(before.links[3]).torque == pytest.approx([3.5])
    assert (one, other) in after.excluded
    sole = after.contacts[-1].vertices
    sides = [float(((sole[k] - sole[k - 1]) ** 2).sum() ** 0.5) for k in range(4)]
    assert sorted(sides) == pytest.approx([0.07, 0.07, 0.12, 0.12])
    assert after.links == before.links
    assert after.prior.values == pytest.approx(before.prior.values)
    assert list(own_folders.iterdir()) == []
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert armature.rig_of(bpy.data.objects[robot]) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [({}, "nothing is stated"), ({"torques": "elbow=strong"}, "NAME=NUMBER"), ({"feet": "paw"}, "paw")],
)
def test_a_wrong_statement_is_one_sentence(robot: str, words: dict[str, str], told: str) -> None:
    """The rig stays as it was."""
    before = armature.rig_of(bpy.data.objects[robot])
    _state(**words)
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.exciting_dance.state_rig()
    assert armature.rig_of(bpy.data.objects[robot]) == before
