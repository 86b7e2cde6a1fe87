"""The table of inputs tells cells that are as they must be from others."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.inputs import group_figure, run_command


@pytest.mark.parametrize(
    ("words", "refused", "is_right"),
    [
        ("rig hoap3 --output {out}/rig.json", "", True),
        ("rig hoap3 --output {out}/rig.json", "unknown", False),
        ("rig nobody --output {out}/rig.json", "", False),
        ("rig nobody --output {out}/rig.json", "hoap3", True),
        ("rig nobody --output {out}/rig.json", "gravity", False),
    ],
)
def test_a_cell_passes_or_is_refused_for_its_reason(words: str, refused: str, is_right: bool, tmp_path: Path) -> None:
    """What must pass passes, and what must be refused is refused in the stated words; else the cell says why not."""
    assert (run_command(words.format(out=tmp_path), refused) == "") is is_right


def test_bones_of_many_programs_are_all_known(shared_data: Path) -> None:
    """The group of names has a cell for each convention, and none is wrong."""
    figure = group_figure("names", shared_data)
    assert figure.value == 1.0
    assert figure.note == "29 cells"
