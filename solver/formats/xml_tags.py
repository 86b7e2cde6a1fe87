"""Start tags of an XML file with their bytes, to change some of them and leave all other bytes as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.parsers import expat

_START_TAG = re.compile(rb"""<[^\s/>]+(?:\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(?=/?>)""")

Edit = tuple[int, int, bytes]
"""Start and stop of bytes, and the bytes in their place."""


@dataclass(slots=True)
class Tag:
    """An element's start tag.

    Attributes:
        name: of the element.
        attributes: by name.
        parent: index of the element around it, -1 for the outermost.
        start: place of its first byte.
        text: its bytes, without the closing ``>`` or ``/>``.
        end: place of the first byte of the end tag; that of the start tag if it is empty.
    """

    name: str
    attributes: Mapping[str, str]
    parent: int
    start: int
    text: bytes
    end: int = 0

    @property
    def inside(self) -> int:
        """Place of the first byte after the start tag of an element that is not empty."""
        return self.start + len(self.text) + 1

    def edit(self, values: Mapping[str, str | None]) -> Edit:
        """The tag with other values of attributes; None removes one."""
        text = self.text
        for name, value in values.items():
            pattern = rb"""(\s%s\s*=\s*)(?:"[^"]*"|'[^']*')""" % name.encode()
            written = b"" if value is None else rb'\1"%s"' % value.encode()
            text, count = re.subn(pattern, written, text)
            text += b"" if count or value is None else b' %s="%s"' % (name.encode(), value.encode())
        return self.start, self.start + len(self.text), text


def find_tags(data: bytes) -> list[Tag]:
    """Start tags of an XML file, in its order."""
    parser, stack = expat.ParserCreate(), [-1]
    found: list[Tag] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        text = _START_TAG.match(data, at)
        found.append(Tag(name, attributes, stack[-1], at, b"" if text is None else text[0]))
        stack.append(len(found) - 1)

    def end(name: str) -> None:
        found[stack.pop()].end = parser.CurrentByteIndex

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return found


def children(tags: Sequence[Tag], parent: int, name: str) -> list[int]:
    """Indices of the elements of a name within another."""
    return [k for k, tag in enumerate(tags) if tag.parent == parent and tag.name == name]


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes of a file with changes that do not overlap."""
    for start, stop, text in sorted(edits, reverse=True):
        data = data[:start] + text + data[stop:]
    return data
