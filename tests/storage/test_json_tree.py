"""JSON means one thing, or it is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.storage.json_tree import MAX_DEPTH, WrongEntry, parse_json, parse_json_object


def test_what_is_json_is_read() -> None:
    """As the standard library reads it, a byte order mark and a pair of halves included."""
    tree = {"a": [1, -2.5e-3, None, True, "é"], "b": {}}
    assert parse_json(json.dumps(tree)) == tree
    assert parse_json(b"\xef\xbb\xbf" + json.dumps(tree, ensure_ascii=False).encode()) == tree
    assert parse_json('"\\ud83d\\udd7a"') == "\N{MAN DANCING}"
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2: is not JSON"),
        ("[NaN]", "NaN is not JSON"),
        ("[1e999]", "1e999 is out of range"),
        ("[" + "9" * 5000 + "]", "is not JSON"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' occurs twice"),
        ('["\\ud800"]', "incomplete character"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} levels"),
        ("[" * 100_000, "is nested"),
        (b'["\xff"]', "utf-8"),
    ],
)
def test_what_is_none_is_refused(text: str | bytes, said: str) -> None:
    """Numbers that no number holds, entries that stand twice, texts that nothing can show, nesting without end."""
    with pytest.raises(WrongEntry, match=said):
        parse_json(text)


def test_a_file_is_named() -> None:
    """With its place and what to do; a list is no object."""
    with pytest.raises(InputError, match=r"a\.json, line 2, column 1: is not JSON .*Write it again"):
        parse_json_object(Path("a.json"), '{"a":\n}', "Write it again")
    with pytest.raises(InputError, match="not a JSON object"):
        parse_json_object(Path("a.json"), "[]", "Write it again")
