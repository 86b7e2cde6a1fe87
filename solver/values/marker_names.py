"""Matching of marker names that differ in capitals or have a subject's name as prefix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

UNLABELLED = "*"
"""Prefix that capture programs give to unlabelled markers."""
MIN_SHARE = 0.5
"""Fraction of the labelled markers that a subject's prefix must have."""
SIDE_PREFIXES = ("l_", "r_", "left_", "right_")
"""Common prefixes that are not a subject's name."""


def normalise(name: str) -> str:
    """A name in lower case without a subject's prefix ``name:``."""
    return name.rpartition(":")[2].strip().casefold()


def name_variants(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names unchanged, then without each common prefix that ends with an underscore."""
    yield tuple(names)
    named = [name for name in names if not name.startswith(UNLABELLED)]
    heads = Counter(name[: name.index("_") + 1] for name in named if "_" in name[1:])
    if not heads:
        return
    head, count = heads.most_common(1)[0]
    if count <= MIN_SHARE * len(named) or head.casefold() in SIDE_PREFIXES:
        return
    headed = [name for name in named if name.startswith(head)]
    for place in (place for place, letter in enumerate(headed[0], 1) if letter == "_"):
        shared = headed[0][:place]
        if all(name.startswith(shared) for name in headed):
            yield tuple(name.removeprefix(shared) or name for name in names)


def match_names(names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Known name of each recorded name; names without a match are omitted.

    Identical names match first. The others match if they differ only in capitals or in a subject's prefix ``name:`` or
    ``name_``, and the match is unique.
    """
    found = {name: name for name in names if name in set(known)}
    rest = [name for name in names if name not in found]
    free = [name for name in dict.fromkeys(known) if name not in found]
    ways = [_match(rest, one, free, other) for one in name_variants(rest) for other in name_variants(free)]
    return found | max(ways, key=len, default={})


def _match(
    names: Sequence[str], written: Sequence[str], known: Sequence[str], known_written: Sequence[str]
) -> dict[str, str]:
    one, other = _unique_by_variant(names, written), _unique_by_variant(known, known_written)
    return {one[plain]: other[plain] for plain in one if plain in other}


def _unique_by_variant(names: Sequence[str], written: Sequence[str]) -> dict[str, str]:
    """Names by their normalised variant, without those whose variant is not unique."""
    plain = [normalise(each) for each in written]
    times = Counter(plain)
    return {each: name for each, name in zip(plain, names) if times[each] == 1}
