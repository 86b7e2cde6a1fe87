"""How a process of ours ends when it is told to: soon, with nothing half-written, and in one line.

Python's own way is an exception wherever the program happens to be. Raised while a native module is imported or calls
back, it crashes the interpreter now and then; raised while Python ends, it prints a traceback. A process that is ours
alone (`handle_signals`) therefore does not unwind: what is half-written is removed and the process leaves. Two places
may
say otherwise: a step that must not be cut (`whole`), and work that keeps what is done so far (`interruptible`), which
receives a `KeyboardInterrupt`. In a process of somebody else (a notebook, a test) Ctrl-C stays what it is there.

A parent that wants its child to end with it, however it ends, holds the child's standard input open and says so in
the environment (`LIFELINE`): when the input ends, the parent is gone.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

CODE = 130
"""Exit code, as a shell says of Ctrl-C."""
LIFELINE = "EXCITING_DANCE_LIFELINE"
"""Set in a child's environment: its standard input says nothing, and ends with its parent."""
GRACE = 2.0
"""[s] A main thread that is busy in native code has to reach Python; then the process leaves without it."""
POLITE = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Signals that ask a process to end, of all systems."""
NOTHING = "stopped; nothing was written"


class _Stop:
    """What this process does when it is told to stop."""

    def __init__(self) -> None:
        self.owned = False
        self.undo: dict[object, Callable[[], None]] = {}
        self.written: list[str] = []
        self.held = 0
        self.interruptible = False
        self.asked = False


_stop = _Stop()


def handle_signals() -> None:
    """From now on, signals that ask this process to end do, and so does the end of a parent that holds its lifeline.

    To be called first of all, in the main thread of a process that is here for nothing else. A signal that whoever
    started it lets it ignore (``nohup``, a shell's background work) stays ignored.
    """
    _stop.owned = True
    for name in POLITE:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle_signal)
    atexit.register(_ignore_signals)  # the first to be registered is the last to be called
    end_with_parent(_overdue)


def end_with_parent(leave: Callable[[], None]) -> None:
    """Watch the lifeline, if this process has one, and tell the main thread when it ends; ``leave`` ends the process.

    The main thread gets `GRACE` seconds before ``leave`` is called, in a thread of its own.
    """
    if os.environ.pop(LIFELINE, None) is not None:  # a child of this process has another parent
        threading.Thread(target=_watch, args=(sys.stdin.fileno(), leave), daemon=True).start()


@contextmanager
def lifeline() -> Iterator[tuple[int, dict[str, str]]]:
    """A standard input for a child that ends with this process or the block, and what its environment must say."""
    end, own = os.pipe()
    try:
        yield end, {LIFELINE: "1"}
    finally:
        os.close(own)
        os.close(end)


@contextmanager
def on_stop(undo: Callable[[], None]) -> Iterator[None]:
    """Within the block, a stop calls this first; it must be quick, and right at any place of the block."""
    token = object()
    _stop.undo[token] = undo
    try:
        yield
    finally:
        _stop.undo.pop(token, None)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """The block, a short one, is not cut: a stop waits for its end, Ctrl-C in a process of somebody else too."""
    if not _stop.owned:
        with _ctrl_c_later():
            yield
        return
    _stop.held += 1
    try:
        yield
    finally:
        _stop.held -= 1
        if _stop.asked and not _stop.held:
            _leave()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # Ctrl-C interrupts the main thread only; a handler set from C, as Blender's, could not be put back
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block the first stop is a `KeyboardInterrupt`, for work that keeps what is done; the second ends it.

    Nothing native may call back within the block.
    """
    before, _stop.interruptible = _stop.interruptible, True
    try:
        yield
    finally:
        _stop.interruptible = before


def note_output(path: str | Path) -> None:
    """An output is complete: a stop that comes later says so."""
    if _stop.owned:
        _stop.written.append(str(path))


def _ignore_signals() -> None:
    """All is done, and nothing is left to stop: while Python takes itself apart, a signal would end it as a failure."""
    for name in POLITE:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)


def _handle_signal(number: int, frame: FrameType | None) -> None:
    if _stop.interruptible:
        _stop.interruptible = False
        raise KeyboardInterrupt
    _stop.asked = True
    if not _stop.held:
        _leave()


def _watch(lifeline: int, leave: Callable[[], None]) -> None:
    with suppress(OSError):
        while os.read(lifeline, 1024):
            pass
    _stop.interruptible = False  # nobody is left to keep anything for
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)  # wakes it from waiting, too
    else:
        _thread.interrupt_main(signal.SIGTERM)
    time.sleep(GRACE)
    leave()


def _overdue() -> None:
    while _stop.held:
        time.sleep(0.01)
    _leave()


def _leave() -> None:
    """End the process now; not by `sys.exit`, whose exit handlers and destructors would run amid what was cut."""
    for undo in reversed(list(_stop.undo.values())):
        with suppress(Exception):
            undo()
    written = [path for path in _stop.written if os.path.exists(path)]  # a file may have been part of what was undone
    said = f"stopped; written before: {', '.join(written)}" if written else NOTHING
    with suppress(OSError):  # past the streams, whose locks the main thread may hold
        os.write(2, f"{chr(10) if os.isatty(2) else ''}{said}\n".encode(errors="backslashreplace"))
    os._exit(CODE)
