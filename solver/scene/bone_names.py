"""Parts of a person that the names of bones and recorded segments mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..assets import ASSETS
from ..files import read_bytes
from ..person import CHAINS, LINKS, split_side
from ..storage.json_tree import parse_json_object

VOCABULARY_FILE = ASSETS / "bone_names.json"
FOOT = CHAINS[1][-1]


def match_segments(names: Sequence[str], parts: Sequence[str]) -> dict[str, str]:
    """The segment of each part (part: segment) by the segments' names; equal names first."""
    known = _vocabulary()
    found: dict[str, tuple[int, str]] = {}
    for name in names:
        for link, rank in _candidate_links(name, known):
            if link in parts and rank < found.get(link, (10**6, ""))[0]:
                found[link] = (rank, name)
    result = {link: name for link, (_, name) in found.items()}
    # a foot beside an ankle is the link below it: the toes
    return {**result, **{link: link for link in parts if link in names and not link.endswith(FOOT)}}


def _candidate_links(name: str, known: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Links that a segment's name may mean, each with its rank: 0 is the most probable."""
    own = name.rpartition(":")[2]
    found = []
    for side, words in split_side(own):
        words = [word for word in words if word not in known["prefixes"]]
        stem = "".join(words)
        for prefix in known["prefixes"]:
            stem = stem.removeprefix(prefix)
        for link, stems in known["links"].items():
            sided = f"{side}_{link}"
            if stem in stems and (sided in LINKS if side else link in LINKS):
                found.append((sided if side else link, stems.index(stem)))
    return found


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, Any]:
    return parse_json_object(VOCABULARY_FILE, read_bytes(VOCABULARY_FILE), "Install the program again")
