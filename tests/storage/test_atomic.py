"""Outputs appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.storage.atomic import write_atomically


def break_off(target: Path) -> None:
    """Write half a file, then be stopped."""
    with write_atomically(target) as stream:
        stream.write("half")
        raise KeyboardInterrupt


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    """When writing fails half way, the file is what it was and nothing lies beside it."""
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        break_off(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(("binary", "content"), [(False, "Grüße\n"), (True, b"\x00\xff")])
def test_a_finished_write_replaces_the_file(tmp_path: Path, binary: bool, content: str | bytes) -> None:
    """Text is written as UTF-8, bytes as they are."""
    target = tmp_path / "out"
    target.write_text("old")
    with write_atomically(target, binary=binary) as stream:
        stream.write(content)
        assert target.read_text() == "old"
    assert target.read_bytes() == (content if isinstance(content, bytes) else content.encode())


def test_a_missing_folder_is_an_input_error(tmp_path: Path) -> None:
    """A folder that does not exist is named, and none is made."""
    with pytest.raises(InputError, match="nowhere"), write_atomically(tmp_path / "nowhere" / "out"):
        pass
    assert not (tmp_path / "nowhere").exists()
