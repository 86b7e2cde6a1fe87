"""Lines of a pipe with bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

BLOCK = 1 << 16
"""Bytes read at once."""


def bounded_lines(read: Callable[[int], bytes], longest: int) -> Iterator[bytes | None]:
    r"""Lines that are not empty, without their ends; None in place of one that is too long.

    Args:
        read: returns at most the given number of bytes, as soon as there are any; none at the end of the input.
        longest: [bytes] of a line.

    >>> blocks = iter([b"one\ntw", b"o\nmuch too ", b"long\n\nfour", b""])
    >>> list(bounded_lines(lambda most: next(blocks), longest=4))
    [b'one', b'two', None, b'four']
    """
    parts: list[bytes] = []
    size, block = 0, b"\n"
    while block:
        block = read(BLOCK)
        for number, piece in enumerate(block.split(b"\n") if block else (b"", b"")):
            if number:
                if size > longest:
                    yield None
                elif (line := b"".join(parts)).strip():
                    yield line
                parts, size = [], 0
            size += len(piece)
            if size > longest:
                parts.clear()
            elif piece:
                parts.append(piece)
