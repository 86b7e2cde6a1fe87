"""Settings files: a run can be repeated from the file that it wrote, and a wrong file is one clear error."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from solver.cli import OK, WRONG_INPUT, main, parser
from solver.cli.settings_file import NOT_STORED, SETTINGS, settings_text
from solver.demo.person import record_person, simulate_person

MOST_SHOWN = 20
LINES = (
    "identify a.trc --sex female --height 1.75 --static a b --free-moment as-is --smooth --jobs 7 --output out",
    "identify a.trc --sex male --report-only position mass --no-cross-validation --forces-on-plates --output out",
    "dance hoap3 --postures both=3 right=1 --speed 1.5 --shrink 0.3 --bpm 90 --output out",
    "dance human --height 1.7 --mass 65 --sex female --bpm 110 --skill beginner --foot-clearance 0.03 --output out",
)


def stored(options: argparse.Namespace) -> dict[str, object]:
    """Everything of a command line that a settings file repeats."""
    own = {"files", "body", "hidden", "run", "parser", "receives"}
    return {key: value for key, value in vars(options).items() if key not in NOT_STORED | own}


@pytest.mark.parametrize("line", LINES)
def test_a_settings_file_repeats_a_command_line(line: str, tmp_path: Path) -> None:
    """Options written to a file and read from it are the same options."""
    verb, first, *_ = words = line.split()
    given = parser().parse_args(words)
    file = tmp_path / SETTINGS
    file.write_text(settings_text(given.parser, given), "utf-8")
    again = parser(file, verb).parse_args([verb, first, "--output", "out"])
    assert stored(again) == stored(given)
    assert stored(again) != stored(parser().parse_args([verb, first, "--output", "out"]))


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    """An option that both give has the value of the command line."""
    file = tmp_path / SETTINGS
    file.write_text('height = 1.6\nmass = 50\nfree-moment = "ignore"\n', "utf-8")
    options = parser(file, "identify").parse_args(["identify", "a.trc", "--height", "1.8", "--output", "out"])
    assert (options.height, options.mass, options.free_moment) == (1.8, 50.0, "ignore")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("heigth = 1.7", "unknown setting 'heigth'. Did you mean 'height'? Known: angle_units,"),
        ("height = 'tall'", 'height = "tall"'),
        ("smooth = 1", "is a switch: true or false"),
        ("height = [1.7, 1.8]", "takes one value"),
        ("method = 'consistant'", "not 'consistant'. Did you mean 'consistent'?"),
        ("height 1.7", "is no TOML"),
    ],
)
def test_a_wrong_file_is_one_error(text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the file, the key and the choices; nothing is written."""
    file = tmp_path / "study.toml"
    file.write_text(text + "\n", "utf-8")
    words = ["identify", "a.trc", "--sex", "female", "--settings", str(file), "--output", str(tmp_path / "out")]
    assert main(words) == WRONG_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "study.toml" in line
    assert problem in line
    assert not (tmp_path / "out").exists()


def test_a_run_writes_its_settings_and_repeats_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder of results holds the settings; with them another run writes the same calibration."""
    record_person(simulate_person(seed=1, seconds=1.0), tmp_path, seed=1)
    static, folders = str(tmp_path / "static.trc"), [tmp_path / "first", tmp_path / "second"]
    common = ["calibrate", static, "--progress", "none", "--output"]
    assert main([*common, str(folders[0]), "--sex", "male", "--height", "1.76", "--trunk", "three"]) == OK
    assert 'trunk = "three"' in (folders[0] / SETTINGS).read_text("utf-8")
    assert main([*common, str(folders[1]), "--settings", str(folders[0] / SETTINGS)]) == OK
    assert len({(folder / "calibration.json").read_bytes() for folder in folders}) == 1


@pytest.mark.parametrize("verb", ["identify", "dance", "replay", "samples", "demo", "slow"])
def test_help_is_short_and_help_all_is_complete(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` lists at most 20 options, ``--help-all`` every one, and the defaults that it states are right."""
    shown = {}
    for option in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as left:
            main([verb, option])
        assert left.value.code == 0
        shown[option] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  -")]
    assert len(shown["--help"]) <= MOST_SHOWN
    listed = "\n".join(shown["--help-all"])
    actions = parser()._subparsers._group_actions[0].choices[verb]._actions  # type: ignore[union-attr,index,call-overload]
    assert [
        action.dest for action in actions if action.option_strings and action.option_strings[-1] not in listed
    ] == []
    for action in actions:
        stated = re.search(r"\(default: ([^ ,)]+)", action.help or "")
        assert not stated or not action.default or stated[1] == str(action.default).removesuffix(".0"), action.dest
