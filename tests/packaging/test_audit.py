"""Wheels of a zip that are missing, of another platform or Python, or need the network are found."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import audit  # type: ignore[import-not-found]  # noqa: E402
import build  # type: ignore[import-not-found]  # noqa: E402

GOOD = {"one-1-cp313-cp313-win_amd64.whl": ["two; extra == 'all'", "three", "numpy"], "three-2-py3-none-any.whl": []}


def zip_of(
    folder: Path, wheels: dict[str, list[str]], listed: list[str] | None = None, size: int = 0, generated: str = ""
) -> Path:
    """A zip as Blender's tool makes it, with wheels that hold nothing but their requirements."""
    path = folder / "extension.zip"
    names = list(wheels) if listed is None else listed
    rows = ", ".join(f'"./wheels/{name}"' for name in names)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("blender_manifest.toml", f'platforms = ["windows-x64"]\nwheels = [{rows}]\n{generated}')
        archive.writestr("filling", b"\0" * size)
        for name, needs in wheels.items():
            held = BytesIO()
            with zipfile.ZipFile(held, "w") as wheel:
                lines = ["Metadata-Version: 2.1", *(f"Requires-Dist: {need}" for need in needs)]
                wheel.writestr(f"{'-'.join(name.split('-')[:2])}.dist-info/METADATA", "\n".join(lines) + "\n")
            archive.writestr(f"wheels/{name}", held.getvalue())
    return path


def test_a_complete_zip_has_no_problem(tmp_path: Path) -> None:
    """Wheels of the platform and the Python, or pure ones, with all that they require."""
    assert audit.find_problems(zip_of(tmp_path, GOOD), "windows-x64", "3.13") == []


@pytest.mark.parametrize(
    ("wheels", "words"),
    [
        ({"one-1-cp313-cp313-manylinux_2_28_x86_64.whl": []}, "is not for Python 3.13 on windows-x64"),
        ({"one-1-cp311-cp311-win_amd64.whl": []}, "is not for Python 3.13 on windows-x64"),
        ({"one-1-cp313-cp313-win_amd64.whl": ["three"]}, "requires three, which is not in the zip"),
        ({"one-1-cp313-cp313-win_amd64.whl": ["dll; sys_platform == 'win32'"]}, "requires dll"),
    ],
)
def test_a_wheel_that_does_not_fit_is_named(tmp_path: Path, wheels: dict[str, list[str]], words: str) -> None:
    """Of Linux, of another Python, or with a requirement that only the network could meet."""
    (problem,) = audit.find_problems(zip_of(tmp_path, wheels), "windows-x64", "3.13")
    assert words in problem


def test_an_unlisted_wheel_and_another_platform_are_found(tmp_path: Path) -> None:
    """The manifest lists every wheel and names the platform."""
    path = zip_of(tmp_path, GOOD, listed=list(GOOD)[:1])
    assert any("three-2" in problem for problem in audit.find_problems(path, "windows-x64", "3.13"))
    assert any("not linux-x64" in problem for problem in audit.find_problems(path, "linux-x64", "3.13"))


def test_zips_built_together_are_judged_by_their_own_table(tmp_path: Path) -> None:
    """Blender's tool repeats the wheels of all platforms, and adds a table of those that the zip is for."""
    together = [*GOOD, "one-1-cp313-cp313-manylinux_2_28_x86_64.whl"]
    rows = ", ".join(f'"./wheels/{name}"' for name in GOOD)
    own = f'[build.generated]\nplatforms = ["windows-x64"]\nwheels = [{rows}]\n'
    assert audit.find_problems(zip_of(tmp_path, GOOD, together, generated=own), "windows-x64", "3.13") == []
    (problem,) = audit.find_problems(zip_of(tmp_path, GOOD, together), "windows-x64", "3.13")
    assert "manylinux_2_28_x86_64.whl is not in both the manifest and the zip" in problem


def test_a_zip_that_is_too_large_is_found(tmp_path: Path) -> None:
    """More than 60 MB for Windows."""
    (problem,) = audit.find_problems(zip_of(tmp_path, GOOD, size=61_000_000), "windows-x64", "3.13")
    assert "MB, more than 60" in problem


def test_one_command_checks_the_zips_of_all_platforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for every platform and Python: complete, wrong or missing; the status says whether all are complete."""
    zip_of(tmp_path, GOOD).rename(tmp_path / "exciting_dance-1.0.0-windows_x64-py313.zip")
    zip_of(tmp_path, GOOD).rename(tmp_path / "exciting_dance-1.0.0-linux_x64-py313.zip")
    assert audit.main([str(tmp_path)]) == 1
    lines = {tuple(line.split()[:3]): line for line in capsys.readouterr().out.splitlines()}
    assert len(lines) == len(build.PLATFORMS) * len(build.BLENDERS)
    assert lines["windows-x64", "Python", "3.13"].endswith("complete")
    assert "not linux-x64" in lines["linux-x64", "Python", "3.13"]
    assert "missing" in lines["macos-arm64", "Python", "3.11"]


def test_windows_gets_the_engine_that_has_wheels() -> None:
    """FCL instead of Pinocchio on Windows alone; all else is the same everywhere."""
    windows, linux = build.packages("windows-x64"), build.packages("linux-x64")
    assert not set(windows) & set(build.PINOCCHIO)
    assert set(windows) - set(linux) == set(build.FCL)
    assert set(linux) - set(windows) == set(build.PINOCCHIO)


@pytest.mark.parametrize("path", sorted((ROOT / "dist").glob("*windows*.zip")) or [None])
def test_built_zips_for_windows_install_without_network(path: Path | None) -> None:
    """Zips that were built for Windows, opened."""
    if path is None:
        pytest.skip("no zip for Windows in dist: packaging/build.py --platform windows-x64")
    python = "3.11" if "py311" in path.name else "3.13"
    assert audit.find_problems(path, "windows-x64", python) == []
