"""Laws of a cohort of simulated volunteers."""

from __future__ import annotations

import csv
import importlib.util
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue, MissingDependency, UnknownName
from solver.base.parallel import use_backend
from solver.cohorts.run import cohort, options_of_subject
from solver.cohorts.subjects import SubjectInfo, find_row, find_subject_folders, read_subject_info, read_subject_table
from solver.demo.person import record_person, simulate_person
from solver.formats.csv_tables import write_wrenches_csv
from solver.options.study import CohortOptions, Settings
from solver.report.cohort_content import COHORT, Cohort
from solver.storage.output_folder import write_folder
from solver.values.person import SHOULDERS, TRUNKS
from solver.values.wrenches import Wrenches

ROOT = Path(__file__).resolve().parents[2]
QUICK = Settings(no_cross_validation=True, jobs=1)
TABLE = "subject,sex,height [cm],mass [kg]\nanna,m,176,71\nben,male,n/a,71\n"
PATIENCE = 120.0
"""[s] Longest time to identify a subject on a busy machine."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anna's recordings in a cohort's folder: one second of standing, two of dancing."""
    study = tmp_path_factory.mktemp("recorded")
    person = simulate_person(1, 3.0)
    motions = {"static": person.motions["static"].part(0, 200), "dance": person.motions["dance"].part(200, 600)}
    (study / "anna").mkdir()
    record_person(replace(person, motions=motions), study / "anna", 1)
    return study


@pytest.fixture(scope="module")
def finished(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Cohort]:
    """A cohort of Anna and of Ben, whose marker file is truncated: its folder and its result."""
    study = two(recorded, tmp_path_factory.mktemp("finished") / "study")
    lines = (study / "ben" / "dance.trc").read_text().splitlines(keepends=True)
    (study / "ben" / "dance.trc").write_text("".join(lines[:20]) + "nonsense\n")
    return study, cohort(study, study / "results", settings=QUICK)


def two(recorded: Path, study: Path) -> Path:
    """A cohort of Anna and Ben with the same recordings."""
    for name in ("anna", "ben"):
        shutil.copytree(recorded / "anna", study / name)
    (study / "subjects.csv").write_text(TABLE)
    return study


@pytest.fixture
def study(finished: tuple[Path, Cohort], tmp_path: Path) -> Path:
    """A copy of the finished study, for one test."""
    return Path(shutil.copytree(finished[0], tmp_path / "study"))


def test_one_failure_does_not_stop_the_others(finished: tuple[Path, Cohort]) -> None:
    """An identified subject gets its own report; a failure is on the cohort's page with its error message."""
    study, found = finished
    assert [member.name for member in found.members] == ["anna"]
    assert [item.name for item in found.failed] == ["ben"]
    assert "dance.trc, line 21" in found.failed[0].reason
    page = (study / "results" / "cohort.html").read_text(encoding="utf-8")
    assert "dance.trc, line 21" in page
    assert 'href="anna/report.html"' in page
    assert (study / "results" / "anna" / "report.html").exists()
    assert not (study / "results" / "ben").exists()
    rows = list(csv.DictReader((study / "results" / "cohort.csv").open()))
    assert [row["subject"] for row in rows] == ["anna", "ben"]
    assert float(rows[0]["mass [kg]"]) == pytest.approx(71.0, abs=0.5)
    assert "dance.trc" in rows[1]["why not"]


def test_figures_come_back_from_the_file(finished: tuple[Path, Cohort]) -> None:
    """cohort.json contains the page's figures; masses sum to the body mass."""
    study, found = finished
    back = COHORT.read(study / "results" / "cohort.json")
    assert repr(back) == repr(found)
    assert back.title == "study"
    assert back.member("anna").trials == ("dance", "static")
    np.testing.assert_array_equal(back.member("anna").identified, found.member("anna").identified)
    assert found.member("anna").identified.sum() == pytest.approx(found.member("anna").mass)


