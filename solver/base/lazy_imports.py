"""Names of a package that are imported when first used, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, names_by_module: Mapping[str, tuple[str, ...]], packages: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """What a package assigns to ``__all__, __getattr__, __dir__``: its sorted public names and two functions.

    Args:
        package: ``__name__`` of the package.
        names_by_module: relative module names and what they define, such as ``{"rig": ("Rig",)}``.
        packages: modules that are attributes of the package and imported when first used, by attribute.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names}
    further = dict(packages or {})

    def load(name: str) -> Any:
        if name in further:
            return import_module(f".{further[name]}", package)
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{modules[name]}", package), name)
        vars(sys.modules[package])[name] = value
        return value

    return sorted(modules), load, lambda: sorted({*vars(sys.modules[package]), *modules, *further})
