"""Robot details from the panel are written to the rig of the armature, and can be undone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from addon.authoring import pose_sampling  # noqa: E402
from addon.scene import armature  # noqa: E402
from solver.contacts.schedule import Phase, Schedule, stance  # noqa: E402
from solver.dance.workflows.standing_posture import find_standing_posture  # noqa: E402
from solver.feasibility import check_motion  # noqa: E402
from solver.options.checks import DANCE_CHECKS  # noqa: E402


@pytest.fixture
def robot(own: Path) -> str:
    """Name of HOAP-3 in the scene."""
    assert bpy.ops.exciting_dance.import_rig(kind="hoap3") == {"FINISHED"}
    return str(bpy.context.view_layer.objects.active.name)


def _state(**words: str) -> None:
    settings = bpy.context.scene.exciting_dance
    for name in ("feet", "soles", "torques", "pairs", "srdf"):
        setattr(settings, f"stated_{name}", words.get(name, ""))


def test_details_are_written_to_the_rig_and_undone(robot: str, own: Path) -> None:
    """Soles, torques and pairs are as typed, links and inertial parameters unchanged; one undo restores everything."""
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
    assert list(own.iterdir()) == []
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert armature.rig_of(bpy.data.objects[robot]) == before


@pytest.mark.parametrize(
    ("details", "expected"),
    [({}, "no field is set"), ({"torques": "elbow=strong"}, "NAME=NUMBER"), ({"feet": "paw"}, "paw")],
)
def test_invalid_detail_is_one_error(robot: str, details: dict[str, str], expected: str) -> None:
    """The rig is unchanged."""
    before = armature.rig_of(bpy.data.objects[robot])
    _state(**details)
    with pytest.raises(RuntimeError, match=expected):
        bpy.ops.exciting_dance.state_rig()
    assert armature.rig_of(bpy.data.objects[robot]) == before


@pytest.mark.parametrize("kind", ["human", "hoap3"])
def test_new_rig_stands_in_a_feasible_pose(own: Path, kind: str) -> None:
    """A new rig is in the pose in which dances start, which passes every check; its rest pose is the neutral one.

    In the neutral pose a person's hands are 2.8 cm inside its thighs, and its zero-moment point is outside.
    """
    assert bpy.ops.exciting_dance.import_rig(kind=kind) == {"FINISHED"}
    body = bpy.context.view_layer.objects.active
    rig = armature.rig_of(body)
    record = find_standing_posture(rig)
    anchors = stance(rig, "both")
    schedule = Schedule((Phase(0.0, 1.0, anchors),), ground=0.0)
    assert check_motion(rig, record.motion, schedule, DANCE_CHECKS).feasible
    turns, places = pose_sampling.evaluate_curves(bpy.context.scene, body, rig, np.array([1.0]))
    alike = np.abs(np.einsum("li,li->l", turns[0], record.scene.rotations[0]))
    np.testing.assert_allclose(alike, 1.0, atol=1e-6)
    np.testing.assert_allclose(places[0, 0], record.scene.root[0], atol=1e-5)
    bare = armature.build_armature(bpy.context, rig)
    for bone, other in zip(body.data.bones, bare.data.bones, strict=True):
        np.testing.assert_allclose(bone.matrix_local, other.matrix_local, atol=1e-7)
