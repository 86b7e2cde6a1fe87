"""Children and folders of a Blender that is killed, and children that are killed themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from addon import jobs
from addon.interpreter import Interpreter, build_environment
from addon.process_errors import describe_failure, describe_import_error
from solver.errors import BackendError
from solver.formats.lock import LOCK_FILE
from tests.addon.test_extension import child

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0
"""[s] A busy machine may take as long to start Blender's module."""
PARENT = """
import sys, time
from pathlib import Path
from addon import jobs
from addon.interpreter import Interpreter, build_environment
folder, lock = jobs.new_folder()
job = jobs.Job("Testing", ["rig", "hoap3"], Interpreter(sys.executable, build_environment([sys.argv[1], sys.argv[2]])))
while job.message == "starting":
    time.sleep(0.05)
print(folder, job._process.pid, flush=True)
time.sleep(600)
"""
BUSY = """
import time
from {solver}.stopping import own_process
own_process()
print('{{"fraction": 0.5, "message": "on"}}', flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Whether a process that is nobody's zombie exists."""
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


def gone(pid: int, seconds: float = LONG) -> bool:
    """Whether a process ends in time."""
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


def test_a_killed_blender_takes_its_job_along_and_the_next_sweeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job of a Blender that gets no chance to end it ends; its folder goes when the next job begins."""
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
    assert gone(int(pid))
    assert Path(folder).is_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    new, lock = jobs.create_job_folder()
    assert [item for item in temporary.iterdir() if item.name.startswith(jobs.FOLDER_PREFIX)] == [new]
    lock.release()


def test_a_kept_folder_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that a job left for the user stay when another job begins, as does the folder of one that still runs."""
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
    [(signal.SIGKILL, "killed by the system", "memory"), (signal.SIGSEGV, "bad memory access", "start it again")],
)
def test_a_killed_job_tells_what_happened(tmp_path: Path, number: signal.Signals, what: str, remedy: str) -> None:
    """A job that is killed says by what, amid which step, with its last words, and what to do; never only a code."""
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
def test_every_system_s_codes_are_words(code: int) -> None:
    """Windows' statuses, signed or not, and a shell's codes are told in words, with a remedy."""
    words = describe_failure([], code)
    assert str(code) not in words
    assert ": " in words


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("ModuleNotFoundError: No module named 'scipy.spatial'", "the package 'scipy' is missing"),
        ("ImportError: libcoal.so: cannot open shared object file", "(libcoal.so: cannot open shared object file)"),
        ("ImportError: DLL load failed while importing _osqp: not found.", "(DLL load failed while importing _osqp"),
    ],
)
def test_a_package_that_is_not_there_is_told_with_a_remedy(end: str, told: str) -> None:
    """No internal error, for nothing of the program is wrong: what is missing, and that the zip brings it."""
    words = describe_failure(["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', end], 1)
    assert told in words
    assert "install the extension from its zip again" in words
    assert "internal error" not in words
    assert describe_import_error("KeyError: 'No module named'") == ""


def test_a_solver_without_its_packages_tells_which_one_it_misses() -> None:
    """A Python that has none of them, as that of an extension whose wheels did not arrive."""
    bare = Interpreter(sys.executable, build_environment([str(ROOT)]), ("-S", "-m", "solver"))
    job = jobs.Job("Adding the rig", ["rig", "hoap3"], bare)
    job.wait()
    with pytest.raises(BackendError, match="the package 'numpy' is missing: install the extension") as caught:
        job.raise_on_failure()
    assert "internal error" not in str(caught.value)
