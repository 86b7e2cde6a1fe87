"""A rig in its file, and as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from solver.base.errors import InvalidValue
from solver.rigs import human
from solver.scene.rig import read_rig, rig_from_text, rig_to_text, write_rig
from solver.values.inertials import InertialParameters

PERSON = human(1.75, 70.0, "female")


def test_file_and_text_keep_the_rig(tmp_path: Path) -> None:
    """A rig whose masses were identified comes back by value from both."""
    rig = PERSON.with_prior(InertialParameters(PERSON.links, 1.2 * PERSON.prior.values))
    text = rig_to_text(rig)
    for again in (read_rig(write_rig(tmp_path / "rig.json", rig)), rig_from_text(text)):
        assert again.differences(rig) == ()
        assert again.differences(PERSON) != ()


def test_text_that_is_not_a_rig_is_refused() -> None:
    """Truncated, empty, deeply nested or other text, or a wrong entry, gives one error that says so."""
    tree = json.loads(rig_to_text(PERSON))
    wrong = json.dumps(tree | {"name": 3})
    for text in ("", rig_to_text(PERSON)[:-20], "[" * 200_000, "[]", "{}", wrong):
        with pytest.raises(InvalidValue, match="text is not a rig"):
            rig_from_text(text)
