"""What a verb prints for people, for nobody and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from solver.cli import OK, WRONG_INPUT, main
from solver.cli.exit_codes import INCOMPLETE
from solver.scene.dance_folder import SUMMARY_FILE
from solver.scene.motion_record import MOTION, motion_record
from tests.tracking.test_retargeting import person, squat


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A squat of a person."""
    path = tmp_path_factory.mktemp("motion") / "squat.motion.npz"
    MOTION.write(path, motion_record("squat", person(), squat(person(), seconds=1.5)))
    return path


def test_quiet_prints_nothing_and_ends_alike(motion: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code and the files are those of a run that reports."""
    codes, files = [], []
    for words in ([], ["--quiet"]):
        codes.append(main(["check", str(motion), "--output", str(tmp_path / f"out{len(words)}"), *words]))
        files.append((tmp_path / f"out{len(words)}" / SUMMARY_FILE).read_text())
    loud = capsys.readouterr()
    assert main(["check", str(motion), "--quiet"]) == codes[0] == codes[1]
    assert files[0] == files[1]
    assert "holds" in loud.out or "fails" in loud.out
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "%" not in printed.err


def test_json_is_one_object_with_the_result(motion: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has the exit code, the report, the files that were written and the content of the summary."""
    words = ["check", str(motion), "--progress", "none"]
    code = main([*words, "--output", str(tmp_path / "out"), "--json"])
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert code in (OK, INCOMPLETE)
    assert (found["verb"], found["exit_code"], found["output"]) == ("check", code, str(tmp_path / "out"))
    assert SUMMARY_FILE in found["files"]
    assert found["summary"] == json.loads((tmp_path / "out" / SUMMARY_FILE).read_text())
    main(words)
    assert found["report"] == capsys.readouterr().out.strip()
    main([*words, "--json"])
    unwritten = json.loads(capsys.readouterr().out)
    assert unwritten["output"] is None
    assert unwritten["summary"]["status"] == found["summary"]["status"]


@pytest.mark.parametrize("words", [["check", "missing.json"], ["check"], ["dnace"]])
def test_json_names_what_is_wrong(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file, a missing argument and an unknown verb: the sentence of the error stream, with code 2."""
    assert main([*words, "--json"]) == WRONG_INPUT
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["exit_code"] == WRONG_INPUT
    assert printed.err == f"error: {found['error']}\n"


def test_progress_in_json_comes_before_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Every line is an object; the last one is the result."""
    assert main(["rig", "hoap3", "--progress", "json", "--json"]) == OK
    *steps, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert steps
    assert all("fraction" in step for step in steps)
    assert "HOAP-3" in last["report"]
