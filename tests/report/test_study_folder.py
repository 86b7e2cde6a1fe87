"""From a study to its folder and its page: six seconds of a simulated robot."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.calibration import Calibration
from solver.cli import main
from solver.demo.examples import simulated_robot
from solver.identification.comparison import mean_ratio
from solver.options.study import Settings
from solver.report import CONTENT, build_content, render
from solver.scene import study_folder as names
from solver.scene.determined import DATA, MOMENT_KIND, TABLES
from solver.scene.motion_record import MOTION
from solver.scene.result import RESULT
from solver.storage.manifest import MANIFEST_FILE, file_digest
from solver.study.provenance import PROVENANCE
from solver.tracking import Attachment, TrackedMotion
from solver.values.wrenches import WRENCH_AXES
from solver.version import __version__
from solver.workflow.pipeline import identify
from solver.workflow.study import Study

ROBOT = simulated_robot()


@pytest.fixture(scope="module")
def study() -> Study:
    """Identified without cross-validation."""
    return identify(ROBOT.recordings, rig=ROBOT.rig, settings=Settings(no_cross_validation=True))


@pytest.fixture(scope="module")
def folder(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's folder, with its truth beside it."""
    folder = tmp_path_factory.mktemp("study")
    written = study.write(folder, simulated=True, truth=ROBOT.truth)
    assert {*written, MANIFEST_FILE} == {path.name for path in folder.iterdir()}
    return folder


def with_markers(study: Study) -> Study:
    """The same study with tracked markers: one with an error of 3 mm, one visible half of the time with 4 mm."""
    (record,) = study.records
    assert record.motion is not None
    motion = record.motion
    errors = np.tile([0.003, 0.004], (len(motion), 1))
    errors[::2, 1] = np.nan
    tracked = TrackedMotion(motion.times, motion.q, motion.v, ("near", "far"), errors, np.ones(len(motion), bool))
    link = study.rig.links[0]
    attachments = (Attachment("near", link, np.zeros(3)), Attachment("far", link, np.ones(3)))
    calibration = Calibration(study.rig, attachments, "own set", 1.539, {}, {"near": 0.003, "far": 0.004})
    return replace(study, records=(replace(record, tracked=tracked),), calibration=calibration)


def test_a_report_needs_an_identification(study: Study, tmp_path: Path) -> None:
    """A study that only tracked has no report, which is an error; its folder has motions and no result."""
    only_tracked = replace(study, identified=None)
    with pytest.raises(InvalidValue, match="has no identification"):
        build_content(only_tracked)
    written = only_tracked.write(tmp_path)
    assert names.RIG_FILE in written
    assert f"dance{names.MOTION_END}" in written
    assert not {names.RESULT_FILE, names.RESULT_TABLE, names.REPORT_FILE, names.URDF_FILE} & set(written)


def test_the_result_in_the_folder_is_the_study_s(study: Study, folder: Path, tmp_path: Path) -> None:
    """Parameters, prior, trials, mass, what the data determine and the summary are read back; the total mass has the
    interval with which it was weighed; the motion's centre of mass is the identified body's."""
    found, result = study.identification, RESULT.read(folder / names.RESULT_FILE)
    np.testing.assert_array_equal(result.parameters.values, found.parameters.values)
    np.testing.assert_array_equal(result.prior.values, found.prior.values)
    assert result.trials == found.trials == ("dance",)
    assert result.details["mass"]["kg"] == study.mass.mass
    assert [one.name for one in result.determined] == [one.name for one in found.determined]
    assert result.determined[0].half_width == pytest.approx(1.96 * study.mass.std)
    error, *classes = result.summary[:4]
    assert error == "Error on trials not used: unknown, none was left out (prior unknown)"
    moments = [one.source for one in found.determined if one.kind == MOMENT_KIND]
    assert classes[0].endswith(f", {moments.count(DATA)} first moments")
    assert classes[-1] == f"Prior: single links, {moments.count(TABLES)} first moments"
    heights = MOTION.read(folder / f"dance{names.MOTION_END}").scene.com[:, 2]
    replace(study, identified=None).write(tmp_path)
    assert np.abs(heights - MOTION.read(tmp_path / f"dance{names.MOTION_END}").scene.com[:, 2]).max() > 1e-5


def test_trials_are_the_files_of_one_ending(folder: Path) -> None:
    """A trial's name is its file's name without the ending, for every kind of file."""
    assert names.trial_files(folder) == {"dance": folder / "dance.motion.npz"}
    assert set(names.trial_files(folder, names.RECORDING_END)) == {"dance"}
    assert names.trial_files(folder, ".unknown") == {}


def test_the_page_is_rendered_again_from_its_content(folder: Path) -> None:
    """report.npz contains the whole page."""
    page = (folder / names.REPORT_FILE).read_text(encoding="utf-8")
    assert render(CONTENT.read(folder / names.CONTENT_FILE)) == page


