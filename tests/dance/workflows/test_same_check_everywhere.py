"""A dance has one set of checks in all its files, and the same result everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.cli import OK, main
from solver.cli.exit_codes import INCOMPLETE
from solver.dance.authoring.authored_dance import AUTHORED_DANCE
from solver.dance.authoring.timeline import dance_from_timeline
from solver.dance.design.dance import DESIGNED_DANCE
from solver.dance.workflows.check import check
from solver.dance.workflows.loading import load_dance
from solver.dance.workflows.slow import slow
from solver.feasibility import Checks, check_motion
from solver.live.check import IncrementalCheck
from solver.live.protocol import parse_request
from solver.live.server import LiveServer
from solver.options.checks import DANCE_CHECKS, CheckOptions
from solver.scene.checked_frame import scene_frame
from solver.scene.dance_folder import AUTHORED_FILE, DANCE_FILE, SUMMARY_FILE
from solver.scene.motion import scene_motion
from solver.scene.summary import SUMMARY
from solver.scene.timeline import TIMELINE, SceneTimeline

WORDS = [
    "dance",
    "hoap3",
    "--postures",
    "both=1",
    "--effort",
    "0.02",
    "--knot-spacing",
    "0.4",
    "--workers",
    "1",
]
CHOSEN = CheckOptions(shrink=0.3, friction=0.45, allowed_slip=0.0015, clearance=0.001, reach=0.031)
RATE = 30.0
QUIET = ["--progress", "none"]


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small dance, designed with its own checks."""
    folder = tmp_path_factory.mktemp("designed") / "dance"
    chosen = ["--shrink", "0.3", "--friction", "0.45", "--allowed-slip", "0.0015", "--clearance", "0.001"]
    assert main([*WORDS, *chosen, "--output", str(folder), *QUIET]) == INCOMPLETE
    return folder


@pytest.fixture(scope="module")
def shown(designed: Path) -> SceneTimeline:
    """The dance in a scene, which takes its checks from the summary."""
    dance, summary = DESIGNED_DANCE.read(designed / DANCE_FILE), SUMMARY.read(designed / SUMMARY_FILE)
    rig = dance.rig
    poses = scene_motion(rig, dance.sample(rig, RATE))
    return SceneTimeline(
        "designed", rig, poses.times, poses.root, poses.rotations, poses.translations,
        strips=summary.strips, checks=summary.checks,
    )  # fmt: skip


def same(one: Checks, other: Checks) -> None:
    """Margins agree to rounding."""
    assert [margin.name for margin in one.margins] == [margin.name for margin in other.margins]
    for mine, yours in zip(one.margins, other.margins):
        np.testing.assert_allclose(mine.smallest, yours.smallest, rtol=0.0, atol=1e-12, err_msg=mine.name)


def test_the_chosen_checks_are_in_every_file(designed: Path, shown: SceneTimeline, tmp_path: Path) -> None:
    """Design, summary, timeline and authored dance store the same checks, and so do their results."""
    timeline, keyed = TIMELINE.write(tmp_path / "a.timeline.npz", shown), tmp_path / "a.json"
    AUTHORED_DANCE.write(keyed, dance_from_timeline(shown))
    for path in (designed / DANCE_FILE, timeline, keyed):
        assert load_dance(path).checks == CHOSEN
        assert check(path, rate=RATE).summary().checks == CHOSEN
    answer = slow(timeline)
    answer.write(tmp_path / "slowed")
    assert answer.summary.checks == CHOSEN
    assert AUTHORED_DANCE.read(tmp_path / "slowed" / AUTHORED_FILE).checks == CHOSEN


def test_margins_are_equal_everywhere(shown: SceneTimeline, tmp_path: Path) -> None:
    """Margins of a timeline, its authored dance and the live check are equal in every frame."""
    timeline, path = TIMELINE.write(tmp_path / "a.timeline.npz", shown), tmp_path / "a.json"
    keyed = dance_from_timeline(shown)
    AUTHORED_DANCE.write(path, keyed)
    authored = AUTHORED_DANCE.read(path)
    motion = keyed.curve().motion(keyed.rig, shown.times)
    expected = check_motion(keyed.rig, motion, keyed.schedule, CHOSEN)
    assert not expected.get_margin("zmp").failed.all()
    same(check_motion(authored.rig, authored.curve().motion(authored.rig, shown.times), authored.schedule,
                      authored.checks), expected)  # fmt: skip
    same(check(timeline, rate=RATE).checks, check(path, rate=RATE).checks)

    live: IncrementalCheck[tuple[float, ...]] = IncrementalCheck(
        keyed.rig, lambda checks, _: [tuple(row) for row in np.array([m.smallest for m in checks.margins]).T]
    )
    live.set_motion(motion, keyed.schedule, shown.checks)
    while live.check_next(16).frames:
        pass
    np.testing.assert_allclose(
        np.array(live.results, float).T, [m.smallest for m in expected.margins], rtol=0.0, atol=1e-12
    )

    lines: list[str] = []
    server = LiveServer(lines.append)
    server.accept(
        [parse_request(json.dumps({"do": "timeline", "serial": 1, "path": str(timeline), "excitation": False}))]
    )
    while server.work():
        pass
    frames = [scene_frame(each) for line in lines[:-1] for each in json.loads(line)["frames"]]
    assert sorted(frame.frame for frame in frames) == list(range(len(shown)))
    for frame in frames:
        for margin in frame.margins:
            value = expected.get_margin(margin.check).smallest[frame.frame]
            assert margin.value == pytest.approx(value, abs=0.6e-6)  # they are written with six digits
        assert frame.failed == expected.failed[frame.frame]
    assert json.loads(lines[-1])["feasible"] == expected.feasible


def test_an_option_overrides_and_says_so(designed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command-line option overrides the stored checks, is printed and is in the output; nothing else changes."""
    path, output = str(designed / DANCE_FILE), tmp_path / "checked"
    assert main(["check", path, "--rate", "50", "--friction", "0.001", "--output", str(output), *QUIET]) == INCOMPLETE
    assert "friction 0.001 instead of 0.45" in capsys.readouterr().err
    assert SUMMARY.read(output / SUMMARY_FILE).checks == replace(CHOSEN, friction=0.001)
    assert main(["check", path, "--rate", "50", *QUIET]) == OK
    assert "instead of" not in capsys.readouterr().err


def test_default_checks_are_defined_once() -> None:
    """A design without choices has the defaults of dances; its search alone keeps reserves and has no tolerance."""
    from solver.options.dances import SEARCH_TOLERANCE, DanceOptions, human_options, paper_options

    for options in (DanceOptions(), human_options(), paper_options()):
        assert options.checks == DANCE_CHECKS
        kept = {name: getattr(options, name) for name in ("torque_reserve", "balance_reserve", "foot_clearance")}
        kept["hand_speed"] = options.skill_limits.hand_speed
        assert options.search_checks == replace(DANCE_CHECKS, allowed_slip=0.0, tolerance=SEARCH_TOLERANCE, **kept)
