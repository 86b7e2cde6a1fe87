"""Rows of the dance benchmark that stand by themselves: whom they are measured on, and what they say without data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="the independent check of dances is by Pinocchio")
from benchmarks import dance as benchmark
from benchmarks.figures import jump, named_dances, recorded_dances
from benchmarks.figures.figure import Figure, FigureStatus
from solver.dynamics import link_poses
from solver.dynamics.coordinates import joint_coordinates
from solver.skeleton.rig import Rig


@pytest.mark.parametrize("case", named_dances.CASES, ids=lambda case: case.name)
def test_named_poses_belong_to_their_body(case: named_dances.Case) -> None:
    """Each is within the joints' limits and another than the others, and one lifts a foot that it can dance lifted."""
    rig = case.rig()
    poses = named_dances.build_poses(rig, case.poses)
    joints = joint_coordinates(rig, np.array([pose.q for pose in poses]))
    assert (joints >= rig.limits.lower - 1e-9).all()
    assert (joints <= rig.limits.upper + 1e-9).all()
    apart = np.abs(joints[:, None] - joints[None]).max(axis=2) + np.eye(len(poses))
    assert apart.min() > 0.1
    lifted = [pose.name for pose in poses if _lift(rig, pose.q) > 0.03]
    assert lifted == ["crane"]


def _lift(rig: Rig, q: np.ndarray) -> float:
    """[m] between the lowest points of the soles."""
    turns, places = link_poses(rig, q)
    low = []
    for name in rig.sides.values():
        link = rig.index(rig.patch(name).link)
        low.append((rig.patch(name).vertices @ turns[link].T + places[link])[:, 2].min())
    return float(np.ptp(low))


@pytest.mark.parametrize("jumper", jump.JUMPERS, ids=lambda jumper: jumper.name)
def test_every_body_gets_the_same_jump_in_proportion(jumper: jump.Jumper) -> None:
    """Rise over height and time in the air over its root are those of the person of 1.75 m, who has 0.3 s and 12 cm."""
    rig = jumper.rig()
    keyed = jump.keyed_jump(rig)
    (flight,) = [phase for phase in keyed.schedule.phases if phase.airborne]
    size = rig.standing_height / jump.JUMPERS[0].rig().standing_height
    assert flight.stop - flight.start == pytest.approx(0.3 * np.sqrt(size))
    assert keyed.keys[1].q[2] - keyed.keys[0].q[2] == pytest.approx(0.12 * size)
    assert [key.role for key in keyed.keys] == ["fixed", "preferred", "fixed"]


def test_rows_without_recordings_are_marked(tmp_path: Path) -> None:
    """Nothing is measured, nothing fails, and the folder that was looked in is named."""
    rows = [figure for found in recorded_dances.figures(tmp_path) for figure in found]
    assert len(rows) == len(recorded_dances.SOURCES)
    assert all(figure.status is FigureStatus.NOT_MEASURED and str(tmp_path) in figure.note for figure in rows)


def test_rows_can_be_chosen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """``--only`` measures those rows and no others; the whole table has them all but for a quick look."""

    def rows(_: object) -> Iterator[list[Figure]]:
        yield [Figure("the requested row", "simulated", 1.0)]

    monkeypatch.setitem(benchmark.PARTS, "jumps", rows)
    monkeypatch.setattr(benchmark, "planar_figures", lambda _: pytest.fail("not requested"))
    assert benchmark.main(["--only", "jumps"]) == 0
    assert "the requested row" in capsys.readouterr().out
    assert set(benchmark.SLOW) <= set(benchmark.PARTS)
