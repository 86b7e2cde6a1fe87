"""FBX and glTF are read through Blender: the script of docs/formats.md, run as it is written there."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import solver
from solver.demo.samples import write_samples
from solver.signals.trial import Recording

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="Blender's module is not installed")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
EXPORT = """
import sys
import bpy

source, target = sys.argv[-2:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_anim.bvh(filepath=source, update_scene_fps=True, update_scene_duration=True)
if target.endswith(".fbx"):
    bpy.ops.export_scene.fbx(filepath=target, add_leaf_bones=False)
else:
    bpy.ops.export_scene.gltf(filepath=target, export_animation_mode="ACTIVE_ACTIONS")
sys.stdout.flush()
"""
LEAVE = "\nimport os\nos._exit(0)  # Blender's module sometimes never returns from its exit handlers\n"


@pytest.fixture(scope="module")
def dance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The BVH of the sample study."""
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder / "samples")
    return next((folder / "samples").rglob("*.bvh"))


@pytest.mark.parametrize(("ending", "start", "tolerance"), [("fbx", 0.0, 0.01), ("glb", 0.04, 0.5)])
def test_an_animation_goes_through_blender(
    dance: Path, tmp_path: Path, ending: str, start: float, tolerance: float
) -> None:
    """The elbow bends as in the BVH that the file was made of; glTF's time begins a frame earlier, and Blender samples
    it at its own rate."""
    found = re.search(r"```python\n(# blender -b .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    between, converted = tmp_path / f"dance.{ending}", tmp_path / "dance.bvh"
    for code, files in ((EXPORT, (dance, between)), (found[1], (between, converted))):
        script = tmp_path / "script.py"
        script.write_text(code + LEAVE, encoding="utf-8")
        subprocess.run([sys.executable, str(script), *map(str, files)], check=True, capture_output=True, timeout=300)
    (before,), (after,) = solver.load([dance]), solver.load([converted])
    assert len(after.segments.names) == len(before.segments.names)
    times, angles = elbow_angles(before)
    own_times, own_angles = elbow_angles(after)
    inside = times + start <= own_times[-1]
    assert np.ptp(angles) > 30.0
    np.testing.assert_allclose(np.interp(times + start, own_times, own_angles)[inside], angles[inside], atol=tolerance)


def elbow_angles(recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) [s], and angles (N,) [degrees] between upper arm and forearm."""
    segments = recording.segments
    upper, lower = (segments.rotations[:, segments.names.index(f"right_{name}")] for name in ("upper_arm", "forearm"))
    turn = upper.swapaxes(1, 2) @ lower
    return segments.times, np.degrees(np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)))
