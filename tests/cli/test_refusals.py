"""A refusal says what is wrong with the input at hand, and what does the work that was wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver.cli import main
from tests.fixed_base.arm import arm_text


@pytest.mark.parametrize(
    ("words", "content", "said"),
    [
        ("check {}/walk.bvh", "HIERARCHY", ("walk.bvh: is a recording (BVH)", "`retarget` it")),
        ("check {}/scene.timeline.npz", "cut", ("is no file of this program", "Write the dance again")),
        ("dance {}/arm.urdf --output {}/out", arm_text(), ("no two legs", "`excite` designs")),
        ("compare {}/gone walk.trc", "", ("gone: does not exist", "identify --output")),
    ],
)
def test_a_refusal_names_the_cause_and_the_way_out(
    words: str, content: str, said: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording is no dance, an arm has no legs, a missing folder does not exist: each in one line, code 2."""
    arguments = words.replace("{}", str(tmp_path)).split()
    if content:
        Path(arguments[1]).write_text(content, encoding="utf-8")
    assert main([*arguments, "--progress", "none"]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    for part in said:
        assert part in line
