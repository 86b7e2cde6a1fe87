"""Long work that is stopped by each signal, at ten instants of a run.

Every second stop finds earlier results in its output. After each stop, three questions are asked: Is a result lost
that was complete? Is anything left that is no result? Is the last sentence of the program false? After SIGKILL, a
program can neither clean up nor speak: then the next writer must remove what is left.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from solver.base.errors import InputError
from solver.base.termination import CODE, NOTHING
from solver.demo.examples import simulated_robot
from solver.demo.person import record_person, simulate_person
from solver.scene.dance_folder import REPORT_FILE
from solver.storage.manifest import MANIFEST_FILE, check_complete, read_manifest
from solver.storage.output_folder import write_folder

from ..figures.figure import Figure, at_most
from ..figures.table import FigureTable, table_parser

ROOT = Path(__file__).resolve().parents[2]
STOPS, WRITING = 10, 2
"""Stops by each signal, and how many of them come while results are being written."""
SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT", "SIGKILL")
ALIVE = 5.0
"""[s] after which no process may be left."""
PATIENCE = 600.0
"""[s] for one run on a busy machine."""
LOST, LEFT, FALSE, CRASHED = "complete results lost", "something left", "false last sentences", "crashes"
SHARED_MEMORY = Path("/dev/shm")
OUT = "out"
State = dict[str, object]
"""Content of the manifest of every complete result, by its folder; the empty name is the output itself."""


@dataclass(frozen=True, slots=True)
class Work:
    """One verb on one input.

    Attributes:
        name: of the verb.
        data: what it works on.
        words: of the command line, without the output.
        earlier: words that make earlier results differ.
    """

    name: str
    data: str
    words: tuple[str, ...]
    earlier: tuple[str, ...] = ()

    @contextmanager
    def started(self, place: Path) -> Iterator[subprocess.Popen[str]]:
        """The work in a session of its own, which a shell's background work would not receive Ctrl-C in."""
        temporary = place / "temporary"
        temporary.mkdir(parents=True)
        command = [sys.executable, "-m", "solver", self.name, *self.words, "--output", str(place / OUT)]
        with subprocess.Popen(
            [*command, "--progress", "none"], cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: [signal.signal(getattr(signal, name), signal.SIG_DFL) for name in SIGNALS[:3]],
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.kill()

    def run(self, place: Path) -> float:
        """The whole work; its time [s] after Python has started."""
        with self.started(place) as process:
            _await_handler(process)
            began = time.monotonic()
            stderr = process.communicate(timeout=PATIENCE)[1]
        if process.returncode != 0:
            raise RuntimeError(f"{self.name}: code {process.returncode}: {stderr}")
        return time.monotonic() - began


@dataclass(slots=True)
class Stops:
    """Stops of one work, and what was found after them.

    Attributes:
        work: that is stopped.
        finished: results of an earlier run of it.
        counts: of stops that came in time, and of each fault.
        notes: details of the faults.
    """

    work: Work
    finished: Path
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, str] = field(default_factory=dict)

    def stop(self, place: Path, name: str, after: float | None, *, earlier: bool) -> None:
        """Stop the work and count what is wrong.

        Args:
            place: new folder for the output and temporary files.
            name: of the signal.
            after: [s] since Python started; None: when results are being written.
            earlier: the output contains results of an earlier run.
        """
        out = place / OUT
        if earlier:
            shutil.copytree(self.finished, out)
        before = complete_results(out)
        with self.work.started(place) as process:
            _await_handler(process)
            if after is None:
                _await_writing(process, out)
            else:
                time.sleep(after)
            self.counts["stops"] += process.poll() is None
            process.send_signal(getattr(signal, name))
            stderr = process.communicate(timeout=PATIENCE)[1]
            alive = _alive_after(process.pid, ALIVE)
        words = (
            f"{name} {'while writing' if after is None else f'at {after:.2f} s'}{' over results' if earlier else ''}: "
        )
        now = complete_results(out)
        last = (stderr.strip().splitlines() or [""])[-1]
        self._count(
            CRASHED, "Traceback" in stderr or process.returncode not in (0, CODE, -signal.SIGKILL), words + stderr
        )
        lost = sorted(set(before) - set(now))
        self._count(LOST, bool(lost), f"{words}{lost}; {last}")
        if process.returncode == CODE:
            self._count(FALSE, not is_true(last, out, before, now), words + last)
        if process.returncode == -signal.SIGKILL:
            _write_again(out)
        left = [*left_behind(place), *_shared_memory(process.pid), *alive]
        self._count(LEFT, bool(left), f"{words}{', '.join(left)}")

    def _count(self, fault: str, found: bool, words: str) -> None:
        self.counts[fault] += found
        if found:
            self.notes[fault] = f"{self.notes.get(fault, '')} {' '.join(words.split())};".strip()

    def rows(self) -> list[Figure]:
        """The number of stops, and of each fault."""
        data = f"{self.work.name}: {self.work.data}"
        return [
            Figure(f"stops by {', '.join(SIGNALS)} that came before its end", data, self.counts["stops"]),
            *(
                Figure(
                    f"{fault} by stops", data, self.counts[fault], must=at_most(0), note=self.notes.get(fault, "")[:400]
                )
                for fault in (LOST, LEFT, FALSE, CRASHED)
            ),
        ]


