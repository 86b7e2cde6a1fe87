"""Work that is stopped: it ends soon, in one line, with everybody who worked for it, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.faults.stops import complete_results, is_true, left_behind
from solver import engine
from solver.base import termination as stopping
from solver.base.errors import BackendError
from solver.base.parallel import background_map, parallel_map
from solver.storage.manifest import MANIFEST_FILE
from solver.storage.output_folder import write_folder

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0
"""[s] A busy machine may take long to start Python."""
IMPORT_AMID = """
import os, signal, sys
from solver.base.termination import handle_signals
handle_signals()
class Amid:
    def find_spec(self, name, path=None, target=None):
        if name == "pinocchio.deprecated":
            print("amid", flush=True)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Amid())
import solver.engine.pinocchio_loader
print("whole")
"""
WRITING = """
import sys, time
from solver.base.termination import handle_signals
handle_signals()
from solver.storage.output_folder import write_folder
with write_folder(sys.argv[1]) as folder:
    (folder / "half").write_text("half")
    print("amid", flush=True)
    time.sleep(600)
"""
TEMPORARY = """
import sys, time
from pathlib import Path
from solver.base.termination import handle_signals, note_output, temporary_folder
handle_signals()
with temporary_folder("made-", Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    note_output(folder / "half")
    print("amid", flush=True)
    time.sleep(600)
"""
DELIVERED = """
import sys, time
from solver.base.termination import handle_signals, uninterrupted
handle_signals()
from solver.storage.output_folder import write_folder
with uninterrupted():
    print("amid", flush=True)
    time.sleep(0.3)
    with write_folder(sys.argv[1]) as folder:
        (folder / "all").write_text("all")
print("later")
"""
SHARING = """
import sys, time
from contextlib import nullcontext
from pathlib import Path
from solver.base.parallel import parallel_map
from solver.storage.output_folder import write_folder
from solver.base.termination import handle_signals, interruptible, on_stop

PLACE = Path(sys.argv[1])

def write(number):
    with write_folder(PLACE / f"result {number}") as folder:
        (folder / "half").write_text("half")
        time.sleep(600.0 if number else 0.0)
    return number

def main():
    handle_signals()
    done = []
    try:
        with interruptible() if "keeps" in sys.argv else nullcontext(), on_stop(lambda: f"{len(done)} of 3 done"):
            for number in parallel_map(write, [(0,), (1,), (2,)], 2):
                done.append(number)
                while len(list(PLACE.rglob("half"))) < 3:
                    time.sleep(0.02)
                print("amid", flush=True)
    except KeyboardInterrupt:
        print("kept", done, flush=True)
        sys.exit(130)
"""


def hear() -> None:
    """In a child before it runs: the signals of these tests are not ignored, as in a shell's background or by nohup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def running(*words: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A program that has come to where it says so, in a session of its own."""
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=hear, **options,  # type: ignore[call-overload]
    ) as process:  # fmt: skip
        try:
            assert process.stdout.readline() == "amid\n"
            yield process
        finally:
            process.kill()


def in_session(session: int) -> list[str]:
    """Command lines of a session's processes that live."""
    listed = subprocess.run(["ps", "-eo", "sess=,stat=,args="], capture_output=True, text=True, check=True).stdout
    found = [line.split(None, 2) for line in listed.splitlines()]
    return [words[2] for words in found if words[0] == str(session) and not words[1].startswith("Z")]


def emptied(session: int) -> bool:
    """Whether all of a session's processes end in time."""
    end = time.monotonic() + LONG
    while in_session(session) and time.monotonic() < end:
        time.sleep(0.1)
    return not in_session(session)


@pytest.fixture
def sharing(tmp_path: Path) -> str:
    """A program, as loky can import it, whose two worker processes write results."""
    (tmp_path / "out").mkdir()
    (tmp_path / "sharing.py").write_text(SHARING, encoding="utf-8")
    return f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import sharing; sharing.main()"


