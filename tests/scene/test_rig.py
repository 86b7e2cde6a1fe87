"""A rig in its file, and as text."""

from __future__ import annotations

import json

import pytest

from solver.base.errors import InvalidValue
from solver.rigs import human
from solver.scene.rig import rig_from_text, rig_to_text

PERSON = human(1.75, 70.0, "female")


def test_text_that_is_not_a_rig_is_refused() -> None:
    """Truncated, empty, deeply nested or other text, or a wrong entry, gives one error that says so."""
    tree = json.loads(rig_to_text(PERSON))
    wrong = json.dumps(tree | {"name": 3})
    for text in ("", rig_to_text(PERSON)[:-20], "[" * 200_000, "[]", "{}", wrong):
        with pytest.raises(InvalidValue, match="text is not a rig"):
            rig_from_text(text)
