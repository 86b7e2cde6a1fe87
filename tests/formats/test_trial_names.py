"""Names of trials."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from solver.base.errors import InvalidValue
from solver.formats.recording import find_recordings
from solver.formats.trial_names import distinct_names, printable_name
from solver.signals.trial import Recording

from .recording_files import standing_trc


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/walk.trc", "b/walk.trc"], ["a_walk", "b_walk"]),
        (["s1/markers/walk.trc", "s2/markers/walk.trc"], ["s1_walk", "s2_walk"]),
        (["walk.trc", "b/walk.trc"], ["walk", "b_walk"]),
        (["walk.trc", "walk.c3d"], ["walk", "walk_c3d"]),
        (["a/walk.trc", "b/walk.trc", "a_walk.trc"], ["a_walk_trc", "b_walk", "a_walk"]),
        (["a/Walk.trc", "b/walk.trc"], ["a_Walk", "b_walk"]),
        (["result.trc", "squat.trc"], ["result", "squat"]),
    ],
)
def test_no_two_trials_are_called_alike(files: list[str], names: list[str]) -> None:
    """Trials of one name get those of their folders; names that differ by their case alone are one name."""
    assert distinct_names([Path(file).stem for file in files], [Path(file) for file in files]) == names


def test_a_name_that_is_no_text_is_read_as_one() -> None:
    """Bytes that are no UTF-8 become letters, control characters underscores; other names stay."""
    assert printable_name(os.fsdecode(b"gr\xfc\xdfe\n")) == "grüße_"
    assert printable_name("grüße 1") == "grüße 1"


def test_a_trial_with_another_name_has_a_warning(tmp_path: Path) -> None:
    """A recording that is not called as its file says which file it is, in plain text."""
    for name in ("a/walk.trc", "b/walk.trc", os.fsdecode(b"caf\xe9.trc")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        standing_trc(tmp_path / "any.trc")
        (tmp_path / "any.trc").rename(tmp_path / name)
    found = {recording.name: recording.warnings for recording in find_recordings([tmp_path])}
    assert sorted(found) == ["a_walk", "b_walk", "café"]
    for name, warnings in found.items():
        assert f"this trial is called {name!r}" in warnings[0]
        warnings[0].encode("utf-8")


@pytest.mark.parametrize("name", ["", "..", "a/walk", "a\\walk", "C:walk", "walk\n", "walk\udce9", "w" * 256])
def test_a_recording_has_a_name_for_files(name: str) -> None:
    """A name that no file can have everywhere is refused before any work."""
    with pytest.raises(InvalidValue, match=r"is not the (name of a file|path of a file below its folder)"):
        Recording(name)