def complete_results(out: Path) -> State:
    """The complete results in an output and its subfolders; a partial dance is not complete."""
    found: State = {}
    for manifest in out.rglob(MANIFEST_FILE) if out.is_dir() else ():
        folder = manifest.parent
        try:
            check_complete(folder)
        except InputError:
            continue
        report = folder / REPORT_FILE
        if not report.exists() or not report.read_text("utf-8").startswith("PARTIAL"):
            name = folder.relative_to(out).as_posix()
            found["" if name == "." else name] = read_manifest(folder)
    return found


def is_true(last: str, out: Path, before: State, now: State) -> bool:
    """Whether the last sentence of a stopped program tells what it wrote."""
    new = {name for name in now if now[name] != before.get(name)}
    if partial := re.fullmatch(r"stopped; a partial dance of \d+ postures was written: (.*)", last):
        return Path(partial[1]) == out and not now and len(check_complete(out)) > 0
    if last == NOTHING or last == f"{NOTHING}: {out} keeps the results of an earlier run":
        return not new and (bool(before) or not out.exists())
    said: set[str] = set()
    for part in last.removeprefix("stopped; ").split("; "):
        what, _, names = part.partition(": ")
        if what == "written before":
            paths = [Path(name).relative_to(out) for name in names.split(", ")]
            said |= {"" if path == Path() else path.as_posix() for path in paths}
        elif what == f"complete subjects in {out}, which the next run keeps":
            said |= set(names.split(", "))
        else:
            return False
    return said == new or (said == {""} and "" in new)  # a cohort's page is written after all its subjects


def left_behind(place: Path) -> list[str]:
    """Names of what is no result: temporary files, hidden files and empty folders."""
    found = [*(place / "temporary").iterdir()]
    for item in (place / OUT).rglob("*"):
        hidden = item.name.startswith(".") and item.name != MANIFEST_FILE
        if hidden or (item.is_dir() and not any(item.iterdir())):
            found.append(item)
    if (place / OUT).is_dir() and not any((place / OUT).rglob(MANIFEST_FILE)):
        found.append(place / OUT)
    found += [item for item in place.iterdir() if item.name not in (OUT, "temporary")]
    return [item.relative_to(place).as_posix() for item in found]