@pytest.mark.skipif(engine.NAME != "pinocchio", reason="imports Pinocchio, which is not the engine here")
def test_ctrl_c_during_a_native_import_does_not_crash() -> None:
    """A stop while Pinocchio registers itself waits for its end, then leaves; no exception passes through it."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_AMID], cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=hear
    )
    assert (done.returncode, done.stderr) == (stopping.CODE, f"{stopping.NOTHING}\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_while_writing_leaves_whole_results(number: signal.Signals, tmp_path: Path) -> None:
    """Stopped while results are written, a process leaves no file, no traceback, one line and exit code 130."""
    with running("-c", WRITING, str(tmp_path / "new" / "out")) as process:
        process.send_signal(number)
        assert process.communicate(timeout=LONG) == ("", f"{stopping.NOTHING}\n")
    assert process.returncode == stopping.CODE
    assert list(tmp_path.iterdir()) == []


def test_a_stop_removes_temporary_folders(tmp_path: Path) -> None:
    """A folder of intermediate files does not outlive a stop, and what was in it is not listed as written."""
    with running("-c", TEMPORARY, str(tmp_path)) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=LONG) == ("", f"{stopping.NOTHING}\n")
    assert list(tmp_path.iterdir()) == []


def test_an_atomic_step_is_not_interrupted(tmp_path: Path) -> None:
    """A stop during the final step waits for it, and reports what was written; later steps are not done."""
    out = tmp_path / "out"
    with running("-c", DELIVERED, str(out)) as process:
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=LONG)
    assert (out / "all").read_text() == "all"
    assert (process.returncode, stdout) == (stopping.CODE, "")
    assert stderr == f"stopped; written before: {out}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_after_the_work_succeeds(number: signal.Signals) -> None:
    """While Python takes itself apart there is nothing left to stop: the exit code is that of the work."""
    code = "import os; from solver.base.termination import handle_signals; handle_signals()\n"
    code += "class Late:\n    def __del__(self, end=os.kill, me=os.getpid()):\n        end(me, %d)\n"
    code += "import sys; sys.late = Late(); print('done', flush=True); sys.exit(3)"
    done = subprocess.run(
        [sys.executable, "-c", code % number], cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=hear
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """What nohup or a shell's background work started continues."""
    code = "import signal; from solver.base.termination import handle_signals; handle_signals()\n"
    code += "signal.raise_signal(signal.SIGINT); signal.raise_signal(signal.SIGHUP); print('on')"
    ignoring = f"import signal\nsignal.signal(1, signal.SIG_IGN); signal.signal(2, signal.SIG_IGN)\n{code}"
    done = subprocess.run([sys.executable, "-c", ignoring], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_the_end_of_a_parent_ends_its_child(tmp_path: Path) -> None:
    """A child whose input is its lifeline ends when that does, with nothing half-written, as by a signal."""
    environment = {**os.environ, stopping.LIFELINE: "1"}
    with running(
        "-c", WRITING, str(tmp_path / "out"), stdin=subprocess.PIPE, env=environment
    ) as process:  # fmt: skip
        process.stdin.close()
        assert process.wait(LONG) == stopping.CODE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("system", ["", "import signal\ndel signal.pthread_kill\n"], ids=["here", "as on Windows"])
def test_a_line_from_its_parent_interrupts_a_child(system: str) -> None:
    """What is written to a lifeline has the effect of a signal: partial results are kept. So on every system."""
    code = f"{system}import time\nfrom solver.base.termination import handle_signals, interruptible\nhandle_signals()\n"
    code += "try:\n    with interruptible():\n        print('on', flush=True)\n"
    code += "        while True:\n            time.sleep(0.01)\n"
    code += "except KeyboardInterrupt:\n    print('kept')\n"
    environment = {**os.environ, stopping.LIFELINE: "1"}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "on\n"
        process.stdin.write("stop\n")
        process.stdin.flush()
        assert process.stdout.read() == "kept\n"
        assert process.wait(LONG) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(number: signal.Signals, sharing: str, tmp_path: Path) -> None:
    """However a process ends, its workers and their housekeepers do, without a message; a terminal signals them all.
    They leave whole results alone."""
    with running("-c", sharing, str(tmp_path / "out")) as process:
        assert len(in_session(process.pid)) >= 3
        os.killpg(process.pid, number) if number != signal.SIGKILL else process.kill()
        _, stderr = process.communicate(timeout=LONG)
        assert number == signal.SIGKILL or [path.name for path in (tmp_path / "out").iterdir()] == ["result 0"]
        assert emptied(process.pid), in_session(process.pid)
    assert stderr == ("" if number == signal.SIGKILL else "stopped; 1 of 3 done\n")
    assert {path.name for path in (tmp_path / "out").rglob("*")} == {"result 0", "half", MANIFEST_FILE}
    shared_memory = Path("/dev/shm")
    left = [item.name for item in shared_memory.iterdir()] if shared_memory.is_dir() else []
    assert [name for name in left if f"-{process.pid}-" in name or f"_{process.pid}_" in name] == []


def test_work_can_store_finished_parts_on_a_stop(sharing: str, tmp_path: Path) -> None:
    """Where finished work can be stored, the first Ctrl-C is an exception that work can catch; its workers end too."""
    with running("-c", sharing, str(tmp_path / "out"), "keeps") as process:
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LONG)
        assert emptied(process.pid), in_session(process.pid)
    assert (process.returncode, stdout, stderr) == (stopping.CODE, "kept [0]\n", "")


