"""The first result of the demonstration."""

from __future__ import annotations

from pathlib import Path

from solver.demo.run import FIRST, identify_first
from solver.scene.result import RESULT
from solver.scene.study_folder import RESULT_FILE
from solver.storage.output_folder import write_folder


def test_the_first_look_names_its_result_and_stays(tmp_path: Path) -> None:
    """The sentence names a file that exists; the mass is right to 1 %; the demonstration's own files leave it there."""
    output = tmp_path / "demo"
    named = Path(identify_first(output, seed=2).partition(": ")[2])
    assert named.is_file()
    assert named.parent == output / FIRST
    result = RESULT.read(output / FIRST / RESULT_FILE)
    assert abs(result.parameters.total_mass - 71.0) < 0.71
    with write_folder(output) as building:
        (building / "more.txt").write_text("more")
    assert named.is_file()
    assert (output / "more.txt").is_file()
