"""Folders of results."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.errors import InputError
from solver.formats.folder import write_folder


def contents(folder: Path) -> dict[str, str]:
    """Text of every file below a folder, hidden ones included."""
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_folder_appears_whole(tmp_path: Path) -> None:
    """What was written inside stands at the path afterwards, and nothing else stays beside it."""
    with write_folder(tmp_path / "a" / "out") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "x").write_text("1")
        assert not (tmp_path / "a" / "out").exists()
    assert contents(tmp_path) == {"a/out/sub/x": "1"}


def fail(path: Path, error: type[BaseException]) -> None:
    """Write half of a folder, then stop."""
    with write_folder(path) as folder:
        (folder / "x").write_text("half")
        raise error("stop")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failure_leaves_nothing(error: type[BaseException], tmp_path: Path) -> None:
    """When the work fails or is stopped, not even the folders above it stay."""
    with pytest.raises(error):
        fail(tmp_path / "a" / "out", error)
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_kept(tmp_path: Path) -> None:
    """Writing again replaces files of the same name and touches no other; a failure changes none."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with write_folder(tmp_path / "out") as folder:
        (folder / "x").write_text("1")
    with pytest.raises(ValueError, match="stop"):
        fail(tmp_path / "out", ValueError)
    assert contents(tmp_path) == {"out/mine": "mine", "out/x": "1"}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """A file where the folder should be is an error that names it, and the file stays."""
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="out"), write_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out").read_text() == "mine"
