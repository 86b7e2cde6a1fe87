"""Arrays for Hypothesis to vary."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st


def reals(largest: float, smallest: float | None = None) -> Any:
    """Numbers between bounds, symmetric about zero unless both are given."""
    low = -largest if smallest is None else smallest
    return st.floats(low, largest, allow_nan=False, allow_infinity=False, allow_subnormal=False)


def arrays(shape: tuple[int, ...], largest: float, smallest: float | None = None) -> Any:
    """Arrays of a shape with such entries."""
    count = int(np.prod(shape))
    return st.lists(reals(largest, smallest), min_size=count, max_size=count).map(
        lambda values: np.array(values).reshape(shape)
    )


def rotation_vectors(longest: float) -> Any:
    """(3,) [rad] of at most that length."""
    return st.tuples(arrays((3,), 1.0), reals(longest, 0.0)).map(
        lambda pair: pair[0] / max(float(np.linalg.norm(pair[0])), 1e-12) * pair[1] * bool(pair[0].any())
    )
