"""Rewrite requirements.txt from pyproject.toml: every pin, by name and version only, for Python 3.11 and 3.13.

    ./dance python packaging/pins.py

uv resolves both Pythons at once. Its lock file names the hosts that it queried, so it is not kept in the repository;
what is stored is the list of names and versions. uv cannot express "3.11 or 3.13, not 3.12" in its markers without
naming 3.12, which the environments of pyproject.toml already exclude: that marker is dropped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_312 = "python_full_version != '3.12.*'"
EXPORT = ("export", "--no-hashes", "--no-header", "--no-annotate", "--all-extras", "--quiet")


def uv() -> str:
    """The uv beside this Python, or on the PATH."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        sys.exit("pins: uv is needed: run ./dance setup first")
    return found


def without_312(line: str) -> str:
    """A pin without the marker that excludes Python 3.12."""
    line = line.replace(f"{NOT_312} and ", "").replace(f" and {NOT_312}", "")
    return line.replace(f" ; {NOT_312}", "")


def main() -> None:
    """Resolve, export, write."""
    subprocess.run([uv(), "lock"], cwd=ROOT, check=True)
    exported = subprocess.run([uv(), *EXPORT], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    pins = [without_312(line) for line in exported.splitlines() if line.strip()]
    (ROOT / "requirements.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    print(f"requirements.txt: {len(pins)} pins")


if __name__ == "__main__":
    main()
