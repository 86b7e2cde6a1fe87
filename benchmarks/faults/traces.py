"""Files written and network calls made by runs of the command line: by strace, or by the audit hooks of Python itself.

The hooks record what Python does, in every child process too; strace also records what libraries do in native code.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from solver.demo.robot import simulate_robot

from ..figures.figure import Figure, at_most

ROOT = Path(__file__).resolve().parents[2]
CALLS = (
    "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,"
    "truncate,mknod,mknodat"
)
STRACE = ("strace", "-f", "-y", "-qq", "-e", "signal=none", "-s", "4096", "-e", f"trace=%network,{CALLS}")
LINE = re.compile(r"\d+ +(\w+)\((.*)")
NAME = re.compile(r'(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
FAMILY = re.compile(r"\bAF_(?!UNIX|LOCAL|NETLINK|UNSPEC)\w+")
NAMED = {
    "/dev/null": "nowhere",
    "/dev/shm/sem.*": "semaphores of worker processes, unlinked once they are created",
    "*/__pycache__*": "Python's compiled modules",
}
"""Written outside the chosen folder, as the README says."""
SECONDS = 3.0
"""Of the recording that is identified."""
MINUTES = 15
"""A run of the demonstration may take under strace."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run did.

    Attributes:
        network: calls to other machines, and to this one by the network.
        written: files and folders that were made, changed or removed.
    """

    network: tuple[str, ...]
    written: tuple[str, ...]

    def outside(self, chosen: Path) -> tuple[str, ...]:
        """Paths written outside the folder of results, its journal and the named files."""
        own = (str(chosen), str(chosen.with_name(f".{chosen.name}.exciting_dance.part")))
        return tuple(
            path
            for path in self.written
            if not any(path == folder or path.startswith(f"{folder}/") for folder in own)
            and not any(fnmatch(path, pattern) for pattern in NAMED)
        )


def trace_with_strace(command: Sequence[str], folder: Path) -> Trace:
    """Trace a run in a folder by strace.

    Raises:
        RuntimeError: it failed.
    """
    notes = folder / "strace.txt"
    _run([*STRACE, "-o", str(notes), *command], folder, {})
    lines = notes.read_text(encoding="utf-8", errors="replace").splitlines()
    notes.unlink()
    return parse_strace(lines, folder)


def parse_strace(lines: Iterable[str], folder: Path) -> Trace:
    """Parse strace's output of a run that began in a folder."""
    network, written = set(), set()
    for line in lines:
        if (match := LINE.match(line)) is None or " = -1 " in line:
            continue
        call, rest = match.groups()
        if call not in CALLS.split(","):
            if FAMILY.search(rest):
                network.add(f"{call}({rest}")
        elif not call.startswith("open") or WRITES.search(rest):
            names = NAME.findall(rest)
            for start, name in names[1:] if "link" in call and len(names) == 2 else names:
                written.add(os.path.normpath(os.path.join(start or folder, name)))
    return Trace(tuple(sorted(network)), tuple(sorted(written)))


def trace_with_audit_hooks(command: Sequence[str], folder: Path) -> Trace:
    """Trace a run of Python in a folder by audit hooks, children included.

    Raises:
        RuntimeError: it failed.
    """
    notes = folder / "audit.txt"
    hooks = Path(__file__).parent / "audited"
    _run(command, folder, {"AUDIT_NOTES": str(notes)}, hooks)
    lines = notes.read_text(encoding="utf-8", errors="replace").splitlines()
    notes.unlink()
    events = {tuple(line.split("\t", 1)) for line in lines}
    network, written = (sorted(what for kind, what in events if kind == wanted) for wanted in ("network", "written"))
    return Trace(tuple(network), tuple(path for path in written if path != str(notes)))


def identify_command(folder: Path, output: str) -> list[str]:
    """Identify a short simulated robot, whose recordings are written into the folder, with two processes."""
    recorded = folder / "recorded"
    recorded.mkdir()
    simulate_robot(1, trials=("dance",), seconds=SECONDS).write(recorded)
    few = ["--no-cross-validation", "--jobs", "2", "--progress", "none"]
    options = ["--rig", "hrp2", "--filter", "human_8hz", *few]
    return [sys.executable, "-m", "solver", "identify", recorded.name, *options, "--output", output]


def rows(quick: bool) -> list[Figure]:
    """Rows for network and files of identify, and unless quick of the demonstration."""
    none = at_most(0)
    runs = ("identify",) if quick else ("identify", "demo")
    data = f"{' and '.join(runs)} of simulated data, strace"
    whole = [
        Figure("calls to the network", data, None, "calls", none),
        Figure("files written outside the chosen folder", data, None, "files", none),
    ]
    if shutil.which("strace") is None:
        return [Figure(f.what, f.data, None, f.unit, f.must, note="strace is not installed here") for f in whole]
    network: list[str] = []
    outside: list[str] = []
    for run in runs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            demo = [sys.executable, "-m", "solver", "demo", "--progress", "none", "--output", "out"]
            trace = trace_with_strace(identify_command(folder, "out") if run == "identify" else demo, folder)
            network += trace.network
            outside += trace.outside(folder / "out")
    found = (network, outside)
    return [
        Figure(f.what, f.data, len(each), f.unit, f.must, note="; ".join(each[:5])) for f, each in zip(whole, found)
    ]


def _run(command: Sequence[str], folder: Path, changes: dict[str, str], *paths: Path) -> None:
    own = {"PYTHONPATH": os.pathsep.join(map(str, (*paths, ROOT)))}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | own | changes, capture_output=True, text=True, timeout=60 * MINUTES
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-500:]}")
