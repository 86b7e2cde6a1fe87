"""The independent check of dances finds what is wrong with them, and where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="the check is by Pinocchio itself")
from benchmarks.engine.judge import Finding, Judge, Record
from solver.formats.urdf_writer import write_urdf
from solver.rigs import hrp2
from solver.trajectory.legged_rig import LeggedRig

FRAMES = 30
TIMES = np.arange(FRAMES) / 100.0


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """HRP-2's, by its file."""
    path = tmp_path_factory.mktemp("robot") / "hrp2.urdf"
    write_urdf(hrp2(), path)
    solids = [("waist", f"{side}_thigh") for side in ("left", "right")]  # drawn into each other
    return Judge(path, [], apart=solids)


@pytest.fixture(scope="module")
def standing() -> Record:
    """HRP-2 at rest on both feet."""
    rig = hrp2()
    legged = LeggedRig(rig, shrink=0.4)
    footing = legged.get_footing("both")
    q = legged.solve_static(legged.home_posture(footing)[None], footing.solved)[1].q[0]
    joints = {link: np.full(FRAMES, q[7 + k]) for k, link in enumerate(rig.links[1:])}
    feet = {rig.patch(patch).link: np.ones(FRAMES, bool) for patch in rig.patches}
    return Record(TIMES, np.tile(q[:7], (FRAMES, 1)), joints, feet)


def _found(judge: Judge, record: Record) -> dict[str, Finding]:
    return {finding.what: finding for finding in judge.findings(record)}


def test_standing_is_feasible(judge: Judge, standing: Record) -> None:
    """A robot at rest over its feet keeps everything, and its zero-moment point lies well inside."""
    found = _found(judge, standing)
    assert all(finding.margin >= -1e-9 for finding in found.values()), list(map(str, found.values()))
    assert found["zmp"].margin > 0.02


def test_a_leaning_robot_falls_and_slides(judge: Judge, standing: Record) -> None:
    """The root carried forward over standing feet takes them along: they slip, and nothing else does."""
    root = standing.root.copy()
    root[:, 0] += 0.1 * TIMES
    found = _found(judge, replace(standing, root=root))
    assert found["slip"].margin == pytest.approx(-0.1 * (TIMES[-2] - TIMES[1]), abs=1e-9)
    assert found["zmp"].margin > 0.02


def test_weight_beside_the_standing_foot_is_reported(judge: Judge, standing: Record) -> None:
    """On the left foot alone a body above both is out of balance, and no forces carry it."""
    alone = {link: np.full(FRAMES, link.startswith("left")) for link in standing.planted}
    found = _found(judge, replace(standing, planted=alone))
    assert found["zmp"].margin < -0.02
    assert found["contact"].margin < 0.0
    assert found["swing"].margin == pytest.approx(-0.02, abs=1e-6)
    assert found["swing"].where == "right_foot"


def test_joints_beyond_their_limits_and_arms_in_the_trunk_are_named(judge: Judge, standing: Record) -> None:
    """A turn beyond a limit is found by the joint's name, an arm through the body by both links'."""
    name = "right_shoulder_roll"
    turned = {**standing.joints, name: np.full(FRAMES, 1.2)}
    found = _found(judge, replace(standing, joints=turned))
    assert found["angle"].where == name
    assert found["angle"].margin < 0.0
    assert found["touch"].margin < 0.0
    assert "right" in found["touch"].where


def test_an_unknown_joint_is_refused(judge: Judge, standing: Record) -> None:
    """A record of another robot is no record of this one."""
    with pytest.raises(KeyError, match="no joint 'tail'"):
        judge.findings(replace(standing, joints={"tail": np.zeros(FRAMES)}))
