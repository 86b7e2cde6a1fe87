"""The table of identification methods.

The library, the command line, Blender's menu and the documentation use this one table. A new method is one module with
a function and one row here. Functions are imported when a method is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..base.errors import UnknownMethod


@dataclass(frozen=True, slots=True)
class IdentificationMethod:
    """A method of identification.

    Attributes:
        name: on the command line, in settings and in files.
        function: ``"module:function"``; a leading dot is relative to ``solver``. The function takes a `Regression`, a
            `Rig` and `IdentifyOptions`, and returns an `Estimate`.
        title: in Blender's menu.
        description: one clause, for menus and the documentation.
        source: publication; empty for a method of this program.
        use: when to use it, for the documentation.
        uses_fixed_links: whether links can be fixed to the prior.
        has_posterior: whether `posterior` describes the uncertainty of its result.
    """

    name: str
    function: str
    title: str
    description: str
    source: str = ""
    use: str = ""
    uses_fixed_links: bool = True
    has_posterior: bool = False

    def load_function(self) -> Callable[..., Any]:
        """Import the function."""
        module, _, function = self.function.partition(":")
        found: Callable[..., Any] = getattr(import_module(module, __package__), function)
        return found


IDENTIFICATION_METHODS: list[IdentificationMethod] = [
    IdentificationMethod(
        "consistent", "..identification.identify:fit_consistent", "Consistent",
        "Physically consistent links: positive semidefinite pseudo-inertia", use="by default", has_posterior=True,
    ),
    IdentificationMethod(
        "hierarchical", "..identification.hierarchical:fit_hierarchical", "Hierarchical",
        "Four quadratic programs in order of priority", "Jovic et al. 2016", "to reproduce the paper",
    ),
    IdentificationMethod(
        "constrained", "..identification.hierarchical:fit_constrained", "Constrained",
        "One quadratic program with bounds around the prior", "Bonnet et al. 2016", "to reproduce the paper",
    ),
    IdentificationMethod(
        "minimum_norm", "..identification.least_squares:fit", "Least Squares",
        "Minimum norm without constraints; shows which parameters the data do not determine", "Ayusawa et al.",
        "to see what the data alone determine, negative masses included", uses_fixed_links=False,
    ),
]  # fmt: skip
"""One row per method; the first one is the default. Blender stores the position of a row, so new rows go to the end."""


def method_names() -> tuple[str, ...]:
    """Names of all methods."""
    return tuple(row.name for row in IDENTIFICATION_METHODS)


def find_method(name: str) -> IdentificationMethod:
    """The method with a name.

    Raises:
        UnknownMethod: no such method.
    """
    for row in IDENTIFICATION_METHODS:
        if row.name == name:
            return row
    raise UnknownMethod(name, method_names())
