"""Options that cannot work are refused by the values that hold them, before any work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.calibration.subject import SubjectData
from solver.cli import main
from solver.dance.authoring.complete import CompleteOptions
from solver.dance.authoring.repair import RepairOptions
from solver.dance.design.options import DanceOptions
from solver.errors import SolverError
from solver.identification.added_load import LoadOptions
from solver.identification.identify import IdentifyOptions
from solver.motion import Markers
from solver.signals import FilterPreset
from solver.study.pipeline import require_rates
from solver.study.values import Settings
from solver.trial import Recording

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Settings(bootstrap=-5),
        lambda: Settings(seed=-1),
        lambda: Settings(jobs=0),
        lambda: Settings(method="best"),
        lambda: Settings(preset="none"),
        lambda: IdentifyOptions(bootstrap=-1),
        lambda: LoadOptions(margin=NAN),
        lambda: CompleteOptions(pool=0),
        lambda: CompleteOptions(seed=-1),
        lambda: RepairOptions(patience=NAN),
        lambda: RepairOptions(rate=-1.0),
        lambda: DanceOptions(seed=-1),
        lambda: DanceOptions(hold=INF),
        lambda: DanceOptions(step=NAN),
        lambda: DanceOptions(speed=NAN),
        lambda: SubjectData(NAN, "male"),
        lambda: SubjectData(70.0, "male", 17.5),
        lambda: FilterPreset("mine", 3, INF),
    ],
)
def test_a_value_refuses_what_cannot_work(make: Callable[[], object]) -> None:
    """A negative count, a number that is none, a name that does not exist are errors where they are said."""
    with pytest.raises(SolverError):
        make()


def test_a_cut_off_above_half_the_rate_is_told_before_tracking() -> None:
    """A recording of 10 samples a second cannot be filtered at 8 Hz; the error names it."""
    times = np.arange(0.0, 2.0, 0.1)
    slow = Recording("slow", Markers(times, ("a",), np.zeros((len(times), 1, 3))))
    with pytest.raises(SolverError, match="slow: filter 'human_8hz'"):
        require_rates([slow], Settings())


@pytest.mark.parametrize("words", ["--bootstrap -5", "--seed -1", "--jobs 0", "--mass nan", "--seed 1_0", "--height ٢"])
def test_a_number_that_cannot_work_is_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line names the option that is wrong, in one line, and reads nothing."""
    assert main(["identify", "nowhere.trc", "--sex", "male", *words.split(), "--output", "out"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert words.split()[0] in line
