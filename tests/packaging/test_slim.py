"""Reduced wheels: which files are removed, which stay, and that the record is correct."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
REMOVED = {
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


def lightened(folder: Path, *, without: str = "") -> Path:
    """The reduced form of a wheel with all of these files except one."""
    wheel, lighter = folder / "alpha-1.0-py3-none-any.whl", folder / "lighter"
    files = {name: data for name, data in (KEPT | REMOVED | METADATA).items() if name != without}
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


def test_files_unused_by_python_are_removed(tmp_path: Path) -> None:
    """Headers, manuals, tests and unneeded libraries are removed; licences and loaded files stay."""
    names = set(zipfile.ZipFile(lightened(tmp_path)).namelist())
    assert names == {*KEPT, *METADATA, RECORD}


def test_record_lists_exactly_the_files(tmp_path: Path) -> None:
    """Every file has its digest and size, and no removed file is listed."""
    with zipfile.ZipFile(lightened(tmp_path)) as wheel:
        rows = list(csv.reader(io.StringIO(wheel.read(RECORD).decode())))
        assert {row[0] for row in rows} == set(wheel.namelist())
        recorded_files = {",".join(row) for row in rows if row[0] != RECORD}
        assert recorded_files == {recorded((name, wheel.read(name))) for name in wheel.namelist() if name != RECORD}


def test_pip_installs_the_reduced_wheel(tmp_path: Path) -> None:
    """An installer accepts the reduced wheel, and the package can be imported."""
    target = tmp_path / "site"
    command = [*build.pip(), "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*command, str(lightened(tmp_path))], check=True)
    done = subprocess.run([sys.executable, "-c", "import alpha; print(alpha.NAME)"], cwd=target, capture_output=True)
    assert done.stdout.split() == [b"alpha"]


LICENCE = "cmeel.prefix/share/doc/alpha/LICENSE"


def test_missing_licence_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel without a licence text gets the text stored with the build, and records it."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "alpha.txt").write_text("do what you like\n", encoding="utf-8")
    monkeypatch.setattr(slim, "LICENCES", tmp_path / "texts")
    own = "alpha-1.0.dist-info/licenses/LICENSE"
    with zipfile.ZipFile(lightened(tmp_path, without=LICENCE)) as wheel:
        assert wheel.read(own) == b"do what you like\n"
        assert recorded((own, wheel.read(own))) in wheel.read(RECORD).decode().splitlines()


def test_a_wheel_of_unknown_licence_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build stops if a licence text cannot be distributed with a wheel."""
    monkeypatch.setattr(slim, "LICENCES", tmp_path)
    with pytest.raises(SystemExit, match=r"no licence text.*add alpha\.txt"):
        lightened(tmp_path, without=LICENCE)


@pytest.mark.parametrize("name", [*build.PINOCCHIO, *build.FCL, *build.SHARED])
def test_every_bundled_wheel_has_its_licence_text(name: str) -> None:
    """The wheel contains the text, or the build adds one that is not empty."""
    text = slim.LICENCES / f"{name}.txt"
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    own = [file for file in files if slim.LICENCE_TEXT.search(file.name) and not slim.is_superfluous(file.as_posix())]
    assert own or len(text.read_text(encoding="utf-8")) > 500


def test_notices_are_read_from_licence_texts(tmp_path: Path) -> None:
    """Years and owner of every notice, each once and sorted by owner; sentences about copyright are none."""
    text = (
        "Copyright (c) 2014-2023, CNRS\n// Copyright 2010 Pallets. All rights reserved.\r\n"
        "The above copyright notice shall be included.\nCopyright (C) 2018 by An Author <a@example.org>\n"
    )
    wheels = []
    for name in ("alpha", "beta"):
        wheels.append(tmp_path / f"{name}-1.0-py3-none-any.whl")
        with zipfile.ZipFile(wheels[-1], "w") as whole:
            whole.writestr(f"{name}-1.0.dist-info/licenses/LICENSE", text)
            whole.writestr(f"{name}/module.py", "# Copyright 2001 Nobody\n")
    assert slim.copyright_notices(wheels) == ["2018 An Author", "2014-2023 CNRS", "2010 Pallets"]
