"""The animator's tour, without a window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

ROOT = Path(__file__).resolve().parents[2]


def test_the_animators_tour_succeeds(tmp_path: Path) -> None:
    """Adding a rig, posing it between two postures, and designing a dance do what the tutorial says, in one session."""
    words = [sys.executable, str(ROOT / "packaging" / "tour.py"), "--", "--animator", "--output", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All 5 steps are done" in done.stdout
