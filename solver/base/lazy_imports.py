"""Names of a package that are imported when first used, so that importing the package costs nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_exports(module: str, prefix: str = "") -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """What a module assigns to ``__all__, __getattr__, __dir__``: its sorted public names and two functions.

    The stub beside it (``__init__.pyi`` of a package) lists the names, as imports ``from .rig import Rig as Rig``. Type
    checkers and editors read the same file, so they know the types and docstrings of what is imported later. Packages
    that it imports (``from . import demo as demo``) and ``__version__`` are attributes but not in ``__all__``.

    Args:
        module: ``__name__`` of the module.
        prefix: of import paths in the stub that are not relative.
    """
    own = sys.modules[module]
    stub = ast.parse(Path(str(own.__file__)).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    sources = {
        alias.name: (f"{'.' * node.level or prefix}{node.module or ''}", node.module)
        for node in imports
        for alias in node.names
    }

    def load(name: str) -> Any:
        if name not in sources:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source, parent = sources[name]
        value = getattr(import_module(source, own.__package__), name, None) if parent else None
        if value is None:  # a module, which its package need not have imported yet
            value = import_module(f"{source}.{name}" if parent else f"{source}{name}", own.__package__)
        vars(own)[name] = value
        return value

    names = sorted(name for name, (_, parent) in sources.items() if parent and not name.startswith("_"))
    return names, load, lambda: sorted({*vars(own), *sources})
