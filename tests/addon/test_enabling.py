"""Enabling the extension imports little: what works on data is imported when a rig or a job needs it."""

from __future__ import annotations

import pytest

pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from benchmarks.extension import measure_enabling


def test_enabling_imports_no_numerics() -> None:
    """Registering and unregistering the add-on imports neither NumPy nor a reader, a rig or a drawing module, nor do
    panels where there is no rig; of the solver only plain Python is imported.
    """
    done = measure_enabling()
    assert {"addon.registration", "addon.operators.identify", "addon.panels.next_step"} <= done.modules
    assert "solver.base.errors" in done.modules
    numerics = (
        "numpy",
        "scipy",
        "gpu",
        "blf",
        "solver.formats.recording",
        "solver.skeleton.rig",
        "solver.values.motion",
        "addon.scene.armature",
    )
    others = (
        "addon.display.study",
        "addon.drawing.primitives",
        "addon.display.overlays",
        "addon.rehearsal.scene",
        "addon.live.session",
    )
    heavy = tuple(f"{part}." for part in (*numerics, *others))
    assert [name for name in sorted(done.modules) if f"{name}.".startswith(heavy)] == []
    packages = {name.rpartition(".")[0] for name in done.modules}
    assert len(done.modules - packages) <= 108  # a new operator or panel adds one
