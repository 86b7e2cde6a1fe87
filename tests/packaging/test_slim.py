"""Wheels made lighter: what goes, what stays, and that the record still tells the truth."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import build  # type: ignore[import-not-found]  # noqa: E402
import slim  # type: ignore[import-not-found]  # noqa: E402

SITE = "cmeel.prefix/lib/python3.11/site-packages"
KEPT = {
    "alpha/__init__.py": b"NAME = 'alpha'\n",
    f"{SITE}/alpha_binding.cpython-311.so": b"\x7fELF\0libdirect.so.1\0libc.so.6\0",
    f"{SITE}/alpha/include/table.py": b"",
    "cmeel.prefix/lib/libdirect.so.1": b"\x7fELF\0libdirect.so.1\0@rpath/libindirect.2.dylib\0",
    "cmeel.prefix/lib/libindirect.2.dylib": b"\xcf\xfa\xed\xfe",
    "cmeel.prefix/share/doc/alpha/LICENSE": b"as is",
}
GONE = {
    "cmeel.prefix/include/alpha/alpha.hpp": b"#pragma once",
    "cmeel.prefix/include/alpha/plain": b"#pragma once",
    "cmeel.prefix/lib/libdirect.so": b"\x7fELF\0libdirect.so.1\0",
    "cmeel.prefix/lib/libnobody.so.1": b"\x7fELF\0libnobody.so.1\0liblonely.so.3\0",
    "cmeel.prefix/lib/liblonely.so.3": b"\x7fELF\0liblonely.so.3\0",
    "cmeel.prefix/lib/libalpha.a": b"!<arch>",
    "cmeel.prefix/lib/cmake/alpha/alphaTargets.cmake": b"",
    "cmeel.prefix/lib/pkgconfig/alpha.pc": b"",
    "cmeel.prefix/share/doc/alpha/manual.txt": b"",
    "cmeel.prefix/bin/alpha": b"",
    "alpha/tests/test_alpha.py": b"",
    "alpha/alpha.pyi": b"",
}
METADATA = {
    "alpha-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: alpha\nVersion: 1.0\n",
    "alpha-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
RECORD = "alpha-1.0.dist-info/RECORD"


def lightened(folder: Path) -> Path:
    """The lighter form of a wheel with all of the above."""
    wheel, lighter = folder / "alpha-1.0-py3-none-any.whl", folder / "lighter"
    files = KEPT | GONE | METADATA
    with zipfile.ZipFile(wheel, "w") as whole:
        for name, data in files.items():
            whole.writestr(name, data)
        whole.writestr(RECORD, "".join(f"{row}\n" for row in [*map(recorded, files.items()), f"{RECORD},,"]))
    lighter.mkdir()
    slim.slim([wheel], lighter)
    return lighter / wheel.name


def recorded(file: tuple[str, bytes]) -> str:
    """A file's line in a wheel's record."""
    name, data = file
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def test_what_python_never_reads_goes(tmp_path: Path) -> None:
    """Headers, manuals, tests and libraries that no module needs are gone; licences and what is loaded stay."""
    names = set(zipfile.ZipFile(lightened(tmp_path)).namelist())
    assert names == {*KEPT, *METADATA, RECORD}


def test_the_record_lists_exactly_what_is_there(tmp_path: Path) -> None:
    """Every file with its true digest and size, and no file that went."""
    with zipfile.ZipFile(lightened(tmp_path)) as wheel:
        rows = list(csv.reader(io.StringIO(wheel.read(RECORD).decode())))
        assert {row[0] for row in rows} == set(wheel.namelist())
        told = {",".join(row) for row in rows if row[0] != RECORD}
        assert told == {recorded((name, wheel.read(name))) for name in wheel.namelist() if name != RECORD}


def test_pip_installs_it(tmp_path: Path) -> None:
    """An installer accepts the lighter wheel, and the package imports."""
    target = tmp_path / "site"
    command = [*build.pip(), "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*command, str(lightened(tmp_path))], check=True)
    done = subprocess.run([sys.executable, "-c", "import alpha; print(alpha.NAME)"], cwd=target, capture_output=True)
    assert done.stdout.split() == [b"alpha"]
