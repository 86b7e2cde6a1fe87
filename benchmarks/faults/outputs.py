"""Impossible outputs and options of every verb: refused within two seconds, in one line, with nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from solver.storage.output_folder import reserve_folder, write_folder

from ..figures.figure import Figure, at_most

WRONG_INPUT = 2
LIMIT = 2.0
"""[s] After which a user takes the work to have begun."""
RECORDINGS = ("identify", "track", "calibrate", "find-load")
WORDS = {
    **dict.fromkeys(("identify", "track", "calibrate"), ("walk.trc", "--sex", "male")),
    "find-load": ("--before", "walk.trc", "--after", "walk.trc", "--sex", "male"),
    **dict.fromkeys(("repair", "complete", "slow", "check", "export"), ("dance.json",)),
    "perform": ("dance.json", "dance.motion.npz"),
    "dance": ("hoap3",),
    "rig": ("hoap3",),
    "compare": ("results", "walk.trc"),
    "demo": (),
}
"""Other arguments of each verb; no such file exists, so that only an early check can report the output."""
FILES = {"export": "made.csv", "rig": "made.json", "compare": "made.csv"}
"""Verbs that write a file, and its name."""
SLOWEST = (("identify", "--filter none"), ("identify", "--rig hoap3 --base tail"), ("calibrate", "--height 17"))
"""Of `NUMBERS`, those that were once refused late or take longest to check: a quick run includes them."""
PLACES = ("file/{}", "/proc/{}", "{long}/{}", "taken")
NUMBERS = (
    ("identify", "--jobs 0"), ("identify", "--mass nan"),
    ("identify", "--height -1.7"), ("identify", "--jobs 1_000"), ("track", "--jobs 0"), ("track", "--mass inf"),
    ("identify", "--filter none"), ("identify", "--marker-set none"), ("calibrate", "--height 17"),
    ("find-load", "--max-links 0"), ("find-load", "--margin -1"), ("compare", "--jobs 0"), ("demo", "--seed -1"),
    ("dance", "--rate -1"), ("dance", "--seed -1"), ("dance", "--workers 0"), ("dance", "--bpm nan"),
    ("dance", "--effort 0"), ("dance", "--shrink 1"), ("dance", "--friction -1"), ("repair", "--rate 0"),
    ("repair", "--seconds -1"), ("complete", "--share 2"), ("complete", "--pool 0"), ("check", "--rate -1"),
    ("export", "--rate 0"), ("slow", "--rate -1"), ("rig", "--mass -1"), ("rig", "--height 17"),
    ("identify", "--base tail"), ("identify", "--planted-foot tail"), ("identify", "--mass 7000"),
    ("track", "--filter none"), ("find-load", "--filter none"), ("find-load", "--candidates tail"),
    ("identify", "--rig none"), ("identify", "--rig hoap3 --base tail"),
    ("identify", "--rig hoap3 --planted-foot tail"),
    ("find-load", "--rig hoap3 --candidates tail"), ("dance", "--music none"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Result of a case.

    Attributes:
        words: of the command line.
        seconds: [s] of processor time until it ended, which a busy machine does not stretch.
        right: exit code 2, one line on the standard error that names what is wrong, and nothing new in the folder.
    """

    words: str
    seconds: float
    right: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A command line that cannot work.

    Attributes:
        words: of the command line.
        wrong: what must be named, one of them at least.
    """

    words: tuple[str, ...]
    wrong: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Command lines that cannot work."""
    for verb, words in WORDS.items():
        for place in PLACES:
            output = place.format(FILES.get(verb, "made"), long="x" * 300)
            yield Case((verb, *words, "--output", output), (output.partition("/")[0] or "/proc",))
    for verb, option in NUMBERS:
        yield _with_option(verb, option)


def quick_cases() -> Iterator[Case]:
    """Every ninth, and those that took longest."""
    yield from list(cases())[::9]
    for verb, option in SLOWEST:
        yield _with_option(verb, option)


def _with_option(verb: str, option: str) -> Case:
    words = option.split()
    return Case((verb, *WORDS[verb], *words, "--output", FILES.get(verb, "made")), (words[-2], words[-1]))


def run_case(case: Case, folder: Path) -> CaseResult:
    """Run a case in a folder with a file ``file``, and a place ``taken`` of the other kind than the verb writes."""
    words = case.words
    (folder / "file").write_text("mine")
    if words[0] in FILES:
        (folder / "taken").mkdir()
    else:
        (folder / "taken").write_text("mine")
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    root = str(Path(__file__).resolve().parents[2])
    began = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "solver", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    ended = os.times()
    seconds = ended.children_user + ended.children_system - began.children_user - began.children_system
    lines = done.stderr.strip().splitlines()
    same = before == sorted(path.relative_to(folder) for path in folder.rglob("*"))
    named = len(lines) == 1 and any(wrong in lines[0] for wrong in case.wrong)
    return CaseResult(" ".join(words), seconds, done.returncode == WRONG_INPUT and named and same)


def reruns(count: int) -> int:
    """Count of folders, written again or by two processes at once, that mix runs; simulated."""
    wrong = 0
    for number in range(count):
        with TemporaryDirectory() as place:
            folder = Path(place) / "out"
            for run in ("first", "second"):
                with write_folder(folder) as new:
                    for trial in range(3 if run == "first" else 2):
                        (new / f"{trial}.motion.npz").write_text(run)
                (folder / "mine").write_text("mine")
            found = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
            wrong += found != ["0.motion.npz", "1.motion.npz", "mine"]
            wrong += not _second_is_refused(folder, reserved=number % 2 == 0)
    return wrong


def _second_is_refused(folder: Path, *, reserved: bool) -> bool:
    """Whether another process can reserve a folder exactly when no process has reserved it."""
    code = "import sys\nfrom solver.storage.output_folder import reserve_folder\nwith reserve_folder(sys.argv[1]): pass"
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code, str(folder)]
    if not reserved:
        return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode == 0
    with reserve_folder(folder):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode != 0 and "is being written by process" in done.stderr


def rows(quick: bool) -> list[Figure]:
    """The figures."""
    results = []
    for case in quick_cases() if quick else cases():
        with TemporaryDirectory() as place:
            results.append(run_case(case, Path(place)))
    slowest = max(results, key=lambda result: result.seconds)
    wrong = [result.words for result in results if not result.right]
    data = f"{len(results)} command lines, simulated"
    count = 2 if quick else 20
    return [
        Figure("impossible output or option: not refused in one line, or something written", data,
               float(len(wrong)), "", must=at_most(0), note="; ".join(wrong[:3])),
        Figure("impossible output or option: slowest, processor", data, slowest.seconds, "s", must=at_most(LIMIT),
               note=slowest.words, timed=True),
        Figure("folders written again, or by two processes at once: mixed runs", f"{count} folders, simulated",
               float(reruns(count)), "", must=at_most(0)),
    ]  # fmt: skip
