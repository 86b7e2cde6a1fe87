"""Work that is stopped at random times: by Ctrl-C, by SIGTERM, by SIGKILL.

Two checks follow every stop: of processes that are alive after five seconds, and of files in the output's place, in
the temporary folder and in shared memory after the next run of the same work.
"""

from __future__ import annotations

import os
import random
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
from dataclasses import dataclass, field
from pathlib import Path

from solver.contacts.schedule import Schedule
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.demo.examples import simulated_robot
from solver.rigs import hoap3
from solver.storage.manifest import MANIFEST_FILE
from solver.termination import CODE
from solver.trajectory.legged_rig import LeggedRig

from ..figures.figure import Figure, at_most

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT.parent / "shared" / "data" / "subject_a"
SEED = 8
STOPS = 20
EARLY = 3.0
"""[s] of a work's time within which quick stops come."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
ALIVE = 5.0
"""[s] after which no process may be left."""
PATIENCE = 600.0
"""[s] for one run on a busy machine."""
FAULTS = ("segmentation faults", "tracebacks", "partial outputs", "processes alive after 5 s", "leftovers")
SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Work:
    """One verb on one input.

    Attributes:
        name: of the verb.
        data: what it works on, and whether it is simulated.
        words: of the command line, without the output.
    """

    name: str
    data: str
    words: tuple[str, ...]

    def command(self, output: Path) -> list[str]:
        """The whole command line."""
        return [sys.executable, "-m", "solver", self.name, *self.words, "--output", str(output), "--progress", "json"]


@dataclass(slots=True)
class Laboratory:
    """A folder in which work is stopped, with a temporary folder of its own.

    Attributes:
        folder: holds the output and nothing else, once all is swept.
        temporary: of the processes.
        counts: of each fault, and of the stops that came in time.
        reports: the first words of each fault.
    """

    folder: Path
    temporary: Path
    counts: Counter[str] = field(default_factory=Counter)
    reports: list[str] = field(default_factory=list)

    def run(self, work: Work) -> float:
        """The work, whole; how long it took [s]."""
        began = time.monotonic()
        with self.started(work) as process:
            _, stderr = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            raise RuntimeError(f"{work.name}: code {process.returncode}: {stderr}")
        return time.monotonic() - began

    def stop(self, work: Work, name: str, after: float) -> None:
        """Stop the work and count what is wrong."""
        with self.started(work) as process:
            started = _ready(process)
            time.sleep(after)
            in_time = process.poll() is None
            process.send_signal(getattr(signal, name))
            stderr = process.communicate(timeout=PATIENCE)[1]
            alive = _alive_after(process.pid, ALIVE)
        self.counts["stops"] += in_time and started
        crashed = process.returncode in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
        wrong = in_time and name != "SIGKILL" and process.returncode not in (CODE, 0)
        self._count("segmentation faults", crashed, f"{work.name} {name}: code {process.returncode}")
        self._count(
            "tracebacks",
            "Traceback" in stderr or (wrong and not crashed),
            f"code {process.returncode}: {stderr[-400:]}",
        )
        self._count("partial outputs", self._is_partial(name), f"{work.name} {name} at {after:.2f} s")
        self._count("processes alive after 5 s", bool(alive), ", ".join(alive))

    def look_for_leftovers(self, work: Work) -> None:
        """After the next run into the same folder: what is there that is not its result?"""
        self.run(work)
        found = [item for item in self.folder.iterdir() if item.name != "out"]
        found += [item for item in (self.folder / "out").rglob("*") if item.name.endswith((".part", ".lock"))]
        found += list(self.temporary.iterdir())
        if SHARED_MEMORY.is_dir():
            found += [
                item
                for item in SHARED_MEMORY.iterdir()
                if any({f"-{p}-", f"_{p}_"} & set(re.findall(r"[-_]\d+[-_]", item.name)) for p in _seen)
            ]
        self._count("leftovers", bool(found), ", ".join(item.name for item in found))
        shutil.rmtree(self.folder / "out")

    @contextmanager
    def started(self, work: Work) -> Iterator[subprocess.Popen[str]]:
        """The work, in a group of its own, which a shell's background work would not hear Ctrl-C in."""
        environment = {**os.environ, "TMPDIR": str(self.temporary), "PYTHONFAULTHANDLER": "1"}
        with subprocess.Popen(
            work.command(self.folder / "out"), cwd=ROOT, env=environment, text=True, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:  # fmt: skip
            _seen.add(process.pid)
            try:
                yield process
            finally:
                process.kill()

    def _is_partial(self, name: str) -> bool:
        """Whether something lies there that is neither nothing nor a whole result; a kill leaves its workshop."""
        out = self.folder / "out"
        if out.exists() and not (out / MANIFEST_FILE).exists():
            return name != "SIGKILL" or any(not item.name.startswith(".") for item in out.iterdir())
        hidden = [item for item in self.folder.iterdir() if item != out]
        return bool(hidden) and name != "SIGKILL"

    def _count(self, fault: str, found: bool, words: str) -> None:
        self.counts[fault] += found
        if found:
            self.reports.append(f"{fault}: {' '.join(words.split())}")


_seen: set[int] = set()
"""Processes of this table: joblib names what it makes in shared memory after them."""


def works(folder: Path, quick: bool) -> list[Work]:
    """What is stopped, its input written into a folder; with a person's recordings where they are at hand."""
    recorded = folder / "recorded"
    recorded.mkdir()
    simulated_robot().write(recorded)
    keyed = _write_dragged_dance(folder / "dragged.json")
    postures = ("--postures", "both=5", "right=1")
    found = [
        Work("repair", "HOAP-3, a dragged foot", (str(keyed),)),
        Work("identify", "simulated HRP-2, 6 s", (str(recorded), "--rig", "hrp2", "--bootstrap", "4")),
        Work("dance", "HOAP-3, two workers", ("hoap3", *postures, "--effort", "0.05", "--workers", "2")),
    ]
    if not quick and RECORDED.is_dir():
        person = (str(RECORDED), "--mass", "70", "--sex", "male", "--bootstrap", "4", "--jobs", "2")
        found.append(Work("identify", "subject_a, recorded", person))
    return found


def _write_dragged_dance(path: Path) -> Path:
    """A keyed dance whose feet slide along with its root, as a file."""
    rig = hoap3(torque="peak")
    legged = LeggedRig(rig, shrink=0.0)
    footing = legged.get_footing("both")
    rest = legged.solve_static(legged.home_posture(footing)[None], footing.solved)[1].q[0]
    shifted = rest.copy()
    shifted[0] += 0.01
    keys = (Keyframe(0.0, rest, "fixed"), Keyframe(1.0, shifted), Keyframe(2.0, rest, "fixed"))
    AUTHORED_DANCE.write(path, AuthoredDance(rig, keys, Schedule.constant(footing.anchors, 0.0, 2.0), name="dragged"))
    return path


def rows(quick: bool) -> list[Figure]:
    """Rows for stops of each job by each signal."""
    if not hasattr(signal, "SIGKILL"):
        return [Figure("stopped work", "this system", None, must=at_most(0), note="stops are measured where POSIX is")]
    generator = random.Random(SEED)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        every = works(place, quick)
        for number, work in enumerate(every):
            laboratory = Laboratory(place / f"work{number}", place / f"temporary{number}")
            laboratory.folder.mkdir()
            laboratory.temporary.mkdir()
            seconds = EARLY if quick else laboratory.run(work)
            for kind in SIGNALS:
                for _ in range(1 if quick else STOPS):
                    laboratory.stop(work, kind, generator.uniform(0.0, seconds))
            laboratory.look_for_leftovers(every[0] if quick else work)
            figures += _figures(work, laboratory)
    return figures


def _figures(work: Work, laboratory: Laboratory) -> list[Figure]:
    data = f"{work.name}: {work.data}"
    first = Figure(f"stops by {', '.join(SIGNALS)} that came before its end", data, laboratory.counts["stops"])
    return [
        first,
        *(
            Figure(
                f"{fault} of stopped work", data, laboratory.counts[fault], must=at_most(0),
                note="; ".join(words for words in laboratory.reports if words.startswith(fault))[:400],
            )
            for fault in FAULTS
        ),
    ]  # fmt: skip


def _ready(process: subprocess.Popen[str]) -> bool:
    """Wait until Python has come as far as the program, which hears stops from then on; False when it ended before."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(0.5)
        return process.poll() is None
    while process.poll() is None:
        caught = next((line for line in status.read_text().splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.005)
    return False


def _alive_after(session: int, seconds: float) -> list[str]:
    """Command lines of a session's processes that live on after so long; returns as soon as there is none."""
    end = time.monotonic() + seconds
    while (left := _session(session)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _session(number: int) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "sess=,stat=,args="], capture_output=True, text=True, check=True).stdout
    found = [line.split(None, 2) for line in listed.splitlines()]
    return [words[2] for words in found if words[0] == str(number) and not words[1].startswith("Z")]