def test_the_static_trial_is_found(finished: tuple[Path, Cohort]) -> None:
    """Without a named static trial, the one that stands still is found despite noise, and the report says so."""
    page = (finished[0] / "results" / "anna" / "report.html").read_text(encoding="utf-8")
    assert "calibration started with static" in page
    assert "Files read" in page
    assert "dance.trc" in page


def test_unchanged_results_are_reused(study: Path) -> None:
    """A second run identifies no subject again; another number of processes is no change. Partial folders that a killed
    run left are removed."""
    shutil.rmtree(study / "ben")
    left = study / "results" / "anna" / ".exciting_dance.01234567.part"
    left.mkdir()
    (left / "half").write_text("written")
    before = (study / "results" / "anna" / "report.html").stat().st_mtime_ns
    found = cohort(study, study / "results", settings=replace(QUICK, jobs=2))
    assert not found.member("anna").is_new
    assert not left.exists()
    assert (study / "results" / "anna" / "report.html").stat().st_mtime_ns == before


@pytest.mark.parametrize("change", ["option", "file", "person", "result"])
def test_changed_subjects_are_identified_again(study: Path, change: str) -> None:
    """Another option, recording or mass, or an edited result: the old result is not reused. Each of these changes stops
    the identification at once, with an error that shows that it had started.
    """
    if change == "file":
        (study / "anna" / "dance.trc").write_text("nonsense\n")
    elif change == "person":
        (study / "subjects.csv").write_text(TABLE.replace("anna,m,176,71", "anna,m,176,900"))
    elif change == "result":
        (study / "results" / "anna" / "result.csv").write_text("mine")
    settings = replace(QUICK, base="tail") if change == "option" else QUICK
    found = cohort(study, study / "results", settings=settings)
    why = next(item.reason for item in found.failed if item.name == "anna")
    assert {"option": "'tail'", "file": "PathFileType", "person": "line 2, column 'mass'", "result": "result.csv"}[
        change
    ] in why
    assert "still contains results of an earlier run" in why


def test_every_body_option_is_in_the_provenance() -> None:
    """The options in a result's provenance differ for every trunk and every kind of shoulders."""
    known = SubjectInfo("male", 1.76, 71.0)
    provenances = [
        options_of_subject(CohortOptions(trunk=trunk, shoulders=kind), known) for trunk in TRUNKS for kind in SHOULDERS
    ]
    assert all(one != other for k, one in enumerate(provenances) for other in provenances[:k])


def test_foreign_files_stay(study: Path) -> None:
    """Files that this program did not write are kept, also in the subjects' folders; one that a result would overwrite
    is refused before any work."""
    results = study / "results"
    notes = [results / "notes.txt", results / "anna" / "notes.txt", results / "sessions" / "plan.txt"]
    notes[2].parent.mkdir()
    for note in notes:
        note.write_text("mine")
    assert cohort(study, results, settings=QUICK).member("anna").name == "anna"
    assert [note.read_text() for note in notes] == ["mine"] * 3
    (study / "other").mkdir()
    (study / "other" / "cohort.html").write_text("mine")
    with pytest.raises(InputError, match=r"cohort\.html"):
        cohort(study, study / "other", settings=QUICK)


@pytest.mark.skipif(os.name == "nt", reason="the signals are of POSIX")
def test_a_stopped_run_is_resumed(recorded: Path, tmp_path: Path) -> None:
    """A run that was stopped says which subject is complete. The next one reuses it and works on the second only, whose
    recording was damaged meanwhile; no partial folder is left."""
    study = two(recorded, tmp_path / "study")
    results = study / "results"
    command = [sys.executable, "-m", "solver", "cohort", str(study), "--output", str(results)]
    command += ["--no-cross-validation", "--jobs", "1", "--progress", "none"]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE
    while not (results / "anna" / "report.html").exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    last = running.communicate()[1]
    assert last.startswith(f"stopped; complete subjects in {results}, which the next run keeps: anna")
    assert [place.name for place in results.iterdir()] == ["anna"]
    (study / "ben" / "dance.trc").write_text("nonsense\n")
    found = cohort(study, results, settings=QUICK)
    assert [(member.name, member.is_new) for member in found.members] == [("anna", False)]
    assert [item.name for item in found.failed] == ["ben"]


