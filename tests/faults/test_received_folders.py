"""Results folders that somebody else made: nothing outside them is read into results, written or removed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue, SolverError
from solver.capture.replay import build_stream, replay, stream_datagrams
from solver.capture.udp import UdpSender
from solver.cli import main
from solver.cohorts.run import cohort
from solver.demo.person import record_person, simulate_person
from solver.fixed_base import FixedBaseRobot
from solver.rigs import hoap3
from solver.scene.motion_record import MOTION, motion_record
from solver.signals.trial import Recording
from solver.storage.lock import acquire
from solver.storage.manifest import MANIFEST_FILE, StoredPath, check_complete, file_digest, path_within
from solver.storage.output_folder import LOCK_FILE, reserve_folder, write_folder
from solver.study.joint_motion import joints_of
from solver.tracking.retargeting.performer import Performer
from tests.faults.samples import samples
from tests.fixed_base.arm import arm
from tests.fixed_base.test_identify import DRIVES, recorded, written
from tests.tracking.test_retargeting import person, squat

RESULTS = ("calibration", "motion", "drawn recording", "summary", "result", "report", "study", "trial")
READING = (
    ("compare", "{}", "missing.trc"),
    ("centroidal", "{}", "--output", "{out}/momentum"),
    ("moments", "{}", "--output", "{out}/moments"),
    ("check", "{}", "--output", "{out}/checked"),
    ("export", "{}", "--output", "{out}/walk.csv"),
    ("perform", "{}", "{}", "--output", "{out}/performed"),
)
"""Command lines that read a results folder."""
PEOPLE = ("missing.trc", "--sex", "male")
WRITING: tuple[tuple[str, ...], ...] = (
    *((verb, *PEOPLE) for verb in ("identify", "track", "calibrate")),
    ("find-load", "--before", "missing.trc", "--after", *PEOPLE),
    *((verb, "missing.json") for verb in ("repair", "complete", "slow", "check")),
    ("perform", "missing.json", "missing.motion.npz"),
    ("retarget", "missing.bvh", "hoap3"),
    ("centroidal", "missing"),
    ("moments", "missing"),
    ("dance", "missing.urdf"),
    ("capture", "--rig", "missing.urdf"),
    ("identify-fixed-base", "missing.urdf", "--angles", "missing.csv", "--torques", "missing.csv"),
)
"""Command lines that write a folder, and end early because their input is missing."""
WHOLE = {
    "identify-fixed-base": (
        *("{}/arm.urdf", "--angles", "{}/run_angles.csv"),
        *("--torques", "{}/run_torques.csv"),
    ),
    "dance": ("hoap3", "--postures", "both=1", "--effort", "0.05", "--workers", "1"),
    "cohort": ("{}/study", "--no-cross-validation", "--jobs", "1"),
    "capture": ("--rig", "hoap3", "--port", "{port}", "--seconds", "0.5"),
    "samples": (),
}
"""Words of whole runs on small inputs."""
JOURNAL = {"kind": "exciting dance journal", "version": 1}


def tree(folder: Path) -> dict[str, bytes]:
    """All that lies below a folder, links as such."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b"/"
    return found


def declare(folder: Path, kind: str = "files", **files: str) -> None:
    """Add entries to a folder's manifest."""
    place = folder / MANIFEST_FILE
    manifest = json.loads(place.read_text())
    manifest[kind] |= files
    place.write_text(json.dumps(manifest))


