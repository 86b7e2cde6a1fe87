"""Typed access to the arrays of an archive that another program wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InputError

REMEDY = "Write the archive again with the arrays that the documentation of the npz format names"


@dataclass(frozen=True, slots=True)
class NpzArrays:
    """Arrays of an archive, with checks of type and shape.

    Attributes:
        path: of the archive.
        by_name: arrays by name.
    """

    path: str | Path
    by_name: Mapping[str, np.ndarray]

    def real_array(self, name: str, ndim: int) -> np.ndarray:
        """An array of real numbers with ``ndim`` axes, as floats.

        Raises:
            InputError: it is missing, of another type or shape, or has infinite entries.
        """
        array = self._get(name)
        if array.dtype.kind not in "fiu" or array.ndim != ndim:
            raise self._error(name, f"{array.dtype} of shape {array.shape}", f"real numbers with {ndim} axes")
        values = array.astype(float)
        if np.isinf(values).any():
            raise self._error(name, "an infinite number", "finite numbers, NaN where missing")
        return values

    def positive_number(self, name: str) -> float:
        """One positive number from an array with a single entry.

        Raises:
            InputError: something else.
        """
        array = self._get(name)
        value = float(array.reshape(-1)[0]) if array.dtype.kind in "fiu" and array.size == 1 else np.nan
        if not 0.0 < value < np.inf:
            raise self._error(name, f"{array.dtype} of shape {array.shape}: {str(array)[:40]}", "one positive number")
        return value

    def strings(self, name: str) -> tuple[str, ...]:
        """A list of names.

        Raises:
            InputError: something else, or text with lone surrogates.
        """
        array = self._get(name)
        if array.dtype.kind not in "US" or array.ndim > 1:
            raise self._error(name, f"{array.dtype} of shape {array.shape}", "a list of texts")
        try:
            words = [w.decode() if isinstance(w, bytes) else w for w in array.reshape(-1).tolist()]
            "".join(words).encode()
        except ValueError:
            raise self._error(name, "bytes that are not text", "a list of texts") from None
        return tuple(words)

    def times(self, kind: str, count: int) -> np.ndarray:
        """Time stamps (count,) [s] of one kind of samples, given or from their rate.

        Raises:
            InputError: both are missing, or their number differs.
        """
        if f"{kind}_times" in self.by_name:
            times = self.real_array(f"{kind}_times", 1)
            if len(times) != count:
                raise self._error(f"{kind}_times", f"{len(times)} time stamps", f"{count}, one per sample")
            return times
        if f"{kind}_rate" not in self.by_name:
            raise InputError(self.path, f"lacks the array {kind}_times or {kind}_rate", remedy=REMEDY)
        return np.arange(count) / self.positive_number(f"{kind}_rate")

    def _get(self, name: str) -> np.ndarray:
        if name not in self.by_name:
            raise InputError(self.path, f"lacks the array {name}", remedy=REMEDY)
        if self.by_name[name].dtype.hasobject:
            problem = "holds objects, which are not read: that would run code from the file"
            raise InputError(self.path, problem, place=f"array {name}", remedy=REMEDY)
        return self.by_name[name]

    def _error(self, name: str, found: str, expected: str) -> InputError:
        return InputError(self.path, f"holds {found}, not {expected}", place=f"array {name}", remedy=REMEDY)
