"""What several tests of plates look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.rig import Rig
from solver.study.following import track_all
from solver.study.recordings import load
from solver.study.subject import calibrate_subject
from solver.study.values import TrialRecord


@pytest.fixture(scope="session")
def runner(shared_data: Path) -> tuple[Rig, tuple[TrialRecord, ...]]:
    """Real: subject_e's two runs, tracked; one plate is stepped on after the other."""
    recordings = load([shared_data / "subject_e"])
    person = calibrate_subject(recordings, sex="male", mass=72.8)
    return person.rig, track_all(person, recordings, jobs=1)