def test_discarding_further_results_does_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    """Work that is left when its first result is enough ends without a word, in this process or in others."""
    for workers in (1, 2):
        results = parallel_map(time.sleep, [(0.0,), (5.0,), (5.0,)], workers)
        assert next(results) is None
        results.close()  # type: ignore[attr-defined]
    assert [str(warning.message) for warning in recwarn] == []


def test_work_continues_while_the_block_does_something_else(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """Other processes work before results are requested; where a block fails, none of them prints anything."""
    signs = [tmp_path / "one", tmp_path / "two"]
    with background_map(Path.touch, [(sign,) for sign in signs], 2) as results:
        until = time.monotonic() + LONG
        while not all(sign.exists() for sign in signs) and time.monotonic() < until:
            time.sleep(0.05)
        assert all(sign.exists() for sign in signs)
        assert list(results) == [None, None]
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), background_map(time.sleep, [(0.1,), (0.1,)], 2):
            _ = 1 / 0
    assert [str(warning.message) for warning in recwarn] == []


def test_a_worker_that_dies_is_one_error() -> None:
    """A worker process that the system kills, as for want of memory, is reported, with a remedy."""
    with pytest.raises(BackendError, match="memory"):
        list(parallel_map(os._exit, [(1,), (1,)], 2))


@pytest.mark.parametrize(
    ("last", "made", "true"),
    [
        ("stopped; nothing was written", (), True),
        ("stopped; nothing was written", ("anna",), False),
        ("stopped; complete subjects in {out}, which the next run keeps: anna", ("anna",), True),
        ("stopped; complete subjects in {out}, which the next run keeps: anna", ("anna", "ben"), False),
        ("stopped; complete subjects in {out}, which the next run keeps: anna, ben", ("anna",), False),
        ("stopped; written before: {out}", ("",), True),
        ("stopped; written before: {out}", (), False),
        ("stopped; written before: {out}", ("", "anna"), True),
        ("stopped; a partial dance of 3 postures was written: {out}", ("",), False),
        ("stopped", (), False),
    ],
)
def test_the_benchmark_knows_a_false_last_sentence(
    last: str, made: tuple[str, ...], true: bool, tmp_path: Path
) -> None:
    """What a stopped program says it wrote is compared with the complete results that are there."""
    for name in made:
        with write_folder(tmp_path / "out" / name) as folder:
            (folder / "result").write_text("all")
    out = tmp_path / "out"
    assert is_true(last.format(out=out), out, {}, complete_results(out)) is true


def test_the_benchmark_finds_what_is_lost_and_left(tmp_path: Path) -> None:
    """A result that lacks a file or is a partial dance is not complete; hidden files and empty folders are left."""
    for name in ("whole", "damaged", "partial"):
        with write_folder(tmp_path / "out" / name) as folder:
            (folder / "report.txt").write_text("PARTIAL" if name == "partial" else "all")
    (tmp_path / "out" / "damaged" / "report.txt").unlink()
    (tmp_path / "temporary" / "made").mkdir(parents=True)
    (tmp_path / "out" / "empty").mkdir()
    (tmp_path / "out" / ".half.part").touch()
    assert list(complete_results(tmp_path / "out")) == ["whole"]
    assert sorted(left_behind(tmp_path)) == ["out/.half.part", "out/empty", "temporary/made"]
