"""What a marker's name means: its side, and its landmark or link, in any of the known naming conventions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..base.assets import ASSETS
from ..base.files import read_bytes
from ..scene.marker_set import MIDLINE_LANDMARKS
from ..storage.json_tree import parse_json_object
from ..values.person import LINKS, split_side

VOCABULARY_FILE = ASSETS / "marker_names.json"
LANDMARK, LINK, JOINT_CENTRE, VIRTUAL, OBJECT = "landmark", "link", "joint centre", "virtual", "object"
MIN_LETTERS = 2
EXACT_CONFIDENCE, NUMBERED_CONFIDENCE, PREFIX_CONFIDENCE, BEGINNING_CONFIDENCE, LETTER_CONFIDENCE = (
    0.95,
    0.85,
    0.7,
    0.6,
    0.45,
)
"""Confidence of a word that is known as it is, without its number, from before the colon, by its beginning, and of a
single letter."""
MISSING_SIDE_FACTOR = 0.5
"""Factor on it for a link or landmark that a body has on both sides, named without its side."""

VERTEBRA = re.compile(r"[ctl]\d+")
"""A word that without a side names a vertebra: ``LT2`` is the second marker of a thigh."""
BONE = re.compile("fib|tib|rad|uln|hum|fem|met|mt|phal")
"""Part of a word in which ``head`` is the head of a bone."""


@dataclass(frozen=True, slots=True)
class NameReading:
    """One interpretation of a name.

    Attributes:
        kind: `LANDMARK`, `LINK`, `JOINT_CENTRE` (computed), `VIRTUAL` (computed) or `OBJECT`, not on the body.
        body_part: the landmark or link, without side; empty if not on the body.
        side: ``"left"``, ``"right"`` or empty.
        confidence: 0 to 1.
    """

    kind: str
    body_part: str
    side: str
    confidence: float

    @property
    def has_sides(self) -> bool:
        """Whether a body has the landmark, link or joint centre on both sides."""
        if self.kind == LANDMARK:
            return self.body_part not in MIDLINE_LANDMARKS
        return self.kind in (LINK, JOINT_CENTRE) and self.body_part not in LINKS

    @property
    def landmark(self) -> str:
        """The landmark as in a marker set, ``"left asis"``; empty for other kinds."""
        return f"{self.side} {self.body_part}".strip() if self.kind == LANDMARK else ""

    @property
    def link(self) -> str:
        """The link with its side, of a `LINK` or `JOINT_CENTRE`; empty for others, and if the side is missing."""
        named = f"{self.side}_{self.body_part}" if f"{self.side}_{self.body_part}" in LINKS else self.body_part
        return named if self.kind in (LINK, JOINT_CENTRE) and named in LINKS else ""


def read_name(name: str) -> NameReading | None:
    """The best interpretation of a name, None if there is none.

    Text before the last colon is a subject's name, unless the rest means nothing: then it may name the body part
    (``ArmL:Marker1``).
    """
    prefix, _, own = name.rpartition(":")
    best = _best_reading(own)
    if best is None and prefix and (best := _best_reading(prefix.rpartition(":")[2])) is not None:
        best = replace(best, confidence=min(best.confidence, PREFIX_CONFIDENCE))
    return best


def read_names(names: Sequence[str], placed: Collection[NameReading] = ()) -> dict[str, NameReading]:
    """Interpretations of the names that have one.

    If several name the same landmark, only the most certain is kept, if there is one; if several name the same joint
    centre, the others are `VIRTUAL`. Landmarks and joint centres in ``placed`` are taken.
    """
    found = {name: reading for name in names if (reading := read_name(name)) is not None}
    taken = {(reading.kind, reading.landmark or reading.link) for reading in placed}
    alike: dict[tuple[str, str], list[str]] = {}
    for name, reading in found.items():
        if reading.kind in (LANDMARK, JOINT_CENTRE):
            alike.setdefault((reading.kind, reading.landmark or reading.link), []).append(name)
    for place, duplicates in alike.items():
        best = max(found[name].confidence for name in duplicates)
        surest = [name for name in duplicates if found[name].confidence == best]
        is_centre = place[0] == JOINT_CENTRE
        kept = surest[:1] if place not in taken and (is_centre or len(surest) == 1) else []
        for name in duplicates:
            if name not in kept and is_centre:
                found[name] = replace(found[name], kind=VIRTUAL)
            elif name not in kept:
                del found[name]
    return found


def _best_reading(word: str) -> NameReading | None:
    return max(_candidate_readings(word), key=lambda reading: reading.confidence, default=None)


def _candidate_readings(name: str) -> Iterator[NameReading]:
    """All interpretations of a name."""
    vocabulary = _vocabulary()
    for side, words in split_side(name):
        forms = {"".join(words), "".join(reversed(words))}
        for form in forms:
            for stem, share in (
                (form, EXACT_CONFIDENCE),
                (re.sub(r"\d+$", "", form), NUMBERED_CONFIDENCE),
                (form.rstrip("0123456789_"), NUMBERED_CONFIDENCE),
            ):
                if len(stem) < MIN_LETTERS:
                    share = LETTER_CONFIDENCE if len(name) == MIN_LETTERS else 0.0
                for kind, what in vocabulary.get(stem, ()) if share else ():
                    if what == "torso" and side and VERTEBRA.fullmatch(stem):
                        continue
                    if (reading := _apply_side(kind, what, side, share)) is not None:
                        yield reading
        for stem, link in _link_prefixes():
            if (
                "".join(words).startswith(stem)
                and not (link == "head" and BONE.search("".join(words)))
                and (reading := _apply_side(LINK, link, side, BEGINNING_CONFIDENCE)) is not None
            ):
                yield reading


def _apply_side(kind: str, body_part: str, side: str, confidence: float) -> NameReading | None:
    """An interpretation with its side, None if the body part has no sides."""
    reading = NameReading(kind, body_part, side, confidence)
    if reading.has_sides:
        return reading if side else replace(reading, confidence=MISSING_SIDE_FACTOR * confidence)
    return None if side and kind == LANDMARK else replace(reading, side="")


def _tree() -> Mapping[str, Any]:
    return parse_json_object(VOCABULARY_FILE, read_bytes(VOCABULARY_FILE), "Install the program again")


@lru_cache(maxsize=1)
def _link_prefixes() -> tuple[tuple[str, str], ...]:
    """Beginnings of words, and the link that each means; the longest first."""
    pairs = [(word, link) for link, words in _tree()["parts"].items() for word in words]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Meanings of each word: kind and landmark or link."""
    tree = _tree()
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, group in ((LANDMARK, "landmarks"), (LINK, "links"), (JOINT_CENTRE, "joint_centres")):
        for what, words in tree[group].items():
            for word in words:
                found.setdefault(word, []).append((kind, what))
    for kind, group in ((VIRTUAL, "virtual"), (OBJECT, "objects")):
        for word in tree[group]:
            found.setdefault(word, []).append((kind, ""))
    return {word: tuple(meanings) for word, meanings in found.items()}
