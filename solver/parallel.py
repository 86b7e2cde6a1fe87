"""Independent pieces of work, shared among processes or threads, that never outlive whoever asked for them.

joblib runs them, so that a cluster's scheduler (Dask, Ray) can take them over: `scheduled`.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker as pythons
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.backend import resource_tracker as joblibs
from joblib.parallel import get_active_backend

from .errors import BackendError, MissingDependency, UnknownName
from .termination import on_stop

Result = TypeVar("Result")
LOOK_EVERY = 0.25
"""[s] between a worker's looks at its parent, where the system does not tell it."""
LOKY, DASK, RAY = "loky", "dask", "ray"
BACKENDS = (LOKY, DASK, RAY)
"""Who runs the pieces: processes of this machine, or a cluster's scheduler."""
QUIET = "ignore:resource_tracker:UserWarning"
"""A housekeeper would tell the terminal how much it removed."""


def parallel_map(
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
    with background_map(function, pieces, workers, threads=threads) as results:
        yield from results


@contextmanager
def background_map(
    function: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], workers: int | None, *, threads: bool = False
) -> Iterator[Iterator[Result]]:
    """`shared` work that other processes, if there are any, do while the block does something else.

    A block that leaves results unasked for ends the work; where it fails, pieces that were begun come to their end.

    Raises:
        BackendError: a worker process was killed or crashed.
    """
    prefer = "threads" if threads else None
    one_by_one = get_active_backend(prefer=prefer)[0].supports_return_generator
    parallel = Parallel(
        n_jobs=workers,
        prefer=prefer,
        return_as="generator" if one_by_one else "list",
        pre_dispatch="all",  # so that every process is started here, and none while a result is waited for
        initializer=_serve,
        initargs=(os.getpid(),),
    )
    alone = threads or effective_n_jobs(workers) == 1
    try:
        with on_stop(_end_workers):
            with nullcontext() if alone else _starting_workers():
                results = parallel(delayed(function)(*piece) for piece in pieces)
            try:
                yield _as_long_as_asked(results)
            except Exception:
                with suppress(Exception):  # processes that still start and are ended would complain on the terminal
                    deque(results, maxlen=0)
                raise
            finally:
                _give_up(results)
    except BrokenProcessPool:
        raise BackendError(
            "a worker process ended unexpectedly: usually the memory was used up; try with one worker, or close other "
            "programs"
        ) from None


def _as_long_as_asked(results: Iterable[Result]) -> Iterator[Result]:
    try:
        for result in results:  # noqa: UP028 a generator that is left is given up here, not closed by Python
            yield result
    finally:
        _give_up(results)


def _give_up(results: Iterable[Any]) -> None:
    """Who asks for no more results does so on purpose, and is not told by joblib that work was lost."""
    if isinstance(results, Generator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@contextmanager
def use_backend(backend: str, workers: int | None = None) -> Iterator[None]:
    """Within the block, `shared` work goes to one of `BACKENDS`.

    Dask's client that is there already is used; without one, the scheduler that Dask's configuration names
    (DASK_SCHEDULER_ADDRESS), or a cluster on this machine for as long as the block lasts. Ray finds its cluster by its
    own configuration (RAY_ADDRESS).

    Args:
        backend: one of them.
        workers: of a cluster that is started here; None and -1: one a processor.

    Raises:
        UnknownName: no such backend.
        MissingDependency: its packages are not installed.
        BackendError: a worker of the cluster was killed.
    """
    if backend not in BACKENDS:
        raise UnknownName(backend, BACKENDS)
    with _dask(workers) if backend == DASK else nullcontext():
        if backend == RAY:
            _register_ray()
        with parallel_config(backend=backend):
            yield


@contextmanager
def serial() -> Iterator[None]:
    """Within the block, itself a piece of `shared` work, further pieces are done one after the other, here."""
    with parallel_config(backend="sequential"):
        yield


@contextmanager
def _dask(workers: int | None) -> Iterator[None]:
    try:
        import dask
        from distributed import Client, KilledWorker, get_client
    except ImportError:
        needs = "the backend dask needs the packages dask and distributed: pip install 'exciting-dance[cluster]'"
        raise MissingDependency(needs) from None
    try:
        client: Any = nullcontext(get_client())
    except ValueError:
        if address := dask.config.get("scheduler-address", None):
            client = Client(address)
        else:
            count = cpu_count() if workers in (None, -1) else workers
            client = Client(n_workers=count, threads_per_worker=1, dashboard_address=None)
    try:
        with on_stop(_end_workers), client:
            yield
    except KilledWorker:
        raise BackendError(
            "a worker of the Dask cluster was killed again and again: usually its memory was used up; try fewer workers"
        ) from None


def _register_ray() -> None:
    """Make Ray known to joblib.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        from ray.util.joblib import register_ray
    except ImportError:
        raise MissingDependency("the backend ray needs the package ray: pip install ray") from None
    register_ray()


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
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = QUIET if before is None else f"{before},{QUIET}"
    try:
        joblibs.ensure_running()
        pythons.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


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
