"""Tables of results as pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import MissingDependency


def build_data_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Build a pandas ``DataFrame`` from columns by name.

    Raises:
        MissingDependency: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MissingDependency(
            "a data frame needs pandas, which is not installed: pip install 'exciting-dance[pandas]'"
        ) from error
    return pandas.DataFrame(columns)
