"""Wheels without what only compilers, developers and readers need.

Pinocchio's wheels carry the C++ headers of all their libraries, static libraries, CMake files, programs, manuals, and
every library of Boost, some of them under three names: more than half of what Blender would unpack. Licences stay.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

PREFIX = "cmeel.prefix"
"""The folder that Pinocchio's wheels share."""
NEVER_LOADED = {"include", "bin", "share", "cmake", "pkgconfig"}
"""Folders of that prefix that Python never reads."""
TESTS = {"test", "tests"}
FOR_DEVELOPERS = {".a", ".h", ".hpp", ".hxx", ".cmake", ".pxd", ".pyi"}
LICENCE = re.compile(r"licen[cs]e|copying|notice|authors", re.IGNORECASE)
LIBRARY = re.compile(r"lib[^/]+\.(?:so(?:\.\d+)*|(?:\d+\.)*dylib)")
NAMED = re.compile(rb"[\0/](lib[\w.+-]+\.(?:so[.\d]*|dylib))(?=\0)")
"""A shared library's name as the tables of ELF and Mach-O files hold it, with or without a folder."""


def slim(wheels: Iterable[Path], folder: Path) -> None:
    """Write lighter wheels of the same names into a folder.

    Args:
        wheels: all that are loaded together: a library stays if any of them needs it.
        folder: exists.
    """
    wheels = list(wheels)
    needed = needed_libraries(wheels)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as whole:
            dropped = {name for name in whole.namelist() if is_superfluous(name) or is_unused(name, needed)}
            _rewrite(whole, folder / wheel.name, dropped)


def is_superfluous(name: str) -> bool:
    """True for a file of a wheel that nothing reads when Python runs."""
    path = PurePosixPath(name)
    if LICENCE.search(path.name) or path.parts[0].endswith(".dist-info"):
        return False
    if path.suffix in FOR_DEVELOPERS or TESTS & set(path.parts[:-1]):
        return True
    return path.parts[0] == PREFIX and "site-packages" not in path.parts and bool(NEVER_LOADED & set(path.parts[1:-1]))


def is_unused(name: str, needed: Collection[str]) -> bool:
    """True for a shared library of the prefix that no module needs, itself or through others."""
    return is_prefix_library(name) and PurePosixPath(name).name not in needed


def is_prefix_library(name: str) -> bool:
    """True for a shared library that other binaries find in the shared folder; Python's own modules are none."""
    path = PurePosixPath(name)
    return path.parts[0] == PREFIX and "site-packages" not in path.parts and bool(LIBRARY.fullmatch(path.name))


def needed_libraries(wheels: Iterable[Path]) -> set[str]:
    """Names of the shared libraries that Python's modules in these wheels load, directly or through others."""
    named: dict[str, set[str]] = {}
    roots: set[str] = set()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as whole:
            for name in whole.namelist():
                if is_superfluous(name) or not re.search(r"\.(?:so|dylib)\b", name):
                    continue
                told = {found.decode() for found in NAMED.findall(whole.read(name))}
                if is_prefix_library(name):
                    named.setdefault(PurePosixPath(name).name, set()).update(told)
                else:
                    roots |= told
    needed: set[str] = set()
    while roots:
        needed |= roots
        roots = {further for name in roots for further in named.get(name, ())} - needed
    return needed


def _rewrite(whole: zipfile.ZipFile, target: Path, dropped: Collection[str]) -> None:
    """A wheel without some of its files, and without their lines in its record."""
    with zipfile.ZipFile(target, "w") as lighter:
        for member in whole.infolist():
            if member.filename in dropped:
                continue
            data = whole.read(member)
            if re.fullmatch(r"[^/]+\.dist-info/RECORD", member.filename):
                data = _record_without(data, dropped)
            lighter.writestr(member, data)


def _record_without(record: bytes, dropped: Collection[str]) -> bytes:
    rows = csv.reader(io.StringIO(record.decode("utf-8"), newline=""))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(row for row in rows if row and row[0] not in dropped)
    return text.getvalue().encode("utf-8")