@pytest.mark.skipif(os.name == "nt", reason="the signals are of POSIX")
def test_a_killed_worker_does_not_stop_the_cohort(study: Path, recorded: Path) -> None:
    """If a worker process is killed, as for want of memory, finished subjects are kept, and the page gives the others
    the reason."""
    shutil.rmtree(study / "ben")
    for name in ("cleo", "dora"):
        shutil.copytree(recorded / "anna", study / name)
    (study / "subjects.csv").write_text(TABLE.replace("ben,", "cleo,") + "dora,f,170,60\n")
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.05):
            for worker in multiprocessing.active_children():
                if worker.pid is not None:
                    os.kill(worker.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = cohort(study, study / "results", settings=replace(QUICK, jobs=2))
    finally:
        done.set()
        killer.join()
    assert [(member.name, member.is_new) for member in found.members] == [("anna", False)]
    assert [item.name for item in found.failed] == ["cleo", "dora"]
    assert "memory was used up" in found.failed[0].reason
    assert "memory was used up" in (study / "results" / "cohort.html").read_text(encoding="utf-8")
    assert {place.name for place in (study / "results").iterdir() if place.is_dir()} == {"anna"}


def test_dask_does_the_same_work(finished: tuple[Path, Cohort], recorded: Path, tmp_path: Path) -> None:
    """A Dask cluster on this machine gives the same result as this process."""
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    shutil.copytree(recorded / "anna", tmp_path / "study" / "anna")
    (tmp_path / "study" / "subjects.csv").write_text(TABLE.replace("ben,male,n/a,71\n", ""))
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        found = cohort(tmp_path / "study", tmp_path / "results", settings=QUICK, backend="dask")
    assert found.failed == ()
    here = finished[1].member("anna")
    np.testing.assert_allclose(found.member("anna").identified, here.identified, rtol=1e-6)


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_a_missing_scheduler_is_an_error() -> None:
    """Without Ray's package the error says what to install; an unknown backend lists the choices."""
    with pytest.raises(MissingDependency, match="pip install ray"), use_backend("ray"):
        pass
    with pytest.raises(UnknownName, match="loky, dask, ray"), use_backend("slurm"):
        pass


def test_an_unknown_body_is_refused(tmp_path: Path) -> None:
    """Unknown options for trunk and shoulders are refused before any work, with the choices."""
    with pytest.raises(InvalidValue, match="one, three"):
        cohort(tmp_path, tmp_path / "results", trunk="four")
    with pytest.raises(InvalidValue, match="fixed, girdle"):
        cohort(tmp_path, tmp_path / "results", shoulders="loose")


def test_an_empty_study_is_refused(tmp_path: Path) -> None:
    """A folder without subjects is one error; its output is not created."""
    with pytest.raises(InputError, match="contains no subject's folder"):
        cohort(tmp_path, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_subjects_of_one_name_are_refused(tmp_path: Path) -> None:
    """Two rows with one name, or two folders that are the same on some file systems, are an error that names both."""
    (tmp_path / "subjects.csv").write_text("subject,sex\nanna,f\n\nanna,m\n")
    with pytest.raises(InputError, match=r"line 4, column 'subject'.*line 2"):
        read_subject_table(tmp_path)
    (tmp_path / "anna").mkdir()
    if (tmp_path / "ANNA").exists():
        pytest.skip("this file system does not distinguish them")
    (tmp_path / "ANNA").mkdir()
    with pytest.raises(InputError, match="'ANNA' and 'anna'"):
        find_subject_folders(tmp_path, tmp_path / "results")


def test_a_sex_may_be_unknown(tmp_path: Path) -> None:
    """An unknown sex may be given."""
    (tmp_path / "subjects.csv").write_text("subject,sex\nanna,unknown\nben,f\n")
    (tmp_path / "anna").mkdir()
    assert read_subject_info(tmp_path / "anna", find_row("anna", read_subject_table(tmp_path))).sex == "unknown"


def test_bids_participants(tmp_path: Path) -> None:
    """Only sub-... folders are subjects, and participants.json gives units; a missing row or folder is an error of that
    subject alone."""
    for name in ("sub-01", "sub-02", "sub-03", "code"):
        (tmp_path / name).mkdir()
    (tmp_path / "participants.tsv").write_text(
        "participant_id\tage\tsex\theight\tweight\nsub-01\t30\tF\t1680\t150\nsub-02\t31\tn/a\tn/a\tn/a\nsub-09\t40\tM\t1\t1\n"
    )
    (tmp_path / "participants.json").write_text('{"height": {"Units": "mm"}, "weight": {"Units": "lb"}}')
    folders, rows = find_subject_folders(tmp_path, tmp_path / "results"), read_subject_table(tmp_path)
    assert list(folders) == ["sub-01", "sub-02", "sub-03"]
    known = read_subject_info(folders["sub-01"], find_row("sub-01", rows))
    assert (known.sex, known.height, known.mass) == ("female", pytest.approx(1.68), pytest.approx(68.04, abs=0.01))
    found = cohort(tmp_path, tmp_path / "results")
    why = {item.name: item.reason for item in found.failed}
    assert "line 3, column 'sex'" in why["sub-02"]
    assert "participants.tsv: has no row for 'sub-03'" in why["sub-03"]
    assert "line 4: there is no folder 'sub-09'" in why["sub-09"]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("anna,woman,1.7,60", "column 'sex'"),
        ("anna,f,1.7 m,60", "column 'height'"),
        ("anna,f,70,60", "column 'height'"),
        ("anna,f,1.7,60000", "column 'mass'"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path: Path, row: str, place: str) -> None:
    """An invalid or implausible cell is an error with file, line, column and remedy."""
    (tmp_path / "subjects.csv").write_text(f"subject,sex,height,mass\n{row}\n")
    with pytest.raises(InputError) as error:
        read_subject_info(tmp_path / "anna", read_subject_table(tmp_path)["anna"])
    assert f"subjects.csv, line 2, {place}" in str(error.value)
    assert error.value.remedy


def test_a_subjects_marker_set_lies_in_the_study(tmp_path: Path) -> None:
    """A built-in name, or a file beside the table; a path elsewhere is refused."""
    for source, found in (("plug_in_gait", "plug_in_gait"), ("mine.json", str(tmp_path / "mine.json"))):
        (tmp_path / "subjects.csv").write_text(f"subject,sex,marker_set\nanna,F,{source}\n")
        assert read_subject_info(tmp_path / "anna", read_subject_table(tmp_path)["anna"]).marker_set == found
    for source in ("../mine.json", str(tmp_path / "mine.json")):
        (tmp_path / "subjects.csv").write_text(f"subject,sex,marker_set\nanna,F,{source}\n")
        with pytest.raises(InputError, match=r"subjects\.csv: the marker set .* is not the path of a file below"):
            read_subject_info(tmp_path / "anna", read_subject_table(tmp_path)["anna"])


def test_results_are_no_subject(tmp_path: Path) -> None:
    """A folder of an earlier run's results among the subjects is left out; a subject with results inside is not."""
    (tmp_path / "anna").mkdir()
    write_wrenches_csv(tmp_path / "anna" / "walk.csv", Wrenches(np.arange(2.0), ("plate",), np.ones((2, 1, 6))))
    for output in ("old", "anna/results"):
        with write_folder(tmp_path / output) as building:
            (building / "result.csv").write_text("link\n")
    assert list(find_subject_folders(tmp_path, tmp_path / "new")) == ["anna"]
