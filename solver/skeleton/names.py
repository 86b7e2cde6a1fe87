"""Parts of a person that the names of bones and recorded segments mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..base.assets import ASSETS
from ..base.files import read_bytes
from ..storage.json_tree import parse_json_object
from ..values.person import CHAINS, LINKS, SIDES, split_side

VOCABULARY_FILE = ASSETS / "bone_names.json"
FOOT = CHAINS[1][-1]
MIN_SHARE = 0.8
"""[1] Fraction of a skeleton's names that share what is no part of the bones' own names. Chosen on 28 naming
conventions of one public clip; .5 to .99 find the same parts."""
FIRST_WORD, LAST_WORD = re.compile(r"^[^\W_]+[^A-Za-z0-9]+"), re.compile(r"[^A-Za-z0-9]+[^\W_]+$")
WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[^A-Za-z0-9])")
SIDE_SIGNS = {"左": "left", "右": "right"}


def match_segments(names: Sequence[str], parts: Sequence[str] = LINKS) -> dict[str, str]:
    """The segment of each part (part: segment) by the segments' names; equal names first."""
    found: dict[str, tuple[int, str]] = {}
    for name, plain in zip(names, strip_shared_words(names)):
        for link, rank in candidate_parts(plain):
            if link in parts and rank < found.get(link, (10**6, ""))[0]:
                found[link] = (rank, name)
    result = {link: name for link, (_, name) in found.items()}
    # a foot beside an ankle is the link below it: the toes
    return {**result, **{link: link for link in parts if link in names and not link.endswith(FOOT)}}


def strip_shared_words(names: Sequence[str]) -> list[str]:
    """Names without the namespace, and without the words that most of them share at their beginning or end."""
    found = [re.split(r"[:|]", name)[-1] or name for name in names]
    shared = len(found) > 1
    while shared:
        shared = False
        for word in (FIRST_WORD, LAST_WORD):
            counts = Counter(match.group() for name in found if (match := word.search(name)))
            most, count = counts.most_common(1)[0] if counts else ("", 0)
            if count > MIN_SHARE * len(found):
                strip = str.removeprefix if word is FIRST_WORD else str.removesuffix
                found, shared = [strip(name, most) for name in found], True
    same = [len(set(letters)) == 1 for letters in zip(*found)]
    shared_start = found[0][: same.index(False)] if False in same else ""
    ends = [match.end() for match in WORD_ENDS.finditer(f"{shared_start}X")] if len(found) > 1 else []
    return [name[ends[-1] :] for name in found] if ends else found


def candidate_parts(name: str) -> list[tuple[str, int]]:
    """Parts that a bone's name may mean, each with its rank: 0 is the most probable."""
    known = _vocabulary()
    whole = {stem for stems in known["links"].values() for stem in stems}
    found = []
    for side, words in split_side(name):
        stem = "".join(word for word in words if word not in known["prefixes"])
        for prefix in known["prefixes"]:
            stem = stem if stem in whole else stem.removeprefix(prefix)
        for link, stems in known["links"].items():
            sided = f"{side}_{link}"
            if stem in stems and (sided in LINKS if side else link in LINKS):
                found.append((sided if side else link, stems.index(stem)))
    return found


def stated_side(name: str) -> str | None:
    """The side that a bone's name states in a word of its own; None without one."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    sides = {side for side in SIDES for word in words if word == side[0] or word.startswith(side)}
    sides |= {side for sign, side in SIDE_SIGNS.items() if sign in name}
    return sides.pop() if len(sides) == 1 else None


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, Any]:
    return parse_json_object(VOCABULARY_FILE, read_bytes(VOCABULARY_FILE), "Install the program again")
