"""Where a drag's target is: from mouse, axis keys and typed numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

AXES = "XYZ"
DIGITS = {
    **{name: str(number) for number, name in enumerate(
        ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
    )},
    **{f"NUMPAD_{number}": str(number) for number in range(10)},
    "PERIOD": ".", "NUMPAD_PERIOD": ".", "MINUS": "-", "NUMPAD_MINUS": "-",
}  # fmt: skip
"""Characters by Blender's names of keys."""


@dataclass(slots=True)
class MouseTarget:
    """The displacement of a drag.

    Attributes:
        mouse: (3,) [m] displacement of the mouse in the view plane through the point, world.
        axis: index of the only axis along which it counts; None for all.
        plane: the axis is the one that does not count.
        typed: number as typed [units of the scene]; empty for the mouse.
    """

    mouse: np.ndarray = field(default_factory=lambda: np.zeros(3))
    axis: int | None = None
    plane: bool = False
    typed: str = ""

    def press_axis(self, axis: int, *, plane: bool) -> None:
        """Limit the drag to an axis or a plane; the same key again removes the limit."""
        is_same = self.axis == axis and self.plane == plane
        self.axis, self.plane = (None, False) if is_same else (axis, plane)

    def press_key(self, name: str) -> bool:
        """Type a digit, the sign or the decimal point, or delete one; False for other keys."""
        if name == "BACK_SPACE":
            self.typed = self.typed[:-1]
        elif name not in DIGITS:
            return False
        elif DIGITS[name] == "-":
            self.typed = self.typed[1:] if self.typed.startswith("-") else f"-{self.typed}"
        elif not (DIGITS[name] == "." and "." in self.typed):
            self.typed += DIGITS[name]
        return True

    def displacement(self, unit: float) -> np.ndarray:
        """(3,) [m] of the target from the start.

        Args:
            unit: [m] of one typed unit.
        """
        result = np.array(self.mouse)
        number = self._number
        if number is not None:
            result = np.zeros(3)
            result[0 if self.axis is None or self.plane else self.axis] = number * unit
        if self.axis is not None:
            counts = np.arange(3) == self.axis
            result = np.where(counts != self.plane, result, 0.0)
        return result

    def describe(self, unit: float) -> str:
        """The displacement and its limits for the header."""
        values = "  ".join(
            f"{name} {value / unit:+.3f}" for name, value in zip(AXES, self.displacement(unit), strict=True)
        )
        if self.axis is None:
            return values
        return f"{values}  {'locking' if self.plane else 'along'} {AXES[self.axis]}"

    @property
    def _number(self) -> float | None:
        try:
            return float(self.typed)
        except ValueError:
            return None
