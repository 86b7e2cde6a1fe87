"""Names of trials: distinct, and valid as names of result files; and distinct names of markers and plates."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path


def printable_name(name: str) -> str:
    """A name as printable text that all systems accept as the beginning of a file's name.

    Bytes that are not UTF-8 are read as cp1252; control characters, slashes and colons become ``_``.
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return "".join(letter if letter.isprintable() and letter not in "/\\:" else "_" for letter in name)


def distinct_names(stems: Sequence[str], files: Sequence[Path]) -> list[str]:
    """A distinct name for each trial; equal names are distinguished by their folders, then by their suffixes.

    Args:
        stems: of the trials.
        files: one of each trial.

    Returns:
        in the same order; distinct regardless of case, as some file systems require.
    """
    names = [printable_name(stem) for stem in stems]
    alike = defaultdict(list)
    for place, name in enumerate(names):
        alike[name.casefold()].append(place)
    taken = {name for name, places in alike.items() if len(places) == 1}
    for places in alike.values():
        if len(places) == 1:
            continue
        for place, parts in zip(places, _differing_folders([files[place].absolute().parent.parts for place in places])):
            choices = _candidate_names([printable_name(part) for part in parts], names[place], files[place].suffix[1:])
            names[place] = next(choice for choice in choices if choice.casefold() not in taken)
            taken.add(names[place].casefold())
    return names


def number_repeated(names: Sequence[str]) -> tuple[str, ...]:
    """Names of which each occurs once: ``RTOE``, ``RTOE_2``, ``RTOE_3`` for three of the same label."""
    result: list[str] = []
    for name in names:
        numbered, number = name, 1
        while numbered in result or (number > 1 and numbered in names):
            number += 1
            numbered = f"{name}_{number}"
        result.append(numbered)
    return tuple(result)


def _candidate_names(parts: Sequence[str], stem: str, suffix: str) -> Iterator[str]:
    whole = "_".join((*parts, stem))
    yield whole
    yield f"{whole}_{suffix}"
    yield from (f"{whole}_{suffix}_{number}" for number in count(2))


def _differing_folders(paths: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """The folders of each path that differ between the paths at their depth."""
    shared = [len(set(parts)) == 1 for parts in zip(*paths)]
    return [[part for depth, part in enumerate(path) if depth >= len(shared) or not shared[depth]] for path in paths]
