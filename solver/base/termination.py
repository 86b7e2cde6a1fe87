"""Termination of the solver's processes by signals: quickly, without partial output, and with a one-line message.

By default Python raises an exception at an arbitrary point. During the import of a native module or in its callbacks
that may crash the interpreter, and during shutdown it prints a traceback. So a process of the command line
(`handle_signals`) removes partial output and exits without unwinding, with two exceptions: a step that must be
completed (`uninterrupted`), and work that keeps partial results (`interruptible`), which receives a
`KeyboardInterrupt`. In other processes (a notebook, a test) Ctrl-C keeps its usual effect.

A parent whose child should end with it keeps the child's standard input open and sets `LIFELINE` in its environment:
the end of the input means that the parent has ended.
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
"""Exit code, as in shells after Ctrl-C. By definition: 128 plus the number of the signal."""
LIFELINE = "EXCITING_DANCE_LIFELINE"
"""Environment variable of a child whose standard input has no data and ends with its parent."""
GRACE = 2.0
"""[s] Time for a main thread in native code to return to Python before the process exits without it."""
POLITE = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Signals that request termination, on all systems."""
NOTHING = "stopped; nothing was written"


class _Stop:
    """State of termination of this process."""

    def __init__(self) -> None:
        self.owned = False
        self.silent = False
        self.undo: dict[object, Callable[[], str | None]] = {}
        self.written: list[str] = []
        self.held = 0
        self.interruptible = False
        self.requested = False


_stop = _Stop()


def handle_signals() -> None:
    """Handle termination signals, and the end of a parent that holds this process's lifeline.

    Call it first in the main thread of a process that only runs the command line. Signals that are ignored at its
    start (``nohup``, background jobs of a shell) stay ignored.
    """
    _stop.owned = True
    for name in POLITE:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle_signal)
    atexit.register(_ignore_signals)  # registered first, called last
    end_with_parent(_overdue)


def end_with_parent(leave: Callable[[], None]) -> None:
    """Watch the lifeline, if this process has one, and signal the main thread when it ends or text is written to it.

    What is written is a termination signal on every system: Windows has none that a process could handle.

    After `GRACE` seconds ``leave``, which ends the process, is called in a thread of its own.
    """

    def await_end() -> None:
        with suppress(OSError):
            while os.read(sys.stdin.fileno(), 1024):
                _signal_main_thread()

    if os.environ.pop(LIFELINE, None) is not None:  # a child of this process has another parent
        threading.Thread(target=_watch, args=(await_end, leave), daemon=True).start()


def serve_parent(await_end: Callable[[], None]) -> None:
    """Let only the parent end this worker process: by SIGTERM or by its own end, and without a message.

    Signals that a terminal sends to both are the parent's to handle.

    Args:
        await_end: returns when the parent has ended.
    """
    _stop.owned = _stop.silent = True
    _ignore_signals()
    signal.signal(signal.SIGTERM, _handle_signal)
    threading.Thread(target=_watch, args=(await_end, _overdue), daemon=True).start()


@contextmanager
def lifeline() -> Iterator[tuple[int, dict[str, str]]]:
    """A standard input for a child, which ends with this process or the block, and its environment variables."""
    end, own = os.pipe()
    try:
        yield end, {LIFELINE: "1"}
    finally:
        os.close(own)
        os.close(end)


@contextmanager
def on_stop(undo: Callable[[], str | None]) -> Iterator[None]:
    """Within the block, termination calls `undo` first; it must be quick and correct at any point of the block.

    The message of the termination contains the text that it returns.
    """
    token = object()
    _stop.undo[token] = undo
    try:
        yield
    finally:
        _stop.undo.pop(token, None)


@contextmanager
def temporary_folder(prefix: str = "tmp", parent: Path | None = None) -> Iterator[Path]:
    """A folder that is removed at the end of the block, and on termination."""
    from shutil import rmtree
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix=prefix, dir=parent))
    try:
        with on_stop(lambda: rmtree(folder, ignore_errors=True)):
            yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay termination, and Ctrl-C in other processes, until the end of the block, which must be short."""
    if not _stop.owned:
        with _ctrl_c_later():
            yield
        return
    _stop.held += 1
    try:
        yield
    finally:
        _stop.held -= 1
        if _stop.requested and not _stop.held:
            _leave()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # Ctrl-C interrupts the main thread only; a handler set from C, as Blender's, cannot be restored
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block the first signal raises `KeyboardInterrupt`, for work with partial results; the second ends it.

    The block must not have callbacks from native code.
    """
    before, _stop.interruptible = _stop.interruptible, True
    try:
        yield
    finally:
        _stop.interruptible = before


def note_output(path: str | Path) -> None:
    """Note a complete output, which the message of a later termination lists."""
    if _stop.owned:
        _stop.written.append(str(path))


def _ignore_signals() -> None:
    """Ignore signals during Python's shutdown, where they would turn success into a failure."""
    for name in POLITE:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)


def _handle_signal(number: int, frame: FrameType | None) -> None:
    if _stop.interruptible:
        _stop.interruptible = False
        raise KeyboardInterrupt
    _stop.requested = True
    if not _stop.held:
        _leave()


def _signal_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)  # wakes it from waiting, too
    else:
        _thread.interrupt_main(signal.SIGTERM)


def _watch(await_end: Callable[[], None], leave: Callable[[], None]) -> None:
    await_end()
    _stop.interruptible = False  # without a parent partial results are useless
    _signal_main_thread()
    time.sleep(GRACE)
    leave()


def _overdue() -> None:
    while _stop.held:
        time.sleep(0.01)
    _leave()


def _leave() -> None:
    """End the process now, without `sys.exit`, whose handlers and destructors would run in an inconsistent state."""
    said: list[str] = []
    for undo in reversed(list(_stop.undo.values())):
        with suppress(Exception):
            said += filter(None, [undo()])
    written = [path for path in _stop.written if os.path.exists(path)]  # `undo` may have removed a file
    said += [f"written before: {', '.join(written)}"] if written else []
    message = f"stopped; {'; '.join(said)}" if said else NOTHING
    with suppress(OSError):  # not by the streams, whose locks the main thread may hold
        if not _stop.silent:
            os.write(2, f"{chr(10) if os.isatty(2) else ''}{message}\n".encode(errors="backslashreplace"))
    os._exit(CODE)
