"""A check is one file and one row of the table: every reader of the table takes it up."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.contacts.schedule import Phase, Schedule
from solver.dance.authoring.authored_dance import AuthoredDance, Keyframe
from solver.dance.workflows.check import summarise_checks
from solver.dance.workflows.summaries import scene_failures
from solver.dynamics import centroidal_momentum
from solver.dynamics.coordinates import Curves
from solver.feasibility import Check, CheckOptions, Checks, FrameChecker, check_motion, check_table
from solver.feasibility.check_definition import CheckItems
from solver.feasibility.check_input import CheckInput
from solver.feasibility.checks.hand_speed import HAND_SPEED
from solver.feasibility.messages import format_check_table
from solver.live.protocol import done_line
from solver.live.scene_frames import scene_frames
from solver.rigs import hoap3
from solver.trajectory.planted_feet import PlantedTrajectory
from solver.trajectory.trajectory_limits import TrajectoryLimits
from tests.dance.example_dances import home, shift_root
from tests.dance.static_motions import sinusoidal_motion, static_motion

ROOT = Path(__file__).resolve().parents[2]
RIG = hoap3(torque="peak")
NEW = "another check"
UNMISTAKABLE = ("joint angle", "joint speed", "joint torque", "unilateral", "self-collision", "placement")
"""Names that say nothing else than the check."""


@pytest.fixture(params=check_table.CHECKS, ids=lambda check: check.name)
def added(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Check:
    """A check of the table; the table has a copy of it under another name."""
    check: Check = request.param
    monkeypatch.setattr(check_table, "CHECKS", (*check_table.CHECKS, replace(check, name=NEW)))
    return check


def everything_fails() -> Checks:
    """Breaks every limit: fast, bent too far, off its anchors, through the floor, torn down; then hung in the air."""
    q, anchors = home(RIG)
    low = shift_root(q, 0.3, 0.1, -0.1)
    low[7:] += 2.5
    motion = static_motion(RIG, low, 2)
    v, a = np.full_like(motion.v, 40.0), np.full_like(motion.a, -900.0)
    schedule = Schedule((Phase(-1.0, 0.005, anchors), Phase(0.005, 1.0)))
    checks = check_motion(RIG, replace(motion, v=v, a=a), schedule, CheckOptions(hand_speed=2.0))
    assert all(margin.failed.any() for margin in checks.margins)
    return checks


def test_a_check_sees_momentum_contacts_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its input has the motion's own times, in pieces too, the momentum of the motion, and the planted patches."""
    motion = sinusoidal_motion(RIG, np.linspace(3.0, 3.1, 6), size=0.1)
    schedule = Schedule((Phase(0.0, 3.05, home(RIG)[1]), Phase(3.05, 4.0)))
    rows: list[np.ndarray] = []

    def margins(inputs: CheckInput) -> np.ndarray:
        planted = np.full(len(inputs), len(inputs.planted.phase.anchors))
        rows.append(np.column_stack([inputs.motion.times, inputs.momentum.momentum, planted]))
        return np.zeros((len(inputs), 1))

    own = replace(HAND_SPEED, name=NEW, items=lambda body: CheckItems(("whole",), ((),)), margins=margins)
    monkeypatch.setattr(check_table, "CHECKS", (own,))
    check_motion(RIG, motion, schedule)
    found, wanted = np.concatenate(rows), centroidal_momentum(RIG, motion, RIG.prior).momentum
    np.testing.assert_array_equal(found[:, 0], motion.times)
    np.testing.assert_allclose(found[:, 1:7], wanted, atol=1e-12)
    assert found[:, 7].tolist() == [2.0] * 3 + [0.0] * 3


def test_a_row_is_in_the_margins_and_the_table(added: Check) -> None:
    """Its margins are the copied check's in every frame, and the printed table has a line for it."""
    checks = everything_fails()
    one, other = checks.get_margin(added.name), checks.get_margin(NEW)
    np.testing.assert_allclose(one.values, other.values, rtol=0.0, atol=1e-12)  # coal begins where it ended
    assert (one.items, one.links, one.scale, one.unit) == (other.items, other.links, other.scale, other.unit)
    assert NEW in format_check_table(checks)


