"""Folders of results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.storage.manifest import MANIFEST_FILE, check_complete
from solver.storage.output_folder import read_consistent, reserve_folder, write_folder


def contents(folder: Path) -> dict[str, str]:
    """Text of every file below a folder, hidden ones included, but the manifests."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST_FILE)
    return {p.relative_to(folder).as_posix(): p.read_text() for p in files}


def write(path: Path, *, adding: bool = False, **files: str) -> None:
    """Write a folder of these files; two underscores stand for a slash."""
    with write_folder(path, keep_previous=adding) as folder:
        for name, text in files.items():
            file = folder / name.replace("__", "/")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)


def test_folder_appears_whole(tmp_path: Path) -> None:
    """What was written inside stands at the path afterwards, and nothing else stays beside it."""
    with write_folder(tmp_path / "a" / "out") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "x").write_text("1")
        assert not (tmp_path / "a" / "out" / "sub").exists()
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
    write(tmp_path / "out", x="1")
    with pytest.raises(ValueError, match="stop"):
        fail(tmp_path / "out", ValueError)
    assert contents(tmp_path) == {"out/mine": "mine", "out/x": "1"}
    write(tmp_path / "out", x="2")
    assert contents(tmp_path) == {"out/mine": "mine", "out/x": "2"}


def test_what_the_new_run_does_not_have_goes(tmp_path: Path) -> None:
    """Files of the run before go, with the folders that they leave empty; files that came from elsewhere stay."""
    write(tmp_path, walk="1", squat="1", sub__one="1", both__ours="1")
    (tmp_path / "both" / "mine").write_text("mine")
    write(tmp_path, walk="2")
    assert contents(tmp_path) == {"walk": "2", "both/mine": "mine"}
    assert not (tmp_path / "sub").exists()


def test_adding_keeps_the_run_before(tmp_path: Path) -> None:
    """A run that adds a file keeps the others; they are still known as this program's afterwards."""
    write(tmp_path, walk="1", report="1")
    write(tmp_path, adding=True, report="2")
    assert contents(tmp_path) == {"walk": "1", "report": "2"}
    write(tmp_path, squat="3")
    assert contents(tmp_path) == {"squat": "3"}


@pytest.mark.parametrize("change", ["made", "edited", "linked"])
def test_a_file_that_is_not_ours_is_never_replaced(change: str, tmp_path: Path) -> None:
    """A user's file, a changed result and a link prevent a reservation; later, results go to another folder."""
    out, mine = tmp_path / "out", tmp_path / "mine"
    mine.write_text("mine")
    out.mkdir()
    if change != "made":
        write(out, x="1")
        (out / "x").unlink()

    def write_while_somebody_writes() -> None:
        with write_folder(out) as folder:
            (folder / "x").write_text("2")
            os.symlink(mine, out / "x") if change == "linked" else (out / "x").write_text("mine")

    with pytest.raises(InputError, match="was created meanwhile"):
        write_while_somebody_writes()
    kept = contents(tmp_path / "out-2")
    assert kept == {"x": "2"}
    with pytest.raises(InputError, match="or was changed since: the results"), reserve_folder(out, ["x"]):
        pass
    (out / "y").write_text("mine")
    with (
        pytest.raises(InputError, match="or was changed since, as were y"),
        reserve_folder(out, ["x", "y"]),
    ):
        pass
    assert (out / "x").read_text() == mine.read_text() == "mine"


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """A file where the folder should be is an error that names it, and the file stays."""
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="out"), write_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out").read_text() == "mine"


def test_a_nested_folder_is_part_of_the_whole(tmp_path: Path) -> None:
    """A folder that was written within another goes with it; one that a user's run put there does not."""
    with write_folder(tmp_path / "out") as folder:
        write(folder / "person", x="1")
        write(folder / "robot", x="1")
    write(tmp_path / "out" / "own", x="1")
    write(tmp_path / "out" / "robot", adding=True, scene="1")
    with write_folder(tmp_path / "out") as folder:
        write(folder / "person", y="2")
    assert contents(tmp_path / "out") == {"person/y": "2", "own/x": "1"}


def test_a_linked_folder_stays_a_link(tmp_path: Path) -> None:
    """Results go where a link leads, before and after it exists."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for text in ("1", "2"):
        write(tmp_path / "link", x=text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "x").read_text() == text


def test_a_file_put_there_meanwhile_stays(tmp_path: Path) -> None:
    """Somebody may put a file into the folder while the work goes on."""
    with write_folder(tmp_path / "out") as folder:
        (folder / "x").write_text("1")
        (tmp_path / "out" / "mine").write_text("mine")
    assert contents(tmp_path) == {"out/x": "1", "out/mine": "mine"}


def test_one_process_claims_once(tmp_path: Path) -> None:
    """Within a claim its own process writes the folder; a second claim of it is refused."""
    with reserve_folder(tmp_path / "out"):
        with pytest.raises(InputError, match="already being written by this process"), reserve_folder(tmp_path / "out"):
            pass
        write(tmp_path / "out", x="1")
        write(tmp_path / "out", x="2")
    assert contents(tmp_path) == {"out/x": "2"}


def test_reading_sees_one_run(tmp_path: Path) -> None:
    """What is read while the folder is replaced is read again."""
    write(tmp_path, x="1", y="1")
    runs = iter(("2", "3"))

    def read() -> tuple[str, str]:
        first = (tmp_path / "x").read_text()
        if (text := next(runs, None)) is not None:
            write(tmp_path, x=text, y=text)
        return first, (tmp_path / "y").read_text()

    assert read_consistent(tmp_path, read) == ("3", "3")


@pytest.mark.parametrize("count", range(8))
def test_a_file_that_cannot_be_moved_changes_nothing(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the system refuses any of the moves, the run before is whole again, and the error says so in one line."""
    write(tmp_path, x="1", walk="1", part__y="1")
    before, left, replace = contents(tmp_path), count, os.replace

    def refuse(source: str, target: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        write(tmp_path, x="2", squat="2", part__y="2")
    assert contents(tmp_path) == before
    assert check_complete(tmp_path) == {"x", "walk", "part/y"}
