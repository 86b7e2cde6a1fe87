"""Names of trials: of their files, but no two alike, and such that results can be written under them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

RESERVED_STEMS = frozenset({"result"})
"""Stems of tables among the results, which a trial's own table would replace."""


def printable_name(name: str) -> str:
    """A file's name as text: bytes that are no UTF-8 are read as of Windows, control characters become underscores."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        name = os.fsencode(name).decode("cp1252", errors="replace")
    return "".join(letter if letter.isprintable() else "_" for letter in name)


def distinct_names(stems: Sequence[str], files: Sequence[Path]) -> list[str]:
    """A name for each trial; what several would be called is told apart by their folders, then by their suffixes.

    Args:
        stems: of the trials.
        files: one of each trial.

    Returns:
        in the same order; different from one another whatever the case, as some file systems ask.
    """
    names = [printable_name(stem) for stem in stems]
    alike = defaultdict(list)
    for place, name in enumerate(names):
        alike[name.casefold()].append(place)
    taken = {name for name, places in alike.items() if len(places) == 1} | RESERVED_STEMS
    for name, places in alike.items():
        if len(places) == 1 and name not in RESERVED_STEMS:
            continue
        for place, parts in zip(places, _differing_folders([files[place].absolute().parent.parts for place in places])):
            choices = _candidate_names([printable_name(part) for part in parts], names[place], files[place].suffix[1:])
            names[place] = next(choice for choice in choices if choice.casefold() not in taken)
            taken.add(names[place].casefold())
    return names


def renaming_note(name: str, file: Path, stem: str) -> str | None:
    """The sentence that tells of a trial's other name; None where it has its file's."""
    if name == stem:
        return None
    why = (
        "its name is no plain text" if printable_name(stem) != stem else "another trial or file of results is called so"
    )
    return f"{printable_name(str(file))}: this trial is called {name!r}, for {why}"


def _candidate_names(parts: Sequence[str], stem: str, suffix: str) -> Iterator[str]:
    whole = "_".join((*parts, stem))
    yield whole
    yield f"{whole}_{suffix}"
    yield from (f"{whole}_{suffix}_{number}" for number in count(2))


def _differing_folders(paths: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Of each path, the folders that not all of them have at that depth."""
    shared = [len(set(parts)) == 1 for parts in zip(*paths)]
    return [[part for depth, part in enumerate(path) if depth >= len(shared) or not shared[depth]] for path in paths]
