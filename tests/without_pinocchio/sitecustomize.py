"""Hides Pinocchio and coal from every Python with this folder on its path, as if they were not installed."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

HIDDEN = {"cmeel_pth", "coal", "eigenpy", "hppfcl", "pinocchio"}


class VisibleFinder(PathFinder):
    """Finds modules in the folders of the path, but not the hidden ones."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for what is hidden."""
        return None if fullname.partition(".")[0] in HIDDEN else super().find_spec(fullname, path, target)


for name in HIDDEN:
    sys.modules.pop(name, None)  # a file of the site's folder may have imported it
sys.meta_path[sys.meta_path.index(PathFinder)] = VisibleFinder
