"""Progress for a person at a terminal: one bar that moves, with the time left; plain lines where there is none."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from .progress import Console, Progress
from .termination import on_stop

SECONDS = 0.5
"""[s] The clock goes on between two reports of the work, so that a long step does not look like a stop."""
FORMAT = "{percentage:3.0f} % |{bar:24}| {elapsed}, {remaining} left  {desc}"

ERASE = "\r\x1b[K"
"""Empties the line. tqdm's own way writes as many blanks as it believes it wrote, and an interrupt makes it forget."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on stderr that is gone when the work ends, however it ends; lines where stderr is no terminal.

    What is printed meanwhile appears above the bar. Blender's extension does without tqdm, and so with lines.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or not _can_show_a_bar(sys.stderr):
        yield Console()
        return
    # The delay keeps tqdm from drawing before there is anything to say.
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
    """A terminal that can empty a line and knows its width; a serial console, for one, does not."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and os.get_terminal_size(stream.fileno()).columns > 0


class Bar:
    """Progress on one line of the terminal, from the first report on."""

    def __init__(self, meter: Any) -> None:
        self._meter = meter
        self._said = False
        self._within_a_line = False
        """Something was printed that did not end its line: the bar waits for the rest."""
        self._ended = threading.Event()
        self._lock = threading.RLock()
        """Guards the meter instead of its own lock, which an interrupt can leave taken."""

    def __call__(self, fraction: float, message: str) -> None:
        with self._lock:
            self._said = True
            self._meter.n = min(max(fraction, 0.0), 1.0)
            self._meter.set_description_str(message, refresh=False)
            self._draw()

    def tick(self) -> None:
        """Move the clock until the work ends."""
        while not self._ended.wait(SECONDS):
            with self._lock:
                self._draw()

    def write(self, stream: TextIO, text: str) -> int:
        """Print where the bar is; the next report or tick draws it below."""
        with self._lock:
            self._wipe()
            written = stream.write(text)
            stream.flush()
            self._within_a_line = not text.endswith("\n") if text else self._within_a_line
        return written

    def close(self) -> None:
        """Leave the line empty."""
        self._ended.set()
        with self._lock:
            self._wipe()
            self._said = False

    def erase(self) -> None:
        """Leave the line empty now, whatever the streams are amid; nothing is drawn any more."""
        self._ended.set()
        with self._lock:
            self._said = False
            os.write(self._meter.fp.fileno(), ERASE.encode())

    def _draw(self) -> None:
        if self._said and not self._within_a_line:
            self._meter.refresh(nolock=True)

    def _wipe(self) -> None:
        if self._said and not self._within_a_line:
            self._meter.fp.write(ERASE)
            self._meter.fp.flush()


class TextAboveBar:
    """A text stream that takes the bar away before it writes."""

    def __init__(self, stream: TextIO, bar: Bar) -> None:
        self._stream = stream
        self._bar = bar

    def write(self, text: str) -> int:
        """As of any text stream."""
        return self._bar.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
