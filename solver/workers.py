"""Independent pieces of work, shared among processes or threads, that never outlive whoever asked for them.

joblib runs them, so that a cluster's scheduler (Dask, Ray) can take them over by configuration.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker as pythons
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.backend import resource_tracker as joblibs

from .errors import BackendError
from .stopping import undoing

Result = TypeVar("Result")
LOOK_EVERY = 0.25
"""[s] between a worker's looks at its parent, where the system does not tell it."""
QUIET = "ignore:resource_tracker:UserWarning"
"""A housekeeper would tell the terminal how much it removed."""


def shared(
    function: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], workers: int | None, *, threads: bool = False
) -> Iterator[Result]:
    """The function's result for each piece of work, in order, each as soon as it and all before it are done.

    Args:
        function: of the pieces' entries; for processes one that a module holds.
        pieces: its arguments.
        workers: how many at once; None leaves it to joblib's configuration, which does one after the other.
        threads: in this process, for work that is done in native code; otherwise in worker processes.

    Raises:
        BackendError: a worker process was killed or crashed.
    """
    parallel = Parallel(
        n_jobs=workers,
        prefer="threads" if threads else None,
        return_as="generator",
        pre_dispatch="all",  # so that every process is started here, and none while a result is waited for
        initializer=_serve,
        initargs=(os.getpid(),),
    )
    alone = threads or effective_n_jobs(workers) == 1
    try:
        with undoing(_end_workers):
            with nullcontext() if alone else _starting_workers():
                results = parallel(delayed(function)(*piece) for piece in pieces)
            yield from results
    except BrokenProcessPool:
        raise BackendError(
            "a worker process ended unexpectedly: usually the memory was used up; try with one worker, or close other "
            "programs"
        ) from None


@contextmanager
def _starting_workers() -> Iterator[None]:
    """Processes that start within the block leave Ctrl-C, which a terminal sends to all, to this one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield  # Windows tells a process that starts, too
        return
    _start_housekeepers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_housekeepers() -> None:
    """Processes that remove what a stopped process leaves; where one starts, it makes the caller hear Ctrl-C again."""
    warnings = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = QUIET if warnings is None else f"{warnings},{QUIET}"
    try:
        joblibs.ensure_running()
        pythons.ensure_running()
    finally:
        if warnings is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = warnings


def _end_workers() -> None:
    for child in multiprocessing.active_children():  # those that still start do not look at their parent yet
        child.terminate()


def _serve(asker: int) -> None:
    """First of all in a worker: leave Ctrl-C to the process that asked for it, and end when that one does."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != asker:
        return  # a worker of somebody else's scheduler, who looks after it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    if os.name == "nt":
        parent.join()
    else:  # joblib's workers have no handle of their parent here, but are its immediate children
        while os.getppid() == parent.pid:
            time.sleep(LOOK_EVERY)
    os._exit(1)
