"""``compare`` on folders that are not what they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.cli import main
from solver.rigs import hoap3
from solver.scene.result import RESULT, SceneResult
from solver.scene.rig import write_rig


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "settings: lacks the entry 'filter'"),
        ({"filter": 3}, "settings.filter: 3 is not text"),
        ({"filter": "walk", "planted_foot": 1}, "settings.planted_foot: 1 is not text"),
    ],
)
def test_a_result_without_its_settings_is_one_error(
    settings: dict[str, object], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hand-made result that does not tell its filter is named, with the entry that it lacks."""
    rig = hoap3()
    RESULT.write(tmp_path / "result.json", SceneResult(rig.prior, rig.prior, settings=settings))
    write_rig(tmp_path / "rig.json", rig)
    assert main(["compare", str(tmp_path), str(tmp_path / "walk.trc")]) != 0
    told = capsys.readouterr().err
    assert f"result.json, {said}" in told
    assert "Identify again" in told
    assert "Traceback" not in told
