"""Is the distribution ready to be published: built, checked by twine, and installed in environments with nothing else.

Rows of ``python -m benchmarks release``. Steps run outside the repository, with pip as it is set up on the machine.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.13")
"""Of Blender 4.5 and 5.2."""
PERSON = ("simulated_person", "--height", "1.76", "--mass", "71", "--sex", "male")
"""Of the sample study, as its README says, without the slow intervals."""


@dataclass(frozen=True)
class Step:
    """What was tried, whether it works, and a sentence about it."""

    what: str
    works: bool
    detail: str


class StepError(Exception):
    """Why a step does not work: the last line that its command printed."""


def try_distribution(folder: Path) -> Iterator[Step]:
    """Try every step in an empty folder, in the order in which a release needs them."""

    def build() -> str:
        _run(sys.executable, "-m", "hatchling", "build", "-d", folder / "tree", at=ROOT)
        return f"{_only(folder / 'tree', '*.tar.gz').stat().st_size / 1e6:.1f} MB"

    def build_from_source() -> str:
        source = _only(folder / "tree", "*.tar.gz")
        python = _environment(sys.executable, folder / "builder")
        _run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder / "source", source, at=folder)
        tree, rebuilt = (_contents(_only(folder / name, "*.whl")) for name in ("tree", "source"))
        if tree != rebuilt:
            raise StepError(f"the wheels differ in {sorted(dict(tree.items() ^ rebuilt.items()))[0]}")
        return f"{len(tree)} files equal to those of the tree's wheel"

    def check() -> str:
        _only(folder / "tree", "*.whl")
        python = _environment(sys.executable, folder / "twine")
        _run(python, "-m", "pip", "install", "-q", "twine", at=folder)
        _run(python, "-m", "twine", "check", "--strict", *sorted((folder / "tree").iterdir()), at=folder)
        return "source distribution and wheel"

    def install(version: str) -> str:
        found = runpy.run_path(str(ROOT / "dance"))["find_interpreters"](version)
        if not found:
            raise StepError(f"this machine has no Python {version}")
        python = _environment(found[0], folder / version)
        before = os.times()
        _run(python, "-m", "pip", "install", "-q", ".", at=ROOT)
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        samples = folder / f"samples {version}"
        _run(python.with_name("exciting-dance"), "samples", samples, at=folder)
        _run(
            python.with_name("exciting-dance"),
            "identify",
            *PERSON,
            "--output",
            folder / f"results {version}",
            at=samples,
        )
        size = sum(path.lstat().st_size for path in (folder / version).rglob("*") if path.is_file())
        return f"identifies the sample study; {size / 1e6:.0f} MB; pip took {seconds:.0f} s of processor time"

    yield _try("source distribution and wheel are built", build)
    yield _try("wheel from the source distribution", build_from_source)
    yield _try("twine check --strict", check)
    for version in PYTHONS:
        yield _try(f"pip install . on Python {version}", partial(install, version))


def _try(what: str, work: Callable[[], str]) -> Step:
    try:
        return Step(what, True, work())
    except StepError as error:
        return Step(what, False, str(error))


def _run(*words: str | Path, at: Path) -> None:
    """Run a command without variables that lead to this environment's packages."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run([str(word) for word in words], cwd=at, env=bare, capture_output=True, text=True)
    if done.returncode != 0:
        raise StepError((done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1])


def _environment(interpreter: str, folder: Path) -> Path:
    """Python of a new environment that has pip alone."""
    _run(interpreter, "-m", "venv", folder, at=folder.parent)
    return folder / "bin" / "python"


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise StepError(f"{len(found)} files {pattern}, since an earlier step failed")
    return found[0]


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
