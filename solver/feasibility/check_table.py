"""The checks of `options.checks.CHECK_ROWS`, loaded from their files."""

from __future__ import annotations

from importlib import import_module

from ..options.checks import CHECK_ROWS
from .check_definition import Check


def _load(row: str) -> Check:
    module, name = row.split(":")
    check: Check = getattr(import_module(f".checks.{module}", __package__), name)
    return check


CHECKS: tuple[Check, ...] = tuple(map(_load, CHECK_ROWS))
