"""Size and structure of the sources: statements, constants without data, files that convert rotations, and the like."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (ROOT / "solver", ROOT / "addon")
ENGINE = {"pin", "pinocchio", "coal", "hppfcl"}
"""Names by which a file shows that it knows the dynamics or the collision library."""
CONVERSIONS = {"exp3", "log3", "Quaternion", "AngleAxis", "toRotationMatrix", "Rotation", "matrixToRpy"}
"""Names of other libraries' conversions between rotation vectors, quaternions and matrices."""
CODECS = {"savez", "savez_compressed", "dumps", "dump"}
"""Calls by which a file writes an archive or JSON by itself."""
OTHERS = ("protocol.py", "progress.py", "child.py", "video.py", "printed.py", "settings_file.py")
"""Files whose JSON is a line to another process, on standard output or in a message, no file."""


def sources(*folders: Path) -> list[Path]:
    """Python files below the folders, by default of solver and add-on."""
    return sorted(path for folder in folders or ROOMS for path in folder.rglob("*.py"))


def statements(folder: str) -> int:
    """Statements of all Python files of a folder of the repository, without docstrings."""
    nodes = (node for path in sources(ROOT / folder) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return sum(isinstance(node, ast.stmt) and not _is_string(node) for node in nodes)


def constants_without_data() -> int:
    """Numbers that modules of solver name and whose documentation does not say on which data they were chosen, or how
    they are derived; limits of rounding errors are left out."""
    from docs.constants_page import find_constants

    return sum(not (one.evidence or one.is_rounding) for one in find_constants(ROOT / "solver"))


def names(path: Path) -> set[str]:
    """Every identifier of a file: names, attributes, and what it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found |= set(node.name.split("."))
    return found


def naming(words: set[str]) -> list[str]:
    """Files of solver and add-on in which one of the words is an identifier."""
    return [str(path.relative_to(ROOT)) for path in sources() if words & names(path)]


def engine_files() -> list[str]:
    """Files that name the dynamics or the collision library."""
    return naming(ENGINE)


def converting_files() -> list[str]:
    """Files of the solver, besides the module for rotations, that convert rotations by another library's functions.

    The add-on turns quaternions into Blender's Euler channels by Blender's own functions.
    """
    return [path for path in naming(CONVERSIONS) if path.startswith("solver/") and path != "solver/base/so3.py"]


def codec_files() -> list[str]:
    """Files that write an archive or JSON of ours by themselves; one is the codec."""
    found = []
    for path in sources(ROOMS[0]):
        calls = {n.func.attr for n in _calls(path) if isinstance(n.func, ast.Attribute)}
        if calls & CODECS and path.name not in OTHERS:
            found.append(str(path.relative_to(ROOT)))
    return found


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node
