"""Lines of a pipe, and the pipes of the live check."""

from __future__ import annotations

import json
import os
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from solver.live import pipes
from solver.live.line_reader import bounded_lines
from solver.live.pipes import MAX_LINE_BYTES, QUEUE_LENGTH, RequestReader, ResponseWriter
from solver.live.protocol import EndRequest, LookRequest, MalformedRequest, parse_request

CONTENT = b"one\n\n  \ntwo two\r\n" + b"x" * 300 + b"\nthree\nthe last"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Two ends: to read, to write."""
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):  # the test closed it
            os.close(end)


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1000])
def test_lines_do_not_depend_on_blocks(size: int) -> None:
    """Lines are the same for all blocks, and a line that is too long does not affect others."""
    blocks = iter([CONTENT[start : start + size] for start in range(0, len(CONTENT), size)] + [b""])
    found = list(bounded_lines(lambda most: next(blocks), 20))
    assert found == [b"one", b"two two\r", None, b"three", b"the last"]


def test_a_line_of_a_hundred_megabytes_takes_no_memory() -> None:
    """Content beyond the limit is not stored."""
    block, left = b"x" * (1 << 16), iter(range(1600))
    tracemalloc.start()
    try:
        found = list(bounded_lines(lambda most: block if next(left, None) is not None else b"", MAX_LINE_BYTES))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert found == [None]


def test_all_requests_are_read_up_to_the_end(pipe: tuple[int, int]) -> None:
    """More requests than the queue holds, one of them too long, arrive in order."""
    reading, writing = pipe
    count = 3 * QUEUE_LENGTH
    lines = [json.dumps({"do": "look", "frame": k}).encode() for k in range(count)]
    lines[5] = b"x" * (MAX_LINE_BYTES + 1)
    inbox = RequestReader(reading, parse_request, lambda request: isinstance(request, EndRequest))
    sender = threading.Thread(target=_write_all, args=(writing, b"\n".join(lines)))
    sender.start()
    found = []
    while some := inbox.take(wait=True):
        assert len(some) <= QUEUE_LENGTH
        found += some
    sender.join()
    assert inbox.ended
    assert isinstance(found[5], MalformedRequest)
    assert str(MAX_LINE_BYTES) in found[5].message
    assert found[:5] + found[6:] == [LookRequest(k) for k in range(count) if k != 5]


def test_the_request_to_end_is_the_last(pipe: tuple[int, int]) -> None:
    """Nothing is read after it."""
    reading, writing = pipe
    inbox = RequestReader(reading, parse_request, lambda request: isinstance(request, EndRequest))
    _write(writing, b'{"do": "end"}\n{"do": "look", "frame": 1}\n')
    assert len(inbox.take(wait=True)) == 1
    assert inbox.take(wait=True) == []


def test_a_full_pipe_is_waited_for_until_the_input_ends(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A full pipe stops the server; after the input has ended, or the reader is closed, it gives up."""
    monkeypatch.setattr(pipes, "WRITE_TIMEOUT", 0.1)
    reading, writing = pipe
    over = threading.Event()
    outbox = ResponseWriter(writing, over.is_set)
    threading.Timer(0.5, over.set).start()
    with pytest.raises(BrokenPipeError, match="unread"):
        _say(outbox, 4 * QUEUE_LENGTH)
    assert over.is_set()
    os.close(reading)
    with pytest.raises(BrokenPipeError, match="closed the pipe"):
        outbox.flush()


def test_responses_keep_order_and_characters(pipe: tuple[int, int]) -> None:
    """Half a surrogate pair, as in a file name that is not UTF-8, survives the pipe."""
    reading, writing = pipe
    outbox = ResponseWriter(writing, lambda: False)
    texts = ["a\udcffb", "\u00e9", *map(str, np.arange(20))]
    for text in texts:
        outbox.write(json.dumps(text, ensure_ascii=False))
    outbox.flush()
    assert [json.loads(line) for line in os.read(reading, 1 << 16).splitlines()] == texts


def _say(outbox: ResponseWriter, count: int) -> None:
    for _ in range(count):
        outbox.write("x" * 1000)


def _write_all(number: int, content: bytes) -> None:
    _write(number, content)
    os.close(number)


def _write(number: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(number, left) :]
