"""Options that cannot work are refused by the values that hold them, before any work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import SolverError
from solver.calibration.subject import SubjectData
from solver.cli import main
from solver.options.study import Settings
from solver.signals import FilterPreset
from solver.signals.trial import Recording
from solver.study.recordings import require_rates
from solver.values.motion import Markers

ROOT = Path(__file__).resolve().parents[2]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "make",
    [
        lambda: SubjectData(NAN, "male"),
        lambda: SubjectData(70.0, "male", 17.5),
        lambda: FilterPreset("mine", 3, INF),
    ],
)
def test_impossible_option_values_are_refused(make: Callable[[], object]) -> None:
    """A negative count, an invalid number, a name that does not exist are reported for their own option."""
    with pytest.raises(SolverError):
        make()


def test_a_cut_off_above_half_the_rate_is_refused_before_tracking() -> None:
    """A recording of 10 samples a second cannot be filtered at 8 Hz; the error names it."""
    times = np.arange(0.0, 2.0, 0.1)
    slow = Recording("slow", Markers(times, ("a",), np.zeros((len(times), 1, 3))))
    with pytest.raises(SolverError, match="slow: filter 'human_8hz'"):
        require_rates([slow], Settings())


@pytest.mark.parametrize("words", ["--jobs 0", "--jobs 1_0", "--mass nan", "--height ٢"])
def test_an_impossible_number_is_reported_in_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line names the option that is wrong, in one line, and reads nothing."""
    assert main(["identify", "nowhere.trc", "--sex", "male", *words.split(), "--output", "out"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert words.split()[0] in line


@pytest.mark.parametrize("words", ["--filter none", "--height 17", "--marker-set none", "--mass 7000", "--base tail"])
def test_a_name_or_size_that_no_body_has_is_refused_before_heavy_imports(words: str) -> None:
    """Facts stated about a person are checked, and named in the error, before signals, calibration or studies are
    imported."""
    heavy = "any('solver.' + name in sys.modules for name in ('signals', 'calibration', 'study', 'rigs'))"
    code = f"import sys; from solver.cli import main; code = main(sys.argv[1:]); sys.exit(9 if {heavy} else code)"
    command = ["identify", "nowhere.trc", "--sex", "male", *words.split(), "--output", "out"]
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, capture_output=True, text=True)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 2, line
    assert words.split()[1] in line


@pytest.mark.parametrize("words", ["--base tail", "--planted-foot tail", "--base tail --filter ayusawa"])
def test_a_robot_s_names_are_checked_before_its_recordings(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A link or patch that the rig does not have is named, though the recording is missing as well."""
    assert main(["identify", "nowhere.csv", "--rig", "hoap3", *words.split(), "--output", "out"]) == 2
    assert "'tail'" in capsys.readouterr().err


def test_a_planted_foot_is_refused_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    """An option without effect is refused."""
    assert main(["identify", "nowhere.trc", "--sex", "male", "--planted-foot", "right_foot", "--output", "out"]) == 2
    assert "--rig" in capsys.readouterr().err


LONG = "a" * 300
"""Longer than a file system has names."""


@pytest.mark.parametrize(
    "words",
    ["check {0}", "export {0} --output out.csv", "repair {0} --output out", "retarget {0} hrp2 --output out",
     "perform {0} {0} --output out", "compare {0} x.trc", "centroidal {0} --output out", "cohort {0} --output out",
     "identify {0} --height 1.7 --sex male --output out", "dance hoap3 --output {0}"],
)  # fmt: skip
def test_an_impossible_file_name_is_one_error(
    words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or folder of 300 characters does not exist: the last line says so, whatever would read or write it."""
    monkeypatch.chdir(tmp_path)
    assert main(words.format(LONG).split()) == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert "error: " in line
    assert LONG in line
    assert list(tmp_path.iterdir()) == []
