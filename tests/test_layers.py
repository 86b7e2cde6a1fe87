"""Laws of imports between layers, and of the repository's text."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.imports import ROOT, Import, imports

SOLVER, ADDON = ROOT / "solver", ROOT / "addon"
BLENDER = {"bpy", "mathutils", "gpu", "gpu_extras", "blf", "bmesh", "bl_math", "bpy_extras", "addon", "bl_ext"}
DYNAMICS_LIBRARY = {"pinocchio", "cmeel_pth", "cmeel"}

PAGE = ROOT / "docs" / "architecture.md"
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| (.+) \|$", re.MULTILINE)
"""A row of a table of packages: number of the layer, name, and what comes in and goes out."""
QP_MAY_USE = {"qp", "base"}


def sources(folder: Path) -> list[Path]:
    """The Python files of a folder."""
    return sorted(folder.rglob("*.py"))


def all_imports(folder: Path) -> list[Import]:
    """Every import of every file of a folder."""
    return [found for path in sources(folder) for found in imports(path)]


def unit(path: Path, house: Path) -> str:
    """Module or package directly under solver/ or addon/ to which a file belongs."""
    return path.relative_to(house).parts[0].removesuffix(".py")


def page_rows(house: str) -> dict[str, tuple[int, str]]:
    """Layer and sentence of each unit of the solver or the add-on, as the page on the architecture lists them."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## Packages of `{house}`")[2].partition("\n## ")[0]
    return {name: (int(rank), sentence) for rank, name, sentence in ROW.findall(section)}


ROWS = {house: page_rows(house) for house in ("solver", "addon")}


def test_solver_is_independent_of_blender() -> None:
    """No file of solver/ imports Blender's modules or the add-on."""
    assert [str(i) for i in all_imports(SOLVER) if i.target[0] in BLENDER] == []


def test_one_file_imports_pinocchio() -> None:
    """Only one file imports Pinocchio, in the way that Blender's extensions need."""
    users = {i.path.name for i in all_imports(SOLVER) if not i.relative and i.target[0] in DYNAMICS_LIBRARY}
    assert users == {"pinocchio_loader.py"}


DYNAMICS_WORDS = re.compile(r"\b(pin\.[A-Za-z]\w*|import pin|pinocchio|coal|hppfcl)\b")


def test_one_package_knows_pinocchio() -> None:
    """Only solver/engine names Pinocchio or coal, in code or prose; beside it the add-on says how to install them."""
    paths = [path for folder in (SOLVER, ADDON) for path in sources(folder)]
    found = {path.relative_to(ROOT) for path in paths if DYNAMICS_WORDS.search(path.read_text(encoding="utf-8"))}
    assert {path for path in found if path.parts[:2] != ("solver", "engine")} == {Path("addon/base/interpreter.py")}


def test_solver_imports_itself_relatively() -> None:
    """solver/ works under any package name: it imports neither its own name nor anything above itself."""
    absolute = [str(i) for i in all_imports(SOLVER) if not i.relative and i.target[0] == "solver"]
    escaping = [str(i) for i in all_imports(SOLVER) if i.relative and i.target[:1] != ("solver",)]
    assert absolute == []
    assert escaping == []


def upward_imports(name: str) -> list[str]:
    """Imports from a layer that is not below the importing one."""
    house, rows = ROOT / name, ROWS[name]
    wrong = []
    for found in all_imports(house):
        if not found.relative or (found.path.parent == house and found.path.name == "__init__.py"):
            continue  # the package's own __init__ names the public functions of every layer
        if found.target[:1] != (name,):
            continue  # the add-on finds the solver in one file, which another test says
        own, target = unit(found.path, house), found.target[1] if len(found.target) > 1 else ""
        is_part = (house / target).is_dir() or (house / f"{target}.py").exists()
        if is_part and own != target and rows[target][0] >= rows[own][0]:
            wrong.append(str(found))
    return wrong


@pytest.mark.parametrize("name", ROWS)
def test_imports_are_from_lower_layers(name: str) -> None:
    """Each part of the solver, and of the add-on, imports only from layers below its own, without cycles."""
    assert upward_imports(name) == []


