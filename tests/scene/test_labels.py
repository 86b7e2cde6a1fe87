"""Names and numbers as text."""

from __future__ import annotations

import numpy as np

from solver.scene.labels import format_angle, format_length, join_names


def test_numbers_keep_their_digits() -> None:
    """Small lengths are in millimetres and small angles have two digits: no value is printed as zero."""
    texts = [format_length(x) for x in (-1.5, 0.9996, 0.9994, -0.25, 0.00996, 0.00994, 0.0012, 0.00034)]
    assert texts == ["-1.50 m", "1.00 m", "99.9 cm", "-25.0 cm", "1.0 cm", "9.9 mm", "1.2 mm", "0.34 mm"]
    assert [format_length(x) for x in (10.0, -10.1)] == ["10.00 m", "more than 10 m"]
    assert [format_angle(np.radians(x)) for x in (57.3, 6.04, 0.1, 0.031)] == [
        "57 deg",
        "6.0 deg",
        "0.1 deg",
        "0.031 deg",
    ]
    assert [format_angle(np.radians(x)) for x in (0.0, 2e-4, -2e-4)] == ["0 deg", "under 0.001 deg", "under 0.001 deg"]


def test_long_lists_are_cut() -> None:
    """Few things are named, of many it is said how many more there are."""
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(list("abcd")) == "a, b, c and d"
    assert join_names(list("abcdef")) == "a, b, c and 3 more"
