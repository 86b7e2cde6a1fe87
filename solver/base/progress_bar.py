"""Progress bar for terminals, with the remaining time; plain lines without a terminal."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from .progress import Progress, write_lines
from .termination import on_stop

SECONDS = 0.5
"""[s] Interval at which the clock is updated, so that a long step does not look like a hang."""
FORMAT = "{percentage:3.0f} % |{bar:24}| {elapsed}, {remaining} left  {desc}"

ERASE = "\r\x1b[K"
"""Erases the line. tqdm writes blanks instead, whose number is wrong after an interrupt."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a bar on stderr until the work ends; plain lines if stderr is not a terminal.

    Other output appears above the bar. Blender's extension has no tqdm and therefore prints lines.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or not _can_show_a_bar(sys.stderr):
        yield write_lines
        return
    # The delay prevents tqdm from drawing before the first report.
    bar = Bar(tqdm(total=1.0, file=sys.stderr, bar_format=FORMAT, leave=False, dynamic_ncols=True, delay=SECONDS))
    ticking = threading.Thread(target=bar.tick, daemon=True)
    ticking.start()
    try:
        with (
            on_stop(bar.erase),
            redirect_stdout(TextAboveBar(sys.stdout, bar)),
            redirect_stderr(TextAboveBar(sys.stderr, bar)),
        ):
            yield bar
    finally:
        bar.close()
        ticking.join(SECONDS)


def _can_show_a_bar(stream: TextIO) -> bool:
    """Whether a stream is a terminal with a known width that can erase lines; a serial console is not."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and os.get_terminal_size(stream.fileno()).columns > 0


class Bar:
    """Progress on one line of the terminal, from the first report."""

    def __init__(self, meter: Any) -> None:
        self._meter = meter
        self._started = False
        self._line_is_open = False
        """Other output has an unfinished line: the bar is not drawn until it ends."""
        self._ended = threading.Event()
        self._lock = threading.RLock()
        """Protects the meter instead of its own lock, which an interrupt can leave locked."""

    def __call__(self, fraction: float, message: str) -> None:
        with self._lock:
            self._started = True
            self._meter.n = min(max(fraction, 0.0), 1.0)
            self._meter.set_description_str(message, refresh=False)
            self._draw()

    def tick(self) -> None:
        """Update the clock until the work ends."""
        while not self._ended.wait(SECONDS):
            with self._lock:
                self._draw()

    def write(self, stream: TextIO, text: str) -> int:
        """Print in place of the bar; the next report or tick draws it below."""
        with self._lock:
            self._wipe()
            written = stream.write(text)
            stream.flush()
            self._line_is_open = not text.endswith("\n") if text else self._line_is_open
        return written

    def close(self) -> None:
        """Erase the bar."""
        self._ended.set()
        with self._lock:
            self._wipe()
            self._started = False

    def erase(self) -> None:
        """Erase the bar at once, without the streams' locks; nothing is drawn any more."""
        self._ended.set()
        with self._lock:
            self._started = False
            os.write(self._meter.fp.fileno(), ERASE.encode())

    def _draw(self) -> None:
        if self._started and not self._line_is_open:
            self._meter.refresh(nolock=True)

    def _wipe(self) -> None:
        if self._started and not self._line_is_open:
            self._meter.fp.write(ERASE)
            self._meter.fp.flush()


class TextAboveBar:
    """A text stream that erases the bar before it writes."""

    def __init__(self, stream: TextIO, bar: Bar) -> None:
        self._stream = stream
        self._bar = bar

    def write(self, text: str) -> int:
        """As for any text stream."""
        return self._bar.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
