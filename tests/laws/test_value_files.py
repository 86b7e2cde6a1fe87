"""Laws of files of ours: any value that its class admits comes back from text and archive as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.base.differences import differences
from solver.storage.json_tree import json_text
from solver.storage.value_tree import from_tree, to_tree
from tests.laws.strategies import arrays


@dataclass(frozen=True, slots=True)
class Inner:
    """Something with a name, which may have no size."""

    name: str
    size: float | None


@dataclass(frozen=True, slots=True)
class Outer:
    """A field of each kind."""

    number: float
    count: int
    flag: bool
    text: str
    inner: Inner
    several: tuple[Inner, ...]
    table: dict[str, float]
    samples: np.ndarray
    anything: Any


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
INNERS = st.builds(Inner, WORDS, st.none() | NUMBERS)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FINITE | WORDS
ANYTHING = st.recursive(PLAIN, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(WORDS, inside, max_size=3))
SAMPLES = st.sampled_from([(0,), (1,), (3, 2), (2, 0, 3), (2, 2, 2)]).flatmap(lambda shape: arrays(shape, 1e300))
OUTERS = st.builds(
    Outer,
    NUMBERS,
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    WORDS,
    INNERS,
    st.lists(INNERS, max_size=3).map(tuple),
    st.dictionaries(WORDS, NUMBERS, max_size=3),
    SAMPLES,
    ANYTHING,
)


@given(OUTERS)
def test_trees_and_texts_give_the_value_back(value: Outer) -> None:
    """From a value to its tree, to text, to a tree, to a value: nothing changes, not a bit, not a NaN."""
    tree = json.loads(json_text(to_tree(value)), parse_constant=pytest.fail)  # NaN and Infinity are not JSON
    assert differences(value, from_tree(Outer, tree)) == ()