def test_errors_in_the_report_are_those_of_its_signals(study: Study) -> None:
    """The RMSE in the report is that of its signals, and the identified one is smaller than the unweighted prior's."""
    content = build_content(study, truth=ROBOT.truth)
    (signals,), (errors,) = content.signals, content.comparisons
    counted = signals.counted
    for name, rmse in (("identified", errors.identified.rmse), ("prior", errors.prior.rmse)):
        difference = (signals.measured - getattr(signals, name))[counted]
        np.testing.assert_allclose(np.sqrt(np.mean(difference**2, axis=0)), rmse, rtol=1e-9)
    assert (errors.identified.rmse < errors.unweighted_prior.rmse).all()
    assert errors.frames == counted.sum()


def test_marker_errors_are_reported_as_tracked(study: Study, tmp_path: Path) -> None:
    """The error and the visible fraction of each marker, and the subject, are on the page and in the table."""
    marked = with_markers(study)
    content = build_content(marked)
    (found,) = content.tracking
    np.testing.assert_allclose(found.rmse, [0.003, 0.004])
    np.testing.assert_allclose(found.visible_fraction, [1.0, 0.5], atol=1e-3)
    assert "height 1.539 m, 2 markers of the set own set" in dict(content.methods)["Subject"]
    written = marked.write(tmp_path)
    assert {names.CALIBRATION_FILE, f"dance{names.MARKERS_END}"} <= set(written)
    assert build_content(study).tracking == ()


def test_trials_that_were_not_fitted_are_named(study: Study) -> None:
    """A trial that was not used is named; without weighing or load there are no rows of them; a lowered cut-off is."""
    more = replace(study, records=(*study.records, replace(study.records[0], recording=replace(
        study.records[0].recording, name="spare"), trial=None)))  # fmt: skip
    assert dict(build_content(more).methods)["Also given"] == "spare: not fitted"
    titles = [title for title, _ in build_content(study).methods]
    assert {"Uncertainty", "Assumed", "Computing time"} <= {*titles}
    assert not {"Also given", "Subject", "Delay of the plates"} & {*titles}
    bare = build_content(replace(study, mass=None))
    assert (bare.weighing, bare.load) == (None, None)
    assert bare.mass == study.identification.parameters.total_mass
    trial: Any = study.records[0].trial
    lowered = replace(study.records[0], trial=replace(trial, preset=replace(trial.preset, cutoff=3.5)))
    assert "order 3, 3.5 Hz" in dict(build_content(replace(study, records=(lowered,))).methods)["Filter"]


def test_the_verb_compares_as_the_function(
    study: Study, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """compare writes the function's errors, one row per axis, prints their mean ratio, and marks fitted trials."""
    files = tmp_path / "files"
    files.mkdir()
    ROBOT.write(files)
    table = tmp_path / "table.csv"
    words = ["compare", str(folder), str(files), "--output", str(table), "--progress", "none"]
    assert main(words) == 0
    wanted, _ = study.compare(ROBOT.recordings)
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["axis"] for row in rows] == list(WRENCH_AXES)
    assert [row["unit"] for row in rows] == ["N"] * 3 + ["N m"] * 3
    assert {row["trial"] for row in rows} == {"dance"}
    assert {row["used"] for row in rows} == {"yes"}
    for column, values in (
        ("RMSE identified", wanted[0].identified.rmse),
        ("RMSE prior", wanted[0].prior.rmse),
        ("RMSE prior without weights", wanted[0].unweighted_prior.rmse),
        ("CC prior", wanted[0].prior.correlation),
    ):
        np.testing.assert_allclose([float(row[column]) for row in rows], values, rtol=1e-6)
    assert f"{mean_ratio(wanted).mean():.2f}" in capsys.readouterr().out


def test_a_script_writes_provenance(tmp_path: Path) -> None:
    """Files with their hashes when they were read, settings and origin of the rig, in the folder and in the report."""
    (tmp_path / "data").mkdir()
    ROBOT.write(tmp_path / "data")
    before = {path.name: file_digest(path) for path in (tmp_path / "data").iterdir()}
    read = identify(tmp_path / "data", rig=ROBOT.rig, settings=Settings(no_cross_validation=True, filter="ayusawa"))
    for path in (tmp_path / "data").iterdir():
        path.write_text("changed")
    read.write(tmp_path / "out", simulated=True)
    found = PROVENANCE.read(tmp_path / "out" / names.PROVENANCE_FILE)
    assert found.inputs == before
    assert len(before) == 2
    assert found.program.startswith(__version__)
    assert found.options["settings"]["filter"] == "ayusawa"  # type: ignore[index]
    assert found.options["subject"]["kind"] == ROBOT.rig.provenance["kind"]  # type: ignore[index]
    report = (tmp_path / "out" / names.REPORT_FILE).read_text(encoding="utf-8")
    assert all(digest[:8] in report for digest in before.values())


def test_recordings_by_value_have_no_files(study: Study, tmp_path: Path) -> None:
    """The provenance of a study on arrays states no file."""
    study.write(tmp_path, simulated=True)
    assert PROVENANCE.read(tmp_path / names.PROVENANCE_FILE).inputs == {}
