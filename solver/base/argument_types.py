"""What is wrong with the types of a call's arguments; see `errors.checked`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from inspect import signature
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

AS_DECLARED: dict[str, tuple[type, ...]] = {"float": (Real,), "int": (Integral,), "ndarray": (list, tuple)}
"""Types that are as good as a declared one, by its name."""


def find_wrong_type(function: Callable[..., Any], values: tuple[Any, ...], named: dict[str, Any]) -> str | None:
    """The first argument that is not of its declared type, in words; None without one."""
    try:
        given = signature(function).bind(*values, **named).arguments
    except TypeError:  # a missing or an unknown argument, which Python's own message names
        return None
    module, annotations = vars(sys.modules[function.__module__]), function.__annotations__
    for name, value in given.items():
        try:
            declared = eval(str(annotations.get(name, "object")), module)
        except (NameError, TypeError):  # imported for type checkers alone
            continue
        if not _fits(value, declared):
            where = function.__qualname__.removesuffix(".__init__")
            return f"{name} of {where} takes {annotations[name]}, not {value!r:.60}"
    return None


def _fits(value: Any, declared: Any) -> bool:
    """Whether a value is of a declared type, as far as its class and its entries show."""
    kind, inner = get_origin(declared) or declared, get_args(declared)
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if kind is Literal:
        return value in inner
    if kind is None or hasattr(declared, "__metadata__"):
        return value is None if kind is None else _fits(value, inner[0])
    if not isinstance(kind, type) or kind is object or getattr(kind, "_is_protocol", False):
        return True
    if not isinstance(value, (kind, *AS_DECLARED.get(kind.__name__, ()))) or (isinstance(value, str) and inner):
        return False
    if isinstance(value, list | tuple) and issubclass(kind, Collection) and len({*inner} - {...}) == 1:
        return all(_fits(entry, inner[0]) for entry in value)
    return True
