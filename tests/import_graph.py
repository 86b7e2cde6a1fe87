"""Which file of the repository depends on which: by its imports, and by strings that name a file, folder or module."""

from __future__ import annotations

import ast
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Import:
    """One import statement's target."""

    path: Path
    line: int
    target: tuple[str, ...]
    """Dotted parts; of a relative import: from the repository's root."""
    relative: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {'.'.join(self.target)}"


def imports(path: Path, *, top_level_only: bool = False, root: Path = ROOT) -> Iterator[Import]:
    """Every import of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return imports_of(tree.body if top_level_only else ast.walk(tree), path, root)


def imports_of(nodes: Iterable[ast.AST], path: Path, root: Path = ROOT) -> Iterator[Import]:
    """The imports among the nodes of a file's syntax tree."""
    package = path.relative_to(root).parts[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, tuple(alias.name.split(".")), False)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield Import(path, node.lineno, (*stem, alias.name), bool(node.level))


def tracked_files(root: Path) -> list[str]:
    """Every file of the repository that git does not ignore, relative to its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in listed if (root / name).is_file()})


class ImportGraph:
    """The files of a repository and what each depends on.

    A name that a package offers leads to the file below it that defines the name, so that a change of one file of a
    package does not affect everyone who imports from that package. A string that names a module, a file or a folder
    at the top counts as a use of it: tests start programs and read documents that way.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = tracked_files(root)
        self._known = set(self.files)
        self._named = _files_by_name(self.files)
        self._trees = {
            name: ast.parse((root / name).read_text(encoding="utf-8")) for name in self.files if name.endswith(".py")
        }
        self._defining: dict[str, list[str]] = defaultdict(list)
        """Files by the name that they define."""
        for name, tree in self._trees.items():
            for defined in _defined(tree):
                self._defining[defined].append(name)
        self.dependencies = {name: self._dependencies(name) for name in self._trees}
        """Files that a file uses directly, by its name."""

    def affected_by(self, changed: Iterable[str]) -> set[str]:
        """The changed files and all that depend on one of them, directly or not.

        A changed ``__init__.py`` counts as a change of every file below its folder, which cannot be imported without.
        """
        users: dict[str, set[str]] = defaultdict(set)
        for name, used in self.dependencies.items():
            for one in used:
                users[one].add(name)
        found: set[str] = set()
        waiting = list(changed)
        waiting += [below for name in waiting if _is_package(name) for below in self._below(_folder(name))]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += users[name]
        return found

    def _dependencies(self, name: str) -> set[str]:
        nodes = list(ast.walk(self._trees[name]))
        found: set[str] = set()
        for one in imports_of(nodes, self.root / name, self.root):
            found |= self._imported(one.target, nodes)
        for text in _strings(nodes):
            found |= self._named.get(text, set()) | self._module(text.strip(".").split("."))
        folders = PurePosixPath(name).parents
        if name.startswith("tests/"):
            found |= {str(folder / "conftest.py") for folder in folders} & self._known
        return found - {name}

    def _imported(self, target: tuple[str, ...], nodes: list[ast.AST]) -> set[str]:
        """Files that an import leads to; none outside the repository."""
        module = self._module(target)
        if not module:
            package = "/".join(target[:-1])
            return self._offered(package, target[-1]) or self._module(target[:-1])
        if len(target) == 1 and _is_package(next(iter(module))):
            used = _attributes(target[0], nodes)
            if used is not None:
                return set().union(*(self._offered(target[0], attribute) or module for attribute in used))
        return module

    def _offered(self, package: str, name: str) -> set[str]:
        """Files below a package that define a name which it offers."""
        return {file for file in self._defining.get(name, ()) if file.startswith(f"{package}/")} if package else set()

    def _module(self, parts: Iterable[str]) -> set[str]:
        """The file of a dotted name."""
        stem = "/".join(parts)
        return {f"{stem}.py", f"{stem}/__init__.py"} & self._known

    def _below(self, folder: str) -> list[str]:
        return [name for name in self.files if name.startswith(folder)]


def _files_by_name(files: list[str]) -> dict[str, set[str]]:
    """Files by what a string may call them: path, file name where it is the only one, folder at the top."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in files:
        path = PurePosixPath(name)
        found[path.name].add(name)
    found = defaultdict(set, {name: paths for name, paths in found.items() if len(paths) == 1})
    for name in files:
        found[name].add(name)
        if "/" in name:
            found[name.partition("/")[0]].add(name)
    found.pop("__init__.py", None)  # speaks of any package
    return found


def _defined(tree: ast.Module) -> Iterator[str]:
    """Names that a module defines itself at its top."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _strings(nodes: list[ast.AST]) -> set[str]:
    """Short strings of a file: no docstring names anything."""
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {text for text in texts if 0 < len(text) < 100 and " " not in text}


def _attributes(module: str, nodes: list[ast.AST]) -> set[str] | None:
    """What a file uses of a module that it imports as a whole; None when it hands the module itself on."""
    owners = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == module]
    if not all(id(node) in owners for node in uses):
        return None
    return {owners[id(node)] for node in uses}


def _is_package(name: str) -> bool:
    return PurePosixPath(name).name == "__init__.py" and "/" in name


def _folder(name: str) -> str:
    return name.removesuffix("__init__.py")