def file_of(found: Import) -> Path | None:
    """The file of this repository that an import reads: a module, or a package's `__init__`."""
    for parts in (found.target, found.target[:-1]):
        path = ROOT.joinpath(*parts)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def circles(folder: Path) -> list[list[str]]:
    """Files that import each other in a cycle, also inside functions; a package's `__init__` may import its modules."""
    files = {path for path in sources(folder) if path.name != "__init__.py"}
    arrows = {path: {file for found in imports(path) if (file := file_of(found)) in files} for path in files}
    left = dict(arrows)
    while ends := [path for path, targets in left.items() if not targets & left.keys()]:
        for path in ends:
            del left[path]
    while starts := [path for path in left if not any(path in targets for one, targets in left.items() if one != path)]:
        for path in starts:
            del left[path]
    in_loops = {path: sorted(targets & left.keys()) for path, targets in left.items()}
    return [[str(file.relative_to(ROOT)) for file in (path, *targets)] for path, targets in in_loops.items()]


@pytest.mark.parametrize("name", ROWS)
def test_no_two_files_import_each_other(name: str) -> None:
    """Imports within a part have no cycles either."""
    assert circles(ROOT / name) == []


def test_quadratic_programs_are_independent_of_robotics() -> None:
    """solver/qp imports nothing of robotics: of the solver only its base."""
    if not (SOLVER / "qp").is_dir():
        pytest.skip("there is no solver/qp")
    used = [i for i in all_imports(SOLVER / "qp") if i.relative]
    assert [str(i) for i in used if i.target[1] not in QP_MAY_USE] == []
    assert [str(i) for i in all_imports(SOLVER / "qp") if i.target[0] in {"coal", "hppfcl"}] == []


@pytest.mark.parametrize("name", ROWS)
def test_the_page_lists_every_package(name: str) -> None:
    """The page on the architecture has a row for every module or package, with the first sentence of its docstring."""
    house = ROOT / name
    units = {unit(path, house) for path in sources(house) if path != house / "__init__.py"}
    assert set(ROWS[name]) == units
    for part, (_, sentence) in ROWS[name].items():
        init = house / part / "__init__.py"
        if init.exists():
            words = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
            assert words.replace("``", "`").partition("\n")[0].rstrip(".") == sentence


def test_one_file_of_the_addon_finds_the_solver() -> None:
    """Only one file depends on the solver's location: beside the add-on in a clone, in the extension in Blender."""
    assert {i.path.name for i in all_imports(ROOT / "addon") if i.target[0] == "solver"} <= {"solver_api.py"}


def test_extension_imports_without_blender() -> None:
    """The root __init__.py imports no Blender module when it is loaded, so that pytest can collect tests."""
    root = ROOT / "__init__.py"
    if not root.exists():
        pytest.skip("there is no extension here")
    at_load = list(imports(root, top_level_only=True))
    assert [str(i) for i in at_load if i.target[0] in BLENDER] == []


FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.~])/(?:work|root|tmp|home/\w+|var/tmp)/"),
    "the host of a package index": re.compile(r"(?:pythonhosted|pypi)\.org|https?://[^\s\"']*/simple\b", re.IGNORECASE),
    "an index option": re.compile(r"--(?:extra-)?index-url|--find-links|--trusted-host"),
}
TEXT = {".py", ".md", ".toml", ".txt", ".json", ".csv", ".cfg", ".yml", ".yaml", ".sh", ".html", ".urdf", ""}


def test_text_names_no_machine() -> None:
    """Committed text has no names or paths of the machine on which it was written."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listing.returncode != 0:
        pytest.skip("not a git work tree")
    files = [ROOT / name for name in listing.stdout.splitlines()]
    assert files, "git lists no file"
    found = []
    for path in files:
        if path == Path(__file__) or path.suffix not in TEXT or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [
            f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, hit.start()) + 1} names {what}: {hit.group()}"
            for what, pattern in FORBIDDEN.items()
            for hit in pattern.finditer(text)
        ]
    assert found == []
