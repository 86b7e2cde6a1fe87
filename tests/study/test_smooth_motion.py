"""A study with smoothed motions, from files to tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.calibration import Calibration
from solver.calibration.calibration import CALIBRATION
from solver.cli import main
from solver.demo.examples import simulated_person
from solver.demo.laboratory import write_trc
from solver.dynamics import centroidal_momentum
from solver.options.study import Settings
from solver.signals.trial import Recording
from solver.study.subject_calibration import calibrate
from solver.study.tracking import track_all
from solver.tracking import targets_from_attachments, track_markers
from solver.tracking.smoothing.smooth import smooth
from solver.values.motion import Markers
from solver.workflow.pipeline import track


@pytest.fixture(scope="module")
def recording() -> Recording:
    whole = next(r for r in simulated_person().recordings if r.name == "dance")
    return Recording("dance", whole.markers.part(0, 150))


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return calibrate(simulated_person().recordings, sex="male", mass=71.0, static=("static",))


def test_a_study_smooths_what_it_tracked(calibration: Calibration, recording: Recording) -> None:
    """With ``smooth`` a trial's configurations are exactly those of the smoother on the tracked motion."""
    assert recording.markers is not None
    given = calibration.rig, calibration.attachments, recording.markers
    wanted = smooth(given[0], targets_from_attachments(*given)[0], track_markers(*given))
    found = track_all(calibration, [recording], smoothed=True)[0].tracked
    np.testing.assert_array_equal(found.q, wanted.q)
    np.testing.assert_array_equal(found.errors, wanted.errors)


def test_a_trial_that_cannot_be_smoothed_does_not_stop_the_study(
    calibration: Calibration, recording: Recording
) -> None:
    """A trial whose equations cannot be solved keeps the tracked motion and is named in a warning; the others are
    smoothed.
    """
    part = recording.markers.part(0, 40)
    positions = np.array(part.positions)
    positions[20, 0] = 1e60
    garbled = Recording("garbled", Markers(part.times, part.names, positions))
    study = track([garbled, recording], calibration, Settings(smooth=True))
    rough = track_all(calibration, [garbled])[0].tracked
    kept, smoothed = (record.tracked for record in study.records)
    np.testing.assert_array_equal(kept.q, rough.q)
    assert next(text for text in study.warnings if "not smoothed" in text).startswith("garbled: not smoothed")
    assert not any("not smoothed" in text for text in smoothed.warnings)


def test_a_smoothed_study_is_quieter(calibration: Calibration, recording: Recording) -> None:
    """The rate of momentum of a filtered motion is smoother if the motion was smoothed as a whole."""
    rough = [
        np.abs(np.diff(centroidal_momentum(study.rig, motion, study.rig.prior).rate, 2, axis=0)).mean()
        for whole in (False, True)
        for study in [track([recording], calibration, Settings(smooth=whole, filter="human_8hz"))]
        if (motion := study.records[0].motion) is not None
    ]
    assert rough[1] < 0.9 * rough[0]


def test_the_command_line_smooths(
    calibration: Calibration, recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``track --smooth`` writes another motion than ``track``, and prints its marker error."""
    CALIBRATION.write(tmp_path / "calibration.json", calibration)
    write_trc(tmp_path / "dance.trc", recording.markers.part(0, 60))
    written = []
    for extra in ([], ["--smooth"]):
        folder = tmp_path / f"out{len(extra)}"
        command = ["track", tmp_path / "dance.trc", "--calibration", tmp_path / "calibration.json", "--output", folder]
        assert main([*map(str, command), *extra]) == 0
        assert "dance" in capsys.readouterr().out
        written.append((folder / "dance.joints.mot").read_text())
    assert written[0] != written[1]
