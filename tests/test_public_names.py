"""Laws of the public names of `import solver`."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from operator import attrgetter

import pytest

import solver

IN_PACKAGES = [f"{package}.{name}" for package, names in solver.PUBLIC_IN_PACKAGES.items() for name in names]
NAMES = [*solver.__all__, *IN_PACKAGES]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(inspect.unwrap(attrgetter(name)(solver)))]
NUMBER = re.compile(r"\bfloat\b|ndarray")
BARE = "share|fraction|ratio|factor|coefficient|relative|dimensionless|a number|in its own unit|logarithm"
MEASURED = re.compile(rf"\[[^\]]+\]|\(\w[^)]*,[^)]*\)|\b({BARE})\b")
"""A unit as [m], a shape as (N, 3), a range as [0, 1), or a word for no unit."""


def entries(documentation: str) -> dict[str, str]:
    """Description of each argument or attribute in a docstring, by name."""
    found: dict[str, str] = {}
    inside = False
    names: list[str] = []
    for line in inspect.cleandoc(documentation).splitlines():
        if line and not line.startswith(" "):
            inside = line in ("Args:", "Attributes:")
        elif inside and (entry := re.match(r" {4}(\w[\w, ]*): (.*)$", line)):
            names = entry[1].split(", ")
            found |= dict.fromkeys(names, entry[2])
        elif inside:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found


def numbers_of(value: object) -> dict[str, str]:
    """Numbers and arrays of a value or of a function's parameters: annotations by name."""
    if is_dataclass(value):
        kinds = {field.name: str(field.type) for field in fields(value)}
    else:
        kinds = {name: str(kind) for name, kind in getattr(value, "__annotations__", {}).items() if name != "return"}
    return {name: kind for name, kind in kinds.items() if NUMBER.search(kind)}


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    """Every public name can be imported and has its own docstring."""
    value = attrgetter(name)(solver)
    own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    assert own, f"{name} has no docstring of its own"
    assert not own.startswith(f"{name}("), f"{name} only has the docstring that a dataclass makes up"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_shows_an_example(name: str) -> None:
    """The docstring of every public function has an example."""
    assert ">>> " in attrgetter(name)(solver).__doc__


@pytest.mark.parametrize("name", NAMES)
def test_numbers_have_units(name: str) -> None:
    """Every number and array of a public value or function has a unit, a shape or a range.

    A number without a unit says so, by one of the words of `BARE`.
    """
    documented = entries(attrgetter(name)(solver).__doc__)
    for argument, kind in numbers_of(attrgetter(name)(solver)).items():
        assert argument in documented, f"{name}: nothing is said about {argument}, {kind}"
        assert MEASURED.search(documented[argument]), (
            f"{name}: of what unit or shape is {argument}: {documented[argument]!r}?"
        )


def test_import_is_cheap() -> None:
    """`import solver` loads neither NumPy nor Pinocchio, so the add-on can import it before these are installed."""
    code = "import solver, sys; print('numpy' in sys.modules, 'pinocchio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_unknown_name_is_an_attribute_error() -> None:
    """An unknown name is an `AttributeError`, as for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        solver.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_the_interface_is_small() -> None:
    """At most sixty names are at the top level; the others are in sub-packages, each in a single one."""
    assert len(solver.__all__) <= 60
    assert not {name.rpartition(".")[2] for name in IN_PACKAGES} & set(solver.__all__)
