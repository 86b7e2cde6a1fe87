"""Functions of coordinates in OpenSim models: the angle about, or the distance along, an axis of a joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...base.errors import InputError
from ..urdf_elements import read_numbers

SPLINES = ("SimmSpline", "NaturalCubicSpline")
"""Names of one function: version 3 renamed it."""
FUNCTIONS = (
    *("Constant", "LinearFunction", "PolynomialFunction", "MultiplierFunction"),
    *(*SPLINES, "PiecewiseLinearFunction", "GCVSpline"),
)
"""Functions that are read."""
MIN_POINTS = 2
"""Derived: a line needs two."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of coordinates.

    Attributes:
        evaluate: maps coordinates (N, K) to values (N,).
        constant: the value does not depend on the coordinates.
        approximated: how the function differs from OpenSim's; empty if it does not.
    """

    evaluate: Callable[[np.ndarray], np.ndarray]
    constant: bool = False
    approximated: str = ""


def constant_function(value: float) -> Function:
    """The function with one value."""
    return Function(lambda q: np.full(len(q), value), constant=True)


def identity_function() -> Function:
    """The value of the only coordinate."""
    return Function(lambda q: q[:, 0])


def find_function(element: Element) -> Element | None:
    """The function that an element holds, directly or within ``<function>``; None without one."""
    inside = element.find("function")
    for child in (*element, *(() if inside is None else inside)):
        if child.tag in FUNCTIONS or child.get("name") == "function" or child.tag.endswith(("Function", "Spline")):
            return child
    return None if inside is None or not len(inside) else inside[0]


def read_function(path: Path, place: str, element: Element) -> Function:
    """Read a function.

    Raises:
        InputError: an unknown class, or numbers that do not define the function.
    """
    if element.tag == "Constant":
        return constant_function(float(_numbers(path, place, element, "value", (0.0,))[0]))
    if element.tag == "LinearFunction":
        return _linear(_numbers(path, place, element, "coefficients", (1.0, 0.0)))
    if element.tag == "PolynomialFunction":
        coefficients = _numbers(path, place, element, "coefficients", (0.0,))
        return Function(lambda q: np.polyval(coefficients, q[:, 0]), constant=not coefficients[:-1].any())
    if element.tag == "MultiplierFunction":
        if (inner := find_function(element)) is None:
            raise InputError(path, "<MultiplierFunction> holds no function", place=place, remedy="Give it one")
        scale, found = float(_numbers(path, place, element, "scale", (1.0,))[0]), read_function(path, place, inner)
        return Function(lambda q: scale * found.evaluate(q), found.constant, found.approximated)
    if element.tag in FUNCTIONS:
        return _read_points(path, place, element)
    remedy = f"Use one of {', '.join(FUNCTIONS)}"
    raise InputError(path, f"<{element.tag}> is not a function that is read", place=place, remedy=remedy)


def _linear(coefficients: np.ndarray) -> Function:
    slopes, offset = coefficients[:-1], float(coefficients[-1])
    return Function(lambda q: q[:, : len(slopes)] @ slopes + offset, constant=not slopes.any())


def _read_points(path: Path, place: str, element: Element) -> Function:
    x, y = (_numbers(path, place, element, tag, ()) for tag in ("x", "y"))
    if len(x) != len(y) or len(x) < MIN_POINTS or (np.diff(x) <= 0.0).any():
        problem = f"<{element.tag}> needs two or more points with rising x, and as many y as x"
        raise InputError(path, problem, place=place, remedy="Correct its <x> and <y>")
    constant = bool((y == y[0]).all())
    if element.tag in SPLINES:
        return Function(SimmSpline(x, y), constant)
    if element.tag == "PiecewiseLinearFunction":
        return Function(lambda q: _interpolate(x, y, q[:, 0]), constant)
    return Function(SimmSpline(x, y), constant, "a GCVSpline is read as the spline through its points")


def _interpolate(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Linear interpolation, and extrapolation by the lines at the ends."""
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    return np.asarray(y[k] + (at - x[k]) * (y[k + 1] - y[k]) / (x[k + 1] - x[k]))


class SimmSpline:
    """Cubic spline through points, as SIMM and OpenSim define it.

    The third derivative at each end is that of the cubic through the four outermost points (Forsythe, Malcolm and
    Moler, 1977); beyond its ends the spline is extended by straight lines.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self.x, self.y = x, y
        self.slopes, self.seconds = self._solve() if len(x) > MIN_POINTS else self._line()

    def _line(self) -> tuple[np.ndarray, np.ndarray]:
        slope = (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])
        return np.full(2, slope), np.zeros(2)

    def _solve(self) -> tuple[np.ndarray, np.ndarray]:
        """First derivatives and sixths of the second derivatives at the points."""
        x, y, count = self.x, self.y, len(self.x)
        step, secant = np.diff(x), np.diff(y) / np.diff(x)
        matrix, right = np.zeros((count, count)), np.zeros(count)
        for k in range(1, count - 1):
            matrix[k, k - 1 : k + 2] = step[k - 1], 2.0 * (step[k - 1] + step[k]), step[k]
            right[k] = secant[k] - secant[k - 1]
        matrix[0, :2] = -step[0], step[0]
        matrix[-1, -2:] = step[-1], -step[-1]
        if count > MIN_POINTS + 1:
            first = right[2] / (x[3] - x[1]) - right[1] / (x[2] - x[0])
            last = right[-2] / (x[-1] - x[-3]) - right[-3] / (x[-2] - x[-4])
            right[0] = first * step[0] ** 2 / (x[3] - x[0])
            right[-1] = -last * step[-1] ** 2 / (x[-1] - x[-4])
        sixths = np.linalg.solve(matrix, right)
        slopes = np.append(
            secant - step * (sixths[1:] + 2.0 * sixths[:-1]), secant[-1] + step[-1] * (sixths[-2] + 2.0 * sixths[-1])
        )
        return slopes, sixths

    def __call__(self, q: np.ndarray) -> np.ndarray:
        at, x = q[:, 0], self.x
        k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
        s = at - x[k]
        third = (self.seconds[k + 1] - self.seconds[k]) / (x[k + 1] - x[k])
        inside = self.y[k] + s * (self.slopes[k] + s * (3.0 * self.seconds[k] + s * third))
        before = self.y[0] + (at - x[0]) * self.slopes[0]
        after = self.y[-1] + (at - x[-1]) * self.slopes[-1]
        return np.where(at < x[0], before, np.where(at > x[-1], after, inside))


def _numbers(path: Path, place: str, element: Element, tag: str, otherwise: tuple[float, ...]) -> np.ndarray:
    """Numbers in a child element, or the default without it."""
    text = (element.findtext(tag) or "").replace(",", " ")
    if not text.strip():
        return np.array(otherwise, float)
    return read_numbers(path, f"{place}, <{tag}>", text, len(text.split()), otherwise)
