"""Progress in a terminal, tested with a pseudo-terminal and its screen."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100
WAIT = 60.0
"""[s] Python may start slowly on a busy machine."""
ERASE = "\v"
"""Replaces the sequence that erases the rest of a line."""
WORK = """
import sys, time
from solver.base.progress_bar import progress_bar
with progress_bar() as progress:
    for step in range(4):
        progress(step / 4, f"lifting leg {step}")
        time.sleep(0.7)
        if step == 1:
            print("a note", end="")
            print(", whole")
print("done")
"""


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *command: str, at: Path | None = None, columns: int = COLUMNS) -> None:
        self.near, far = pty.openpty()
        termios.tcsetwinsize(far, (24, columns))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        self.process = subprocess.Popen(
            command, cwd=at, env=environment, stdin=far, stdout=far, stderr=far, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background work ignores it
        )  # fmt: skip
        os.close(far)
        self.sent = ""

    def read(self) -> bool:
        """Read available output; False after the program has ended."""
        try:
            more = os.read(self.near, 65536)
        except OSError:
            more = b""  # Linux says so when the program has closed its end
        self.sent += more.decode(errors="replace")
        return bool(more)

    def until(self, pattern: str) -> None:
        """Read until the output has a pattern."""
        end = time.monotonic() + WAIT
        while not re.search(pattern, self.sent):
            assert time.monotonic() < end, self.sent
            assert self.read(), self.sent

    def ended(self) -> int:
        """Read to the end; the exit code."""
        while self.read():
            pass
        os.close(self.near)
        return self.process.wait(WAIT)


def screen(sent: str) -> list[str]:
    """The lines on a terminal's screen after this output."""
    lines, column = [""], 0
    for letter in sent.replace("\x1b[K", ERASE):
        if letter == "\r":
            column = 0
        elif letter == "\n":
            lines.append("")
        elif letter == ERASE:
            lines[-1] = lines[-1][:column]
        else:
            lines[-1] = f"{lines[-1]:<{column}}"[:column] + letter + lines[-1][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def test_one_bar_is_updated_and_erased() -> None:
    """One line shows step, fraction and remaining time, also between reports; other output is on complete lines."""
    terminal = Terminal(sys.executable, "-c", WORK)
    assert terminal.ended() == 0
    assert screen(terminal.sent) == ["a note, whole", "done", ""]
    shown = [line for line in terminal.sent.split("\r") if "lifting leg" in line]
    assert {line.strip()[:4] for line in shown} == {"0 % ", "25 %", "50 %", "75 %"}
    assert all(re.search(r"\|.{24}\| \d\d:\d\d, \S+ left  lifting leg \d", line) for line in shown)
    assert max(len(line) for line in shown) <= COLUMNS
    assert len(shown) > 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_leaves_the_terminal_clean(number: signal.Signals, tmp_path: Path) -> None:
    """A stopped verb erases its bar, reports the stop on a line of its own, and leaves no folder."""
    terminal = Terminal(sys.executable, "-m", "solver", "demo", "--output", "out", at=tmp_path)
    terminal.until(r"\d %")
    terminal.process.send_signal(number)
    assert terminal.ended() == 130
    assert [line for line in screen(terminal.sent) if line] == ["stopped; nothing was written"]
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_lines_are_written() -> None:
    """Progress in a pipe is one plain line per report."""
    done = subprocess.run([sys.executable, "-c", WORK], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"[{share:3d} %] lifting leg {share // 25}" for share in (0, 25, 50, 75)]
    assert done.stdout.splitlines() == ["a note, whole", "done"]


@pytest.mark.parametrize(("before", "columns"), [("import sys; sys.modules['tqdm'] = None\n", COLUMNS), ("", 0)])
def test_without_a_possible_bar_lines_are_written(before: str, columns: int) -> None:
    """Progress is plain lines without tqdm, as in Blender, and on a terminal of unknown width."""
    terminal = Terminal(sys.executable, "-c", before + WORK, columns=columns)
    assert terminal.ended() == 0
    assert "[ 75 %] lifting leg 3" in screen(terminal.sent)


@pytest.mark.parametrize(("word", "columns"), [("text", COLUMNS), ("text", 0), ("none", COLUMNS)])
def test_an_error_begins_a_line_of_its_own(word: str, columns: int, tmp_path: Path) -> None:
    """After progress as a bar, as lines or as none, an error is on a line of its own."""
    words = ("-m", "solver", "rig", str(tmp_path / "none.urdf"), "--progress", word)
    terminal = Terminal(sys.executable, *words, columns=columns)
    assert terminal.ended() == 2
    shown = screen(terminal.sent)
    assert [line for line in shown if "error:" in line] == [shown[-2]]
    assert shown[-2].startswith("error: ")
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("error: ")
