"""Enabling the extension imports little: what works on data is imported when a rig or a job needs it."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="bpy is not installed: pip install 'exciting-dance[blender]'")

from addon.base import solver_api
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
    assert len(done.modules - packages) <= 107  # a new operator or panel adds one


def test_names_of_the_solver_are_those_that_type_checkers_see() -> None:
    """Every name that is imported from the solver late exists, is the solver's own, and is known to type checkers."""
    tree = ast.parse(Path(solver_api.__file__).read_text(encoding="utf-8"))
    (seen,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(seen.test) == "TYPE_CHECKING"
    found = {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in seen.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(solver_api.__all__) == set(found)
    for name, (module, own) in found.items():
        home = import_module(module)
        assert getattr(solver_api, name) is (
            getattr(home, own) if hasattr(home, own) else import_module(f"{module}.{own}")
        )
    with pytest.raises(AttributeError, match="no_such_name"):
        solver_api.no_such_name  # noqa: B018
