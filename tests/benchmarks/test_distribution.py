"""The steps of a release that are tried with pip and twine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import distribution
from benchmarks.distribution import Step, try_distribution


def test_a_step_that_fails_says_why_and_the_others_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a source tree nothing can be built: every step fails with a sentence, and none stops the rest."""
    monkeypatch.setattr(distribution, "ROOT", tmp_path / "nothing")
    monkeypatch.setattr(distribution, "PYTHONS", ())
    (tmp_path / "nothing").mkdir()
    steps = list(try_distribution(tmp_path))
    assert [step.works for step in steps] == [False, False, False]
    assert steps[1] == Step(steps[1].what, False, "0 files *.tar.gz, since an earlier step failed")
    assert all(step.detail for step in steps)


def test_a_command_runs_without_packages_of_this_environment(tmp_path: Path) -> None:
    """A new environment has pip and nothing else, whatever PYTHONPATH says."""
    python = distribution._environment(sys.executable, tmp_path / "empty")
    distribution._run(python, "-c", "import pip", at=tmp_path)
    with pytest.raises(distribution.StepError, match="No module named 'numpy'"):
        distribution._run(python, "-c", "import numpy", at=tmp_path)
