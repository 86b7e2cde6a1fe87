"""Child processes and folders of a Blender that was killed, and child processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from addon.base.interpreter import Interpreter, build_environment
from addon.base.process_errors import describe_failure, describe_import_error
from addon.jobs import job as jobs
from solver.base.errors import BackendError
from solver.storage.lock import LOCK_FILE
from tests.addon.test_extension import child

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0
"""[s] A busy machine may take as long to start Blender's module."""
PARENT = """
import sys, time
from pathlib import Path
from addon.jobs import job as jobs
from addon.base.interpreter import Interpreter, build_environment
folder, lock = jobs.create_job_folder()
job = jobs.Job("Testing", ["rig", "hoap3"], Interpreter(sys.executable, build_environment([sys.argv[1], sys.argv[2]])))
while job.running and job.message == "starting":
    time.sleep(0.05)
print(folder, job._process.pid, flush=True)
time.sleep(600)
"""
BUSY = """
import time
from {solver}.base.termination import handle_signals
handle_signals()
print('{{"fraction": 0.5, "message": "on"}}', flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text() if Path("/proc").is_dir() else _signalled(pid)
    except OSError:
        return False


def _signalled(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def has_ended(pid: int, seconds: float = LONG) -> bool:
    """Whether a process ends in time."""
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


def test_killing_blender_ends_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job of a killed Blender ends, and the next job removes its folder."""
    package = tmp_path / "run" / "ours"
    package.mkdir(parents=True)
    (package / "solver").symlink_to(ROOT / "solver")
    program = tmp_path / "run" / "solver"
    program.mkdir()
    (program / "__init__.py").touch()
    (program / "__main__.py").write_text(BUSY.format(solver="ours.solver"), encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "run"), str(ROOT)],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        # Blender's module may log a line of its own first
        folder, pid = next(line for line in parent.stdout if line.startswith(str(temporary))).split()
        assert alive(int(pid))
        parent.kill()
        parent.wait()
    assert has_ended(int(pid))
    assert Path(folder).is_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    new, lock = jobs.create_job_folder()
    assert [item for item in temporary.iterdir() if item.name.startswith(jobs.FOLDER_PREFIX)] == [new]
    lock.release()


def test_released_and_locked_folders_are_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another job removes neither results that were kept for the user nor the folder of a running job."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept, lock = jobs.create_job_folder()
    (kept / "result.json").write_text("{}")
    lock.release()
    running, other = jobs.create_job_folder()
    _, last = jobs.create_job_folder()
    assert (kept / "result.json").exists()
    assert (running / LOCK_FILE).exists()
    other.release()
    last.release()


@pytest.mark.parametrize(
    ("number", "what", "remedy"),
    [(signal.SIGKILL, "killed by the system", "memory"), (signal.SIGSEGV, "invalid memory access", "try again")],
)
def test_killed_job_is_explained(tmp_path: Path, number: signal.Signals, what: str, remedy: str) -> None:
    """The message of a killed job names the cause, the current step, its last output and what to do."""
    job = child(
        tmp_path,
        'import os, sys\nprint(\'{"fraction": 0.5, "message": "tracking walk"}\', flush=True)\n'
        f"print('half of it', file=sys.stderr, flush=True)\nos.kill(os.getpid(), {int(number)})",
    )
    job.wait()
    with pytest.raises(BackendError) as caught:
        job.raise_on_failure()
    for words in (what, number.name, "tracking walk", "half of it", remedy):
        assert words in str(caught.value)


@pytest.mark.parametrize("code", [0xC0000005, 0xC0000005 - (1 << 32), 137, -9, -64])
def test_exit_codes_of_all_systems_are_explained(code: int) -> None:
    """Windows statuses, signed or not, and exit codes of shells are explained, with a remedy."""
    words = describe_failure([], code)
    assert str(code) not in words
    assert ": " in words


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("ModuleNotFoundError: No module named 'scipy.spatial'", "the package 'scipy' is missing"),
        ("ImportError: libcoal.so: cannot open shared object file", "(libcoal.so: cannot open shared object file)"),
        ("ImportError: DLL load failed while importing _osqp: not found.", "(DLL load failed while importing _osqp"),
    ],
)
def test_missing_package_is_reported_with_a_remedy(end: str, expected: str) -> None:
    """A missing package is not an internal error: the message names it and the extension's zip file."""
    message = describe_failure(["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', end], 1)
    assert expected in message
    assert "reinstall the extension from its zip file" in message
    assert "internal error" not in message
    assert describe_import_error("KeyError: 'No module named'") == ""


def test_solver_without_packages_names_the_missing_one() -> None:
    """A Python without the packages, as in an extension without its wheels, reports the missing package."""
    bare = Interpreter(sys.executable, build_environment([str(ROOT)]), ("-S", "-m", "solver"))
    job = jobs.Job("Adding the rig", ["rig", "hoap3"], bare)
    job.wait()
    with pytest.raises(BackendError, match="the package 'numpy' is missing: reinstall the extension") as caught:
        job.raise_on_failure()
    assert "internal error" not in str(caught.value)
