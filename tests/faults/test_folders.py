"""Folders of results with killed or simultaneous writers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.storage.atomic import write_atomically
from solver.storage.lock import create_locked_folder, remove_abandoned_folders
from solver.storage.manifest import MANIFEST_FILE, check_complete
from solver.storage.output_folder import reserve_folder, write_folder

ROOT = Path(__file__).resolve().parents[2]
OLD = {"removed": "old", "part/x": "old", "x": "old"}
NEW = {"came": "new", "part/x": "new", "x": "new"}
WRITER = """
import os, sys
from pathlib import Path
from solver.storage.output_folder import write_folder

path, step, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
original = getattr(os, step)
def counted(*arguments, **options):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    return original(*arguments, **options)
setattr(os, step, counted)
with write_folder(path) as folder:
    (folder / "part").mkdir()
    for name in ("came", "part/x", "x"):
        (folder / name).write_text("new")
"""


def contents(folder: Path) -> dict[str, str]:
    """Text of every file below a folder that is not hidden."""
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return {p.as_posix(): (folder / p).read_text() for p in found if not any(s.startswith(".") for s in p.parts)}


def write(path: Path, files: dict[str, str]) -> None:
    """Write a folder of these files."""
    with write_folder(path) as folder:
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)


def killed_at(path: Path, step: str, count: int) -> bool:
    """Write `NEW` in a process that dies at the so-manieth call of a function of the system; whether it came so far."""
    command = [sys.executable, "-c", WRITER, str(path), step, str(count)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 9


def unfinished(folder: Path) -> InputError | None:
    """What a reader says of an unfinished folder."""
    try:
        check_complete(folder)
    except InputError as error:
        return error
    return None


@pytest.mark.parametrize("step", ["replace", "mkdir", "unlink"])
def test_a_killed_writer_leaves_all_or_nothing(step: str, tmp_path: Path) -> None:
    """Wherever a writer dies, a reader finds all of the run before or all of the new one, or hears which file is not
    whole; the user's file stays; the next writer leaves nothing behind."""
    seen = set()
    for count in range(40):
        folder = tmp_path / str(count) / "out"
        write(folder, OLD)
        (folder / "mine").write_text("mine")
        dead = killed_at(folder, step, count)
        assert (folder / "mine").read_text() == "mine"
        problem = unfinished(folder)
        if problem is not None:
            assert problem.path.relative_to(folder).as_posix() in NEW
            assert "unfinished" in str(problem)
            seen.add("unfinished")
        else:
            found = {name: text for name, text in contents(folder).items() if name != "mine"}
            assert found in (OLD, NEW)
            seen.add("old" if found == OLD else "new")
        write(folder, NEW)
        assert {name for name in os.listdir(folder) if name.startswith(".")} == {MANIFEST_FILE}
        if not dead:
            break
    assert not dead
    assert seen == {"old", "new"} | ({"unfinished"} if step != "unlink" else set())


@pytest.mark.parametrize("exists", [False, True])
def test_two_writers_do_not_mix(exists: bool, tmp_path: Path) -> None:
    """While one process holds a folder another is refused at once, with the first one's id; when it is killed the
    folder is free, and what it left is swept."""
    out = tmp_path / "out"
    if exists:
        write(out, OLD)
    code = (
        "import sys, time\nfrom solver.storage.output_folder import write_folder\n"
        "with write_folder(sys.argv[1]) as folder:\n"
        "    (folder / 'half').write_text('half'); print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(out)], cwd=ROOT, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(InputError, match=f"is being written by process {other.pid}"), reserve_folder(out):
            pass
        other.send_signal(signal.SIGKILL)
    assert list(tmp_path.rglob("half"))
    write(out, NEW)
    assert contents(tmp_path) == {f"out/{name}": text for name, text in NEW.items()}
    assert {path.name for path in out.iterdir() if path.name.startswith(".")} == {MANIFEST_FILE}


def test_a_killed_writer_of_a_file_is_swept(tmp_path: Path) -> None:
    """A later writer of a file removes what killed ones left of it, not what live ones write, and no other file."""
    target, mine = tmp_path / "table.csv", tmp_path / ".table.csv.mine.part"
    mine.write_text("mine")
    code = (
        "import os, sys\nfrom solver.storage.atomic import write_atomically\n"
        "with write_atomically(sys.argv[1]) as stream:\n    stream.write('half'); stream.flush(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(target)], cwd=ROOT, check=False)
    (left,) = set(tmp_path.iterdir()) - {mine}
    os.utime(left, (0.0, 0.0))
    with write_atomically(target) as first:
        with write_atomically(target) as second:
            second.write("second")
        first.write("first")
    assert target.read_text() == "first"
    assert sorted(tmp_path.iterdir()) == [mine, target]


def test_temporary_folders_of_killed_processes_are_swept(tmp_path: Path) -> None:
    """A sweep removes the folders of dead processes; those of live ones, reserved ones and other folders stay."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom solver.storage.lock import create_locked_folder\n"
        "folder, lock = create_locked_folder(Path(sys.argv[1]), 'live-')\n(folder / 'x').write_text('1')\nos._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    (dead,) = tmp_path.iterdir()
    live, lock = create_locked_folder(tmp_path, "live-")
    kept, released = create_locked_folder(tmp_path, "live-")
    (kept / "result").write_text("1")
    released.release()
    other = tmp_path / "live-0123abcx"
    other.mkdir()
    assert remove_abandoned_folders(tmp_path, "live-") == (dead,)
    assert sorted(tmp_path.iterdir()) == sorted([live, kept, other])
    lock.release()
