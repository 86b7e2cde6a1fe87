"""``track`` of a skeleton animation: a person's motion, and the mapping that was used."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from solver.cli import main
from solver.scene.motion_record import MOTION
from solver.tracking.bone_mapping import MAPPING
from tests.formats.skeletons import LAFAN1, bvh_text

FRAMES = 30


def test_a_bvh_file_becomes_a_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person of the stature that is stated follows it; the mapping can be saved, and named again."""
    still = np.tile(np.eye(3), (FRAMES, 1, 1))
    root = np.tile([0.0, 0.0, 0.95], (FRAMES, 1))
    dance, bones = tmp_path / "dance.bvh", tmp_path / "bones.json"
    dance.write_text(bvh_text(LAFAN1, dict.fromkeys(LAFAN1.links, still), root), encoding="utf-8")
    person = ["--height", "1.75", "--mass", "70", "--sex", "male", "--progress", "none"]
    files = ["track", str(dance), *person, "--output", str(tmp_path / "tracked")]
    assert main([*files, "--save-mapping", str(bones)]) == 0
    assert re.search(rf"left_thigh.*\ndance +{FRAMES}\b", capsys.readouterr().out, re.DOTALL)
    mapping = MAPPING.read(bones)
    assert (mapping.links[0], mapping.segments[0]) == ("pelvis", "Hips")
    assert len(MOTION.read(tmp_path / "tracked" / "dance.motion.npz").motion) == FRAMES
    assert main([*files[:-1], str(tmp_path / "again"), "--mapping", str(bones)]) == 0
    assert main([*files, "--mapping", str(dance)]) == 2
    assert "dance.bvh" in capsys.readouterr().err
