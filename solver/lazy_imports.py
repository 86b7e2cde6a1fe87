"""Names of a package that are imported when first used, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


class LazyExports:
    """Public names of a package and the modules below it that define them.

    A package uses it in three lines: ``__all__ = EXPORTS.names``, ``__getattr__`` and ``__dir__``.

    Args:
        package: ``__name__`` of the package.
        names_by_module: relative module names and what they define, such as ``{"rig": ("Rig",)}``.
        packages: modules that are attributes of the package and imported when first used, by attribute.

    Attributes:
        names: sorted public names, without the sub-packages.
    """

    def __init__(
        self, package: str, names_by_module: Mapping[str, tuple[str, ...]], packages: Mapping[str, str] | None = None
    ) -> None:
        self.names = sorted(name for names in names_by_module.values() for name in names)
        self._package = package
        self._modules = {name: module for module, names in names_by_module.items() for name in names}
        self._packages = dict(packages or {})

    def load(self, name: str) -> Any:
        """Import a name and keep it in the package.

        Raises:
            AttributeError: the package exports no such name.
        """
        if name in self._packages:
            return import_module(f".{self._packages[name]}", self._package)
        if name not in self._modules:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{self._modules[name]}", self._package), name)
        vars(sys.modules[self._package])[name] = value
        return value

    def list_names(self) -> list[str]:
        """What ``dir(package)`` lists."""
        return sorted({*vars(sys.modules[self._package]), *self._modules, *self._packages})
