"""Wheels without files that only compilers, developers and readers need.

Pinocchio's wheels carry the C++ headers of all their libraries, static libraries, CMake files, programs, manuals, and
every library of Boost, some of them under three names: more than half of what Blender would unpack. Licences stay; a
wheel that was published without its licence text gets it from ``licences``, copied from the wheel's headers
(licences/README.md).
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

PREFIX = "cmeel.prefix"
"""The folder that Pinocchio's wheels share."""
NEVER_LOADED = {"include", "bin", "share", "cmake", "pkgconfig"}
"""Folders of that prefix that Python never reads."""
TESTS = {"test", "tests"}
FOR_DEVELOPERS = {".a", ".h", ".hpp", ".hxx", ".cmake", ".pxd", ".pyi"}
LICENCE = re.compile(r"licen[cs]e|copying|notice|authors", re.IGNORECASE)
LICENCE_TEXT = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
"""The name of a file that holds the text itself."""
LICENCES = Path(__file__).resolve().parent / "licences"
"""Texts of licences by the distribution that lacks its own."""
COPYRIGHT = re.compile(
    r"copyright[ \t:]*(?:\(c\)|©)?[ \t]*(?P<first>(?:19|20)\d\d)"
    r"(?:[ \t]*[-\u2013][ \t]*(?P<last>(?:19|20)\d\d))?,?[ \t]+(?:by[ \t]+)?(?P<owner>[^\W\d][^\n<]*)",
    re.IGNORECASE,
)
"""A notice of a licence text: years and owner."""
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
            _rewrite(whole, folder / wheel.name, dropped, missing_licence(wheel, set(whole.namelist()) - dropped))


def copyright_notices(wheels: Iterable[Path]) -> list[str]:
    """Notices "YEAR OWNER" or "YEAR-YEAR OWNER" of the licence texts of (light) wheels, sorted by owner, each once."""
    found = set()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as whole:
            for name in whole.namelist():
                if LICENCE_TEXT.search(PurePosixPath(name).name) and PurePosixPath(name).suffix != ".py":
                    for notice in COPYRIGHT.finditer(whole.read(name).decode("utf-8", errors="replace")):
                        years = notice["first"] + (f"-{notice['last']}" if notice["last"] else "")
                        owner = re.sub(r"\s+all(?: rights.*)?\s*$", "", notice["owner"], flags=re.IGNORECASE).strip(
                            " .,;*\r\t"
                        )
                        found.add(f"{years} {owner}")
    return sorted(found, key=lambda notice: (notice.partition(" ")[2].lower(), notice))


def missing_licence(wheel: Path, names: Collection[str]) -> dict[str, bytes]:
    """The licence text that a wheel lacks, by its name inside the wheel; empty where it has one.

    Raises:
        SystemExit: neither the wheel nor ``licences`` has one.
    """
    if any(LICENCE_TEXT.search(PurePosixPath(name).name) for name in names):
        return {}
    text = LICENCES / f"{wheel.name.split('-')[0].replace('_', '-').lower()}.txt"
    if not text.exists():
        raise SystemExit(f"{wheel.name} holds no licence text, which must be distributed with it: add {text.name}")
    own = next(name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info"))
    return {f"{own}/licenses/LICENSE": text.read_bytes()}


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
                sonames = {found.decode() for found in NAMED.findall(whole.read(name))}
                if is_prefix_library(name):
                    named.setdefault(PurePosixPath(name).name, set()).update(sonames)
                else:
                    roots |= sonames
    needed: set[str] = set()
    while roots:
        needed |= roots
        roots = {further for name in roots for further in named.get(name, ())} - needed
    return needed


def _rewrite(whole: zipfile.ZipFile, target: Path, dropped: Collection[str], added: Mapping[str, bytes]) -> None:
    """A wheel without some of its files and with others, with its record updated."""
    with zipfile.ZipFile(target, "w") as lighter:
        for member in whole.infolist():
            if member.filename in dropped:
                continue
            data = whole.read(member)
            if re.fullmatch(r"[^/]+\.dist-info/RECORD", member.filename):
                data = _record(data, dropped, added)
            lighter.writestr(member, data)
        for name, data in added.items():
            lighter.writestr(name, data)


def _record(record: bytes, dropped: Collection[str], added: Mapping[str, bytes]) -> bytes:
    """The record of remaining and added files."""
    rows = csv.reader(io.StringIO(record.decode("utf-8"), newline=""))
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerows(row for row in rows if row and row[0] not in dropped)
    for name, data in added.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        table.writerow([name, f"sha256={digest}", len(data)])
    return text.getvalue().encode("utf-8")
