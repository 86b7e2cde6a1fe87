"""Every reader first checks that the file exists."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.base.files import read_bytes
from solver.scene.timeline import TIMELINE
from solver.storage.npz_archive import read_archive

READERS = (read_bytes, read_archive, TIMELINE.read)


@pytest.mark.parametrize("read", READERS)
def test_a_pipe_is_refused_before_it_is_opened(read: Callable, tmp_path: Path) -> None:
    """To open a pipe that no one writes would wait for ever."""
    os.mkfifo(tmp_path / "pipe.npz")
    said: list[str] = []

    def run() -> None:
        with pytest.raises(InputError) as caught:
            read(tmp_path / "pipe.npz")
        said.append(str(caught.value))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10.0)
    assert "is a pipe or a device" in "".join(said)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", "does not exist"),
        ("file/inside", "does not exist"),
        (".", "is a folder"),
        ("a\0b", "cannot be read: .*embedded null"),
        ("a\ud800b", "cannot be read: .*surrogates"),
        ("a" * 300, "cannot be read: File name too long"),
    ],
)
def test_what_is_not_a_file_is_reported(read: Callable, name: str, said: str, tmp_path: Path) -> None:
    """Whoever reads: the same words for the same trouble."""
    (tmp_path / "file").write_text("text")
    with pytest.raises(InputError, match=said):
        read(tmp_path / name)
