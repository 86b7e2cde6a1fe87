"""Lines of a pipe, none of which takes more than its share of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

BLOCK = 1 << 16
"""Bytes read at once."""


def bounded_lines(read: Callable[[int], bytes], longest: int) -> Iterator[bytes | None]:
    r"""Lines that hold something, without their ends; None for one that is too long, after which the next follows.

    Args:
        read: some bytes, at most so many, as soon as there are any; none at the end, which ends the last line as well.
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