def test_a_row_is_in_every_list_of_failures(added: Check) -> None:
    """First and worst failures, the message and the summary of a scene contain it if it fails."""
    checks = everything_fails()
    for found in (checks.first_failures, checks.worst_failures):
        mine = next(failure for failure in found if failure.check.name == NEW)
        copied = next(failure for failure in found if failure.check.name == added.name)
        assert (mine.item, mine.frame, mine.margin) == (copied.item, copied.frame, copied.margin)
        assert mine.description == copied.description
    failures = {failure.check: failure for failure in scene_failures(checks)}
    assert failures[NEW].text == failures[added.name].text
    assert summarise_checks(checks).startswith("Not feasible")


def test_a_row_is_in_live_frames(added: Check) -> None:
    """Every frame contains its margin and message, and the last line its failure."""
    checks = everything_fails()
    frames = scene_frames(RIG, checks, CheckOptions())
    done = json.loads(done_line(1, frames, {}))
    for place, frame in enumerate(frames):
        named = {margin.check: margin for margin in frame.margins}
        assert (NEW in named) == np.isfinite(checks.get_margin(added.name).smallest[place])
        if NEW in named:
            assert replace(named[NEW], check=added.name) == named[added.name]
    first = next(failure for failure in checks.first_failures if failure.check.name == NEW)
    assert done["failures"].count(str(first)) == 2


def test_a_row_is_in_the_optimisations(added: Check) -> None:
    """Trajectory limits have the same values under its name; the search of transitions has one more column."""
    q, anchors = home(RIG)
    keys = tuple(Keyframe(t, k) for t, k in ((0.0, q), (0.5, shift_root(q, 0.01, 0.01, -0.02)), (1.0, q)))
    keyed = AuthoredDance(RIG, keys, Schedule.constant(anchors, 0.0, 1.0))
    trajectory = PlantedTrajectory(RIG, keyed.curve(), keyed.schedule, [])
    limits = TrajectoryLimits(trajectory, CheckOptions(reach=0.3), 1.0)
    times = np.linspace(0.0, 1.0, 5)
    rates = trajectory.curve.at(times)
    values = limits.values(times, rates, limits.check(times, rates))
    mine, copied = (values.values[:, values.names == name] for name in (NEW, added.name))
    np.testing.assert_allclose(mine, copied, rtol=0.0, atol=1e-12)
    assert bool(mine.shape[1]) == (added.smooth_limit is not None and (added.name != "floor" or copied.shape[1] > 0))
    motion = keyed.motion(20.0)
    held = FrameChecker(RIG, keyed.schedule).loads(Curves(motion.q, motion.v, motion.a), keyed.schedule.phases[0])
    assert held.other_margins.shape[1] == sum(check.limits_transitions for check in check_table.CHECKS)


def literals(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every string constant of the files of a folder that is no docstring."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.relative_to(ROOT), node.value


def test_one_file_names_each_check() -> None:
    """The name of a check occurs in one file of the solver and the add-on, among the checks."""
    public = {"solver/feasibility/__init__.py"}  # `placement` is a function there
    files: dict[str, set[str]] = {name: set() for name in UNMISTAKABLE}
    for part in ("solver", "addon"):
        for path, text in literals(ROOT / part):
            if text in files and path.as_posix() not in public:
                files[text].add(path.as_posix())
    for name, found in files.items():
        assert len(found) == 1, name
        assert found.pop().startswith("solver/feasibility/checks/")
    assert set(UNMISTAKABLE) <= {check.name for check in check_table.CHECKS}


def test_names_are_unique() -> None:
    """No two checks have one name."""
    names = [check.name for check in check_table.CHECKS]
    assert len(set(names)) == len(names)
