"""The animator's tour, without a window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from solver.character.character import CHARACTER
from tests.character.synthetic import make_character

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_animators_tour_succeeds(tmp_path: Path) -> None:
    """Adding a rig, posing it between two postures, and designing a dance do what the tutorial says, in one session;
    so do a foreign motion, a second rig, twelve changes and a foreign character."""
    assert "All 8 steps are done" in printed("--animator", "--output", str(tmp_path))


def test_the_tour_of_a_character_succeeds(tmp_path: Path) -> None:
    """A character becomes a rig, and its pelvis and hand reach the places where they are dragged."""
    file = CHARACTER.write(tmp_path / "dancer.npz", make_character("Mixamo", spacing=0.08))
    assert "All 1 steps are done" in printed("--character", str(file), "--output", str(tmp_path))


def printed(*options: str) -> str:
    """What the tour prints if it succeeds."""
    words = [sys.executable, str(ROOT / "packaging" / "tour.py"), "--", *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
