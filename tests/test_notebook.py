"""The notebook runs as it is stored, and shows figures."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "samples.ipynb"


def test_the_notebook_runs_and_shows_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs in order, in an empty folder; three show a figure, and one a table. No output is stored."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    names: dict[str, object] = {}
    shown = [markup for cell in cells if (markup := show_last_value("".join(cell["source"]), names))]
    assert sum(markup.lstrip().startswith("<svg") for markup in shown) == 2
    assert any("<table" in markup for markup in shown)
    assert (tmp_path / "results" / "report.html").is_file()


def show_last_value(source: str, names: dict[str, object]) -> str:
    """Run a cell; what a notebook would show of its last line: HTML, SVG or text."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NOTEBOOK.name, "exec"), names)
    if last is None:
        return ""
    assert isinstance(last, ast.Expr)
    value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
    for method in ("_repr_html_", "_repr_svg_"):
        if hasattr(value, method):
            return str(getattr(value, method)())
    return repr(value)
