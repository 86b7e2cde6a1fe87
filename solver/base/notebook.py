"""How results are shown in notebooks: tables as pandas data frames, and pages as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import SolverError

HTML_RENDERERS: dict[str, str] = {
    "Study": "..report.notebook:render_study",
    "Identification": "..report.notebook:render_identification",
}
"""By class: ``"module:function"`` that renders a value as HTML, imported when a notebook shows the value."""


def build_data_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Build a pandas ``DataFrame`` from columns by name.

    Raises:
        SolverError: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise SolverError("a data frame needs pandas, which is not installed: pip install pandas") from error
    return pandas.DataFrame(columns)


class HtmlResult:
    """A result that notebooks show as HTML; see `HTML_RENDERERS`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        module, _, function = HTML_RENDERERS[type(self).__name__].partition(":")
        markup: str = getattr(import_module(module, __package__), function)(self)
        return markup
