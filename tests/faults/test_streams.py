"""Standard streams that are closed, full or missing: the results are whole, and the exit code says what happened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from solver.cli import main

ROOT = Path(__file__).resolve().parents[2]
VERB = '{python} -m solver rig hoap3 --output "$1"'


def in_shell(words: str, output: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which ``VERB`` writes a rig and ``$code`` is its exit code."""
    line = words.replace("VERB", VERB.format(python=sys.executable))
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}", "bash", str(output)],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("VERB | true", 0),
        ("VERB >&-", 0),
        ("VERB 2>&-", 0),
        ("VERB <&- >&- 2>&-", 0),
        ("VERB >/dev/full", 2),
        ("VERB 2>/dev/full", 0),
        ("VERB --progress json | true", None),
    ],
)
def test_lost_output_loses_no_results(words: str, code: int | None, tmp_path: Path) -> None:
    """Whatever becomes of its output, a verb prints no traceback; its result is whole, or, where no reader is left to
    wait for it, absent."""
    output = tmp_path / "rig.json"
    done = in_shell(words, output)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if code is None:
        assert done.returncode in (0, 130)
        return
    assert done.returncode == code
    assert main(["rig", "hoap3", "--output", str(whole := tmp_path / "whole.json"), "--quiet"]) == 0
    assert output.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == [output, whole]


@pytest.mark.parametrize("encoding", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_any_encoding_can_print_the_messages(encoding: dict[str, str], tmp_path: Path) -> None:
    """A path that is not ASCII, and one that is not even UTF-8, are printed where only ASCII can be."""
    for name in ("Füße.json", os.fsdecode(b"f\xfc\xdfe.json")):
        done = in_shell("VERB", tmp_path / name, **encoding)
        assert done.returncode == 0, done.stderr
        assert "written" in done.stdout
        assert (tmp_path / name).exists()


def test_no_file_replaces_a_closed_stream(tmp_path: Path) -> None:
    """What is printed to a closed standard output does not end up in a file that was opened later."""
    code = (
        "import os, sys\nfrom solver.base.standard_streams import robust_streams\n"
        "with robust_streams():\n"
        "    with open(sys.argv[1], 'w') as file:\n"
        "        os.write(1, b'words'); print('words')\n"
        "        file.write('result')\n"
    )
    line = f'{sys.executable} -c "$2" "$1" >&-'
    subprocess.run(["bash", "-c", line, "bash", str(tmp_path / "x"), code], cwd=ROOT, check=True)
    assert (tmp_path / "x").read_text() == "result"
