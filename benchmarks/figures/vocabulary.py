"""Words outside the field's vocabulary in what people read: names, messages, labels, help and headings."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .structure import ROOT, sources

QUAINT = {
    "afresh", "anew", "aside", "asides", "asked", "asking", "asks", "astride", "belief", "beliefs", "believe",
    "believed", "believes", "believing", "borne", "complaint", "complaints", "doing", "doings", "doubt", "doubted",
    "doubtful", "doubts", "felt", "forgiven", "giving", "gone", "hopeless", "likeliest", "nestled", "programme",
    "programmes", "rival", "rivals", "spoiled", "spoilt", "stood", "tell", "telling", "tells", "told",
}  # fmt: skip
"""Words for which the field has its own: note, report, requested, weight, baseline, residual, program."""
STORED = {"exciting_dance_told"}
"""RNA property in users' scenes."""
PYTHON = {"tell"}
"""Attributes of Python's own streams."""
WORD = re.compile(r"[A-Za-z][a-z]*")
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")


def words(text: str) -> list[str]:
    """Words of a name or a sentence; ``frequency_weights`` and ``FrequencyWeights`` are two each."""
    return [word.lower() for word in WORD.findall(text)]


def quaint_in_code(path: Path) -> Counter[str]:
    """Quaint words in the names and the string constants, docstrings too, of a Python file."""
    found: Counter[str] = Counter()
    for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
        if text not in STORED:
            found.update(word for word in words(text) if word in QUAINT)
    return found


def quaint_in_page(path: Path) -> Counter[str]:
    """Quaint words of a page outside code and quotations."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    return Counter(word for word in words(QUOTED.sub("", text)) if word in QUAINT)


def written_pages() -> list[Path]:
    """README, CHANGELOG and the pages of the documentation, without those that are generated from the code."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(page for page in pages if page.parent != ROOT / "docs" / "reference")


def quaint_words() -> dict[str, Counter[str]]:
    """Quaint words by place: code of solver and add-on, and pages."""
    code, pages = Counter[str](), Counter[str]()
    for path in sources():
        code += quaint_in_code(path)
    for path in written_pages():
        pages += quaint_in_page(path)
    return {"names, messages and docstrings of solver and add-on": code, "README, CHANGELOG and docs": pages}


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr not in PYTHON:
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
