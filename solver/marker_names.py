"""Marker names as laboratories write them: the same marker in other capitals, or behind a subject's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

UNLABELLED = "*"
"""Begins the name that a program gives to a marker which nobody named."""
MOST = 0.5
"""Share of the named markers that a subject's name must precede."""
SIDES = ("l_", "r_", "left_", "right_")
"""What many names may begin with that is no subject."""


def normalise(name: str) -> str:
    """A name without a subject's ``name:`` before it, in small letters."""
    return name.rpartition(":")[2].strip().casefold()


def name_variants(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Names as they are, then without each beginning up to an underscore that most of them share."""
    yield tuple(names)
    named = [name for name in names if not name.startswith(UNLABELLED)]
    heads = Counter(name[: name.index("_") + 1] for name in named if "_" in name[1:])
    if not heads:
        return
    head, count = heads.most_common(1)[0]
    if count <= MOST * len(named) or head.casefold() in SIDES:
        return
    headed = [name for name in named if name.startswith(head)]
    for place in (place for place, letter in enumerate(headed[0], 1) if letter == "_"):
        shared = headed[0][:place]
        if all(name.startswith(shared) for name in headed):
            yield tuple(name.removeprefix(shared) or name for name in names)


def match_names(names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Which known name each recorded one is; those that are none are left out.

    A name is itself first. Of the others, names are the same that differ in capitals only, or in a subject's ``name:``
    or ``name_``, where one recorded name and one known name are alike so, no more.
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
    """Names by how they are written, bare; none where several are alike."""
    plain = [normalise(each) for each in written]
    times = Counter(plain)
    return {each: name for each, name in zip(plain, names) if times[each] == 1}
