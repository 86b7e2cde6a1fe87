"""Pinocchio for tests that compare with it; they are skipped where another engine computes."""

from __future__ import annotations

from typing import Any

import pytest

from solver import engine
from solver.skeleton.rig import Rig


class _Missing:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pytest looks for some in every module
            raise AttributeError(name)
        pytest.skip(f"compares with Pinocchio ({name}), which is not the engine here", allow_module_level=True)


if engine.NAME == "pinocchio":
    from solver.engine.pinocchio_loader import pin
else:
    pin = _Missing()


def data_of(rig: Rig) -> Any:
    """Pinocchio's working memory for a rig."""
    return pin.Data(rig.model)


__all__ = ["data_of", "pin"]