def works(folder: Path) -> list[Work]:
    """What is stopped; its input is written into a folder."""
    robot, study, danced = folder / "robot", folder / "study", folder / "danced"
    robot.mkdir()
    simulated_robot().write(robot)
    person = simulate_person(1, 3.0)
    motions = {"static": person.motions["static"].part(0, 200), "dance": person.motions["dance"].part(200, 600)}
    for name in ("anna", "ben", "cleo"):
        (study / name).mkdir(parents=True)
        record_person(replace(person, motions=motions), study / name, 1)
    (study / "subjects.csv").write_text(
        "subject,sex,height [cm],mass [kg]\nanna,m,176,71\nben,m,176,71\ncleo,m,176,71\n"
    )
    short = ("hoap3", "--effort", "0.05", "--workers", "2", "--postures")
    Work("dance", "", (*short, "both=1")).run(danced)
    motion = str(danced / OUT / "dance.motion.npz")
    method = ("--method", "constrained", "--no-cross-validation")
    cohort = (str(study), "--no-cross-validation", "--jobs", "2")
    return [
        Work("dance", "HOAP-3, two workers", (*short, "both=5", "right=1"), ("--seed", "2")),
        Work("cohort", "three simulated people, two workers", cohort, ("--seed", "2")),
        Work(
            "identify",
            "simulated HRP-2, 6 s",
            (str(robot), "--rig", "hrp2", *method, "--jobs", "2"),
            ("--seed", "2"),
        ),
        Work("retarget", "a dance of HOAP-3 for HRP-2", (motion, "hrp2"), ("--slower", "2")),
    ]


def rows(quick: bool) -> list[Figure]:
    """Rows for stops of each verb by each signal; quickly: one stop each."""
    if not hasattr(signal, "SIGKILL"):
        return [Figure("stopped work", "this system", None, must=at_most(0), note="stops are measured where POSIX is")]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for work in works(folder):
            places = (folder / f"{work.name} {number}" for number in range(1000))
            first = next(places)
            seconds = replace(work, words=(*work.words, *work.earlier)).run(first)
            stops = Stops(work, first / OUT)
            count = 1 if quick else STOPS
            for turn, kind in enumerate(SIGNALS):
                for number in range(count):
                    after = None if number >= STOPS - WRITING else number / (STOPS - WRITING) * seconds
                    stops.stop(place := next(places), kind, after, earlier=(turn + number) % 2 == 0)
                    shutil.rmtree(place)
            figures += stops.rows()
    return figures


def main(arguments: list[str]) -> int:
    """Print the rows of each verb; 1 when a must is missed."""
    options = table_parser("stops", __doc__, quick="one stop of each verb by each signal").parse_args(arguments)
    table = FigureTable(["stops", *arguments], options.output)
    table.add(rows(options.quick))
    return table.close()


def _write_again(out: Path) -> None:
    """Write into every folder of an output, as the next run would."""
    for folder in (*(item for item in out.glob("*") if item.is_dir() and not item.name.startswith(".")), out):
        if folder.is_dir():
            with write_folder(folder) as building:
                (building / "next").write_text("next")
            (folder / "next").unlink()
            (folder / MANIFEST_FILE).unlink()
            if not any(folder.iterdir()):
                folder.rmdir()


def _await_handler(process: subprocess.Popen[str]) -> None:
    """Wait until Python has come as far as the program, which handles stops from then on."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(0.5)
        return
    while process.poll() is None:
        caught = next((line for line in status.read_text().splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.005)


def _await_writing(process: subprocess.Popen[str], out: Path) -> None:
    """Wait until new files are being prepared in an output."""
    while process.poll() is None and not any(out.rglob(".exciting_dance.*.part/new")):
        time.sleep(0.002)


def _shared_memory(session: int) -> list[str]:
    """Shared memory that joblib made and named after its process."""
    items = SHARED_MEMORY.iterdir() if SHARED_MEMORY.is_dir() else ()
    return [item.name for item in items if re.search(rf"[-_]{session}[-_]", item.name)]


def _alive_after(session: int, seconds: float) -> list[str]:
    """Command lines of a session's processes that are alive after so long; returns as soon as there is none."""
    end = time.monotonic() + seconds
    while (left := _session(session)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _session(number: int) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "sess=,stat=,args="], capture_output=True, text=True, check=True).stdout
    found = [line.split(None, 2) for line in listed.splitlines()]
    return [words[2] for words in found if words[0] == str(number) and not words[1].startswith("Z")]
