"""Errors that the package raises on purpose, with one base class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])
SHOWN_CHOICES = 12
TYPE_FAILURES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""What a function raises that works with a value of another type than it expects."""


class SolverError(Exception):
    """Base of all errors of this package; its text states what is wrong, where, and what to do."""


class InputError(SolverError):
    """A file is missing, malformed or contradicts itself.

    Args:
        path: the file at fault.
        problem: what is wrong, in one clause.
        place: where in the file (``"line 12"``, ``"element <link name='hand'>"``), or None for the whole file.
        remedy: what the user can do about it.
    """

    def __init__(self, path: str | Path, problem: str, *, place: str | None = None, remedy: str = "") -> None:
        self.path = Path(path)
        self.problem = problem
        self.place = place
        self.remedy = remedy
        where = f"{self.path}" + (f", {place}" if place else "")
        super().__init__(f"{where}: {problem}." + (f" {remedy.rstrip('.')}." if remedy else ""))


class InvalidValue(SolverError, ValueError):
    """Arrays or options of the wrong shape, order or content."""


def suggest(name: object, choices: Iterable[str]) -> str:
    """The most similar choice in words, ``" Did you mean 'mass'?"``; empty without one."""
    from difflib import get_close_matches  # rarely needed, and the add-on is enabled without it

    near = get_close_matches(str(name), list(choices), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


class UnknownName(SolverError, KeyError):
    """A given name does not exist; the message lists the known names."""

    kind = "name"

    def __init__(self, name: str, choices: Iterable[str]) -> None:
        self.name = name
        self.choices = tuple(choices)
        shown = ", ".join(self.choices[:SHOWN_CHOICES]) + (", ..." if len(self.choices) > SHOWN_CHOICES else "")
        self.message = f"unknown {self.kind} {name!r}.{suggest(name, self.choices)} Known: {shown}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class UnknownLink(UnknownName):
    """No link of that name on the rig."""

    kind = "link"


class UnknownMarker(UnknownName):
    """No marker of that name in the recording or marker set."""

    kind = "marker"


class UnknownPreset(UnknownName):
    """No preset (filter, marker set, rig, method) of that name."""

    kind = "preset"


class UnknownRig(UnknownPreset):
    """No rig can be built by that name."""

    kind = "rig"


class UnknownMarkerSet(UnknownPreset):
    """Neither a built-in marker set nor a file."""

    kind = "marker set"


class UnknownTrial(UnknownName):
    """No trial has that name."""

    kind = "trial"


class UnknownMethod(UnknownPreset):
    """No method of identification has that name."""

    kind = "method"


class UnknownLandmark(UnknownName):
    """No landmark or link of a person has that name."""

    kind = "landmark or link"


class BackendError(SolverError):
    """A numerical backend failed; the message has the backend's name and its own message."""


class MissingDependency(SolverError):
    """A required library is not installed."""


class Cancelled(SolverError):
    """The user cancelled the job; the message says what was written."""


def checked(function: T) -> T:
    """Mark a public function, or a class with its constructor: an argument of a wrong type is an `InvalidValue`.

    The types are those of the annotations. They are compared only if the function fails, so that a call costs nothing,
    nothing that works is refused, and an error with arguments of the right types is not disguised.
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        try:
            return function(*values, **named)
        except SolverError:
            raise
        except TYPE_FAILURES as error:
            from .argument_types import find_wrong_type  # rarely needed

            if (problem := find_wrong_type(function, values, named)) is None:
                raise
            raise InvalidValue(problem) from error

    return call  # type: ignore[return-value]