def link_to_home(name: str) -> Callable[[Path, Path], object]:
    """Replaces a file by a link to one of that name elsewhere, or to the folder there."""

    def change(folder: Path, home: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(home / name if (home / name).exists() else home)

    return change


def listed(name: str, kind: str = "files") -> Callable[[Path, Path], object]:
    """Lists a path in the manifest with the digest of the user's file."""
    return lambda folder, home: declare(
        folder, kind, **{name.format(home=home, folder=folder): file_digest(home / "thesis.txt")}
    )


def journal(place: str, stale: str, new: str = "") -> Callable[[Path, Path], object]:
    """Puts a journal of earlier versions into a folder, which lists files to remove and has files to move."""

    def change(folder: Path, home: Path) -> None:
        work = folder / place / ".exciting_dance.part"
        (work / "new").mkdir(parents=True)
        (work / "journal.json").write_text(json.dumps({**JOURNAL, "ours": {}, "stale": [stale.format(home=home)]}))
        if new:
            (folder / "sub").symlink_to(home)
            (work / new).parent.mkdir(parents=True)
            (work / new).write_text("evil")

    return change


def through_a_link(name: str) -> Callable[[Path, Path], object]:
    """Lists a file of a linked subfolder as one of the run before."""

    def change(folder: Path, home: Path) -> None:
        (folder / "sub").symlink_to(home)
        declare(folder, **{f"sub/{name}": file_digest(home / name)})

    return change


def cut(folder: Path, home: Path) -> None:
    """A half-written manifest."""
    (folder / MANIFEST_FILE).write_text((folder / MANIFEST_FILE).read_text()[:-40])


ATTACKS: dict[str, tuple[Callable[[Path, Path], object], str, str]] = {
    "absolute path": (listed("{home}/thesis.txt"), "manifest", "not the path of a file below its folder"),
    "path with ..": (listed("../home/thesis.txt"), "manifest", "not the path of a file below its folder"),
    "path with .. amid": (listed("a/../../home/thesis.txt"), "manifest", "not the path of a file below"),
    "former absolute path": (listed("{home}/thesis.txt", "former"), "manifest", "not the path of a file below"),
    "backslashes": (listed("..\\home\\thesis.txt"), "manifest", "not the path of a file below"),
    "drive": (listed("C:/thesis.txt"), "manifest", "not the path of a file below"),
    "itself": (listed(MANIFEST_FILE), "manifest", "lists itself"),
    "name of 300 bytes": (listed("a" * 300), "manifest", "not the path of a file below"),
    "newer version": (
        lambda folder, home: (folder / MANIFEST_FILE).write_text(
            (folder / MANIFEST_FILE).read_text().replace('"version": 1', '"version": 2')
        ),
        "manifest",
        "Update Exciting Dance",
    ),
    "half-written manifest": (cut, "manifest", "is not JSON"),
    "manifest is a link": (link_to_home(MANIFEST_FILE), "manifest", "is a link"),
    "manifest is a folder": (
        lambda folder, home: (folder / MANIFEST_FILE).rename(folder / "x").with_name(MANIFEST_FILE).mkdir(),
        "manifest",
        "is a folder",
    ),
    "subfolder's manifest behind a link": (through_a_link(MANIFEST_FILE), "written", "is a link"),
    "subfolder is a link": (through_a_link("thesis.txt"), "", ""),
    "journal": (journal(".", "{home}/thesis.txt"), "", ""),
    "journal with ..": (journal(".", "../home/thesis.txt"), "", ""),
    "journal and link": (journal(".", "x", "new/sub/evil.desktop"), "", ""),
    "journal in a parent": (journal("..", "{home}/thesis.txt"), "", ""),
    "former work folder is a link": (link_to_home(".exciting_dance.part"), "", ""),
    "work folder is a link": (link_to_home(".exciting_dance.01234567.part"), "", ""),
    "lock is a link": (
        lambda folder, home: (folder / LOCK_FILE).symlink_to(home / "thesis.txt"),
        "written",
        "is a link",
    ),
    "lock is a second name": (
        lambda folder, home: os.link(home / "thesis.txt", folder / LOCK_FILE),
        "written",
        "is a link",
    ),
    "results are links": (
        lambda folder, home: [link_to_home(samples()[name].file)(folder, home) for name in RESULTS],
        "read",
        "is a link",
    ),
    "a file is missing": (
        lambda folder, home: [(folder / samples()[name].file).rename(folder / f"{name}.away") for name in RESULTS],
        "read",
        "is missing: the results in its folder are unfinished",
    ),
    "a file was changed": (
        lambda folder, home: [(folder / samples()[name].file).write_bytes(b"x") for name in RESULTS],
        "read",
        "differs from what was written: the results in its folder are unfinished",
    ),
    "name of 255 bytes": (lambda folder, home: (folder / ("n" * 255)).write_text("mine"), "", ""),
}
"""How a folder differs from one that this program wrote, who refuses it, and with which words."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's files: a text, and results whose report has a secret title."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    for name in RESULTS:
        (folder / samples()[name].file).write_bytes(samples()[name].content)
    (folder / MANIFEST_FILE).write_text(json.dumps({"kind": "exciting dance manifest", "version": 1, "files": {
        "thesis.txt": file_digest(folder / "thesis.txt")}, "former": {}}))  # fmt: skip
    return folder


@pytest.fixture
def received(tmp_path: Path) -> Path:
    """A results folder, in a folder of its own."""
    folder = tmp_path / "inbox" / "results"
    with write_folder(folder) as new:
        for name in RESULTS:
            (new / samples()[name].file).write_bytes(samples()[name].content)
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Exit code and last error of a command line."""
    code = main([*words, "--progress", "none"])
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return code, said


def overwrite(folder: Path) -> str:
    """Replace a folder's results; why that was refused, or nothing."""
    try:
        with write_folder(folder) as new:
            (new / "other").write_text("other")
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_received_folder_stays_within_itself(
    name: str, received: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No verb reads, writes or removes anything outside; reading changes nothing; refusals are one sentence each."""
    change, refused_by, said = ATTACKS[name]
    change(received, home)
    before, outside, inbox = tree(received), tree(home), tree(received.parent)
    out = tmp_path / "out"
    out.mkdir()
    for words in READING:
        code, error = run(capsys, *(word.format(received, out=out) for word in words))
        if refused_by in ("manifest", "read"):
            assert code == 2, words
            assert said in error, words
            assert len(error.strip().splitlines()) == 1, words
        assert tree(received) == before, words
    for verb in WRITING:
        code, error = run(capsys, *verb, "--output", str(received))
        assert code == 2, verb
        if refused_by in ("manifest", "written"):
            assert said in error, verb
        left = tree(received)
        assert {key: text for key, text in before.items() if not key.endswith(".part")} == {
            key: text for key, text in left.items() if not key.endswith(".part")
        }, verb
    refusal = overwrite(received)
    assert (said in refusal) if refused_by in ("manifest", "written") else not refusal, refusal
    assert refusal or check_complete(received) == {"other"}
    assert tree(home) == outside
    assert {key for key in tree(received.parent) if not key.startswith("results/")} <= set(inbox)
    assert not list(out.iterdir()) or refused_by not in ("manifest", "read")


def inputs(verb: str, folder: Path) -> Path:
    """Inputs of a verb of `WHOLE`: an arm and its recording, or a study of one person."""
    if verb == "identify-fixed-base":
        bench = FixedBaseRobot(arm(folder))
        written(folder, recorded(bench, DRIVES), bench)
    if verb == "cohort":
        person = simulate_person(1, 3.0)
        motions = {"static": person.motions["static"].part(0, 200), "dance": person.motions["dance"].part(200, 600)}
        (folder / "study" / "anna").mkdir(parents=True)
        record_person(replace(person, motions=motions), folder / "study" / "anna", 1)
        (folder / "study" / "subjects.csv").write_text("subject,sex\nanna,m\n")
    return folder


@contextmanager
def streaming() -> Iterator[int]:
    """The port to which a robot's joints are sent again and again."""
    rig, times = hoap3(), np.arange(100) / 100.0
    stream = build_stream(Recording("dance", joints=joints_of(rig, times, np.tile(rig.neutral, (len(times), 1)))))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sender, ended = UdpSender(port=port), threading.Event()

    def send() -> None:
        while not ended.is_set():
            replay(stream_datagrams(stream), sender.send)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield port
    finally:
        ended.set()
        thread.join()
        sender.close()


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=() if verb == "identify-fixed-base" else pytest.mark.slow) for verb in WHOLE]
)
def test_a_whole_run_stays_within_a_received_folder(
    verb: str, received: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder with journals and links in it receives complete results; what was there and is not ours stays."""
    for name in ("journal and link", "journal in a parent", "work folder is a link", "name of 255 bytes"):
        ATTACKS[name][0](received, home)
    place, manifest = inputs(verb, tmp_path), (received / MANIFEST_FILE).read_bytes()
    before, outside = tree(received), tree(home)
    with streaming() if verb == "capture" else nullcontext(0) as port:
        words = [verb, *(word.format(place, port=port) for word in WHOLE[verb])]
        words += [*([] if verb == "samples" else ["--output"]), str(received)]
        cut(received, home)
        code, said = run(capsys, *words)
        assert (code, said.count("\n"), "is not JSON" in said) == (2, 1, True), said
        (received / MANIFEST_FILE).write_bytes(manifest)
        code, said = run(capsys, *words)
    assert code == 0, said
    assert tree(home) == outside
    assert check_complete(received)
    kept = ("sub", "n" * 255, ".exciting_dance.part/journal.json")
    after = tree(received)
    assert [after[name] for name in kept] == [before[name] for name in kept]


@pytest.mark.parametrize("name", ["results", "a/b.c", "größer/x", "n" * 255, "10:30/x"])
def test_paths_below_a_folder_are_accepted(name: str, tmp_path: Path) -> None:
    """A stored path is one below its folder, whatever its names look like."""
    assert path_within(tmp_path, name) == tmp_path / StoredPath(name)


@pytest.mark.parametrize(
    "name", ["", "/", "/x", "x/", "a//b", ".", "..", "a/..", "./a", "a\\b", "C:", "c:/x", "a\0b", "a\nb", "n" * 256]
)
def test_other_paths_are_refused(name: str) -> None:
    """A stored path leads nowhere else, on any system, and names a file that every system can have."""
    with pytest.raises(InvalidValue, match="not the path of a file below its folder"):
        StoredPath(name)


def test_the_name_of_a_motion_leads_nowhere_else(home: Path, tmp_path: Path) -> None:
    """A motion that somebody named by a path is retargeted into files beside the others, with a plain name."""
    before, name, moved = tree(home), "../../home/thesis", squat(person(), seconds=1.0)
    MOTION.write(tmp_path / "a.motion.npz", motion_record(name, person(), moved))
    out = tmp_path / "inbox" / "out"
    assert main(["retarget", str(tmp_path / "a.motion.npz"), "hoap3", "--no-repair", "--output", str(out)]) == 0
    assert {".._.._home_thesis.joints.mot", ".._.._home_thesis.bodies.npz"} < {path.name for path in out.iterdir()}
    assert tree(home) == before
    with pytest.raises(InvalidValue, match="is not the name of a file"):
        Performer.from_motion(person(), moved, name)


def test_results_within_results_are_not_written_through_a_link(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A subject's results, or the first look of the demonstration, that are a link are refused by name."""
    before, out = tree(home), tmp_path / "out"
    (tmp_path / "study" / "anna").mkdir(parents=True)
    (tmp_path / "study" / "anna" / "walk.trc").write_bytes(samples()["trc"].content)
    (tmp_path / "study" / "subjects.csv").write_text("subject,sex\nanna,m\n../../home,m\n")
    out.mkdir()
    for name in ("anna", "first_look"):
        (out / name).symlink_to(home)
    code, said = run(capsys, "demo", "--output", str(out))
    assert code == 2
    assert "out/first_look: is a link" in said
    found = {failed.name: failed.reason for failed in cohort(tmp_path / "study", out).failed}
    assert "out/anna: is a link" in found["anna"]
    assert "there is no folder '../../home'" in found["../../home"]
    assert "earlier run" not in found["../../home"]
    assert tree(home) == before


@contextmanager
def failing(module: ModuleType, name: str, number: int) -> Iterator[None]:
    """The operating system refuses one of its functions."""

    def refuse(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, refuse)
        yield


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Another program writes into the folder."""
    lock = acquire(folder / LOCK_FILE, "process 1 on other since 12:00")
    assert lock is not None
    try:
        yield
    finally:
        lock.release()


REFUSALS: dict[str, tuple[Callable[[Path], AbstractContextManager[object]], str]] = {
    "no permission": (lambda out: failing(os, "open", errno.EACCES), "cannot be written: Permission denied"),
    "read-only disk": (lambda out: failing(os, "open", errno.EROFS), "cannot be written: Read-only file system"),
    "no disk": (lambda out: failing(shutil, "disk_usage", errno.EIO), "cannot be written: Input/output error"),
    "full disk at the end": (lambda out: failing(os, "fsync", errno.ENOSPC), "cannot be written: No space left on"),
    "no permission at the end": (lambda out: failing(os, "replace", errno.EACCES), "cannot be written: Permission"),
    "another program": (locked, "is being written by process 1 on other since 12:00"),
    "name of 300 bytes": (lambda out: reserve_folder(out, ["n" * 300]), "is not the path of a file below its folder"),
}
"""What keeps a program from writing into a folder, and what it says then."""


@pytest.mark.parametrize("name", REFUSALS)
def test_a_folder_that_cannot_be_written_keeps_its_results(name: str, received: Path) -> None:
    """One sentence says why, at the start or at the end; results and other files are as before."""
    hindered, said = REFUSALS[name]
    before = tree(received.parent)
    with pytest.raises(SolverError, match=said) as refused, hindered(received), write_folder(received) as new:
        (new / "other").write_text("other")
    assert "\n" not in str(refused.value)
    assert tree(received.parent) == before


def test_nothing_is_made_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A new folder that cannot be written is not left behind, nor those above it."""
    refused = pytest.raises(InputError, match="out: cannot be written: Permission denied")
    with refused, failing(os, "open", errno.EACCES), reserve_folder(tmp_path / "a" / "out"):
        pass
    assert list(tmp_path.iterdir()) == []
