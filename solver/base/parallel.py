"""Parallel map over independent tasks in processes or threads, which end with the calling process.

joblib runs the tasks, so that a cluster's scheduler (Dask, Ray) can run them instead: `use_backend`.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker as python_tracker
import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky import process_executor
from joblib.externals.loky.backend import resource_tracker as joblib_tracker
from joblib.parallel import get_active_backend

from .errors import BackendError, MissingDependency, UnknownName
from .termination import GRACE, on_stop, serve_parent

Result = TypeVar("Result")
LOOK_EVERY = 0.25
"""[s] Interval at which a worker checks whether its parent still runs."""
LOKY, DASK, RAY = "loky", "dask", "ray"
BACKENDS = (LOKY, DASK, RAY)
"""Processes of this machine, or a cluster's scheduler."""
QUIET = "ignore:resource_tracker:UserWarning"
"""Suppresses the warnings of resource trackers about resources that they removed."""


def parallel_map(
    function: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], workers: int | None, *, threads: bool = False
) -> Iterator[Result]:
    """Yield the function's result for each task, in order, as soon as it and all tasks before it are finished.

    Args:
        function: called with each task's arguments; for processes it must be defined in a module.
        pieces: arguments of each task.
        workers: number of parallel tasks; None: joblib's configuration, which is serial by default.
        threads: use threads of this process, for work in native code; otherwise worker processes.

    Raises:
        BackendError: a worker process was killed or crashed.
    """
    with background_map(function, pieces, workers, threads=threads) as results:
        yield from results


@contextmanager
def background_map(
    function: Callable[..., Result], pieces: Iterable[tuple[Any, ...]], workers: int | None, *, threads: bool = False
) -> Iterator[Iterator[Result]]:
    """`parallel_map` whose workers run while the block does something else.

    Leaving the block before all results are read cancels the remaining tasks. If the block raises, running tasks are
    completed first.

    Raises:
        BackendError: a worker process was killed or crashed.
    """
    prefer = "threads" if threads else None
    one_by_one = get_active_backend(prefer=prefer)[0].supports_return_generator
    parallel = Parallel(
        n_jobs=workers,
        prefer=prefer,
        return_as="generator" if one_by_one else "list",
        pre_dispatch="all",  # starts every process here, and none while waiting for a result
        initializer=_serve,
        initargs=(os.getpid(),),
    )
    in_process = threads or effective_n_jobs(workers) == 1
    try:
        with on_stop(_end_workers):
            with nullcontext() if in_process else _starting_workers():
                results = parallel(delayed(function)(*piece) for piece in pieces)
            try:
                yield _until_closed(results)
            except Exception:
                with suppress(Exception):  # processes terminated while they start would print errors
                    deque(results, maxlen=0)
                raise
            finally:
                _close(results)
    except BrokenProcessPool:
        raise BackendError(
            "a worker process ended unexpectedly: usually the memory was used up; try with one worker, or close other "
            "programs"
        ) from None


def _until_closed(results: Iterable[Result]) -> Iterator[Result]:
    try:
        for result in results:  # noqa: UP028 an unfinished generator must be closed here, not by Python
            yield result
    finally:
        _close(results)


def _close(results: Iterable[Any]) -> None:
    """Close a generator of results without joblib's warning about discarded tasks."""
    if isinstance(results, Generator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@contextmanager
def use_backend(backend: str, workers: int | None = None) -> Iterator[None]:
    """Within the block, `parallel_map` runs on one of `BACKENDS`.

    For Dask an existing client is used, otherwise the scheduler of Dask's configuration (DASK_SCHEDULER_ADDRESS),
    otherwise a cluster on this machine for the duration of the block. Ray finds its cluster by its own configuration
    (RAY_ADDRESS).

    Args:
        backend: one of `BACKENDS`.
        workers: number of workers of a cluster that is started here; None and -1: one per processor.

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
    """Within the block `parallel_map` is serial, for use in a task that is itself parallel."""
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
            "a worker of the Dask cluster was killed repeatedly: usually its memory was used up; try fewer workers"
        ) from None


def _register_ray() -> None:
    """Register Ray as a joblib backend.

    Raises:
        MissingDependency: Ray is not installed.
    """
    try:
        from ray.util.joblib import register_ray
    except ImportError:
        raise MissingDependency("the backend ray needs the package ray: pip install ray") from None
    register_ray()


@contextmanager
def _starting_workers() -> Iterator[None]:
    """Processes started within the block do not receive a terminal's signals, which this process handles."""
    if not hasattr(signal, "pthread_sigmask"):
        yield  # Windows sends them to starting processes too
        return
    terminal = {signal.SIGINT, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, terminal)
    try:
        _start_resource_trackers()
        signal.pthread_sigmask(signal.SIG_BLOCK, terminal)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_resource_trackers() -> None:
    """Start the resource trackers, which unblocks Ctrl-C in the caller."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = QUIET if before is None else f"{before},{QUIET}"
    try:
        joblib_tracker.ensure_running()
        python_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _end_workers() -> None:
    process_executor.kill_process_tree = lambda _: None  # joblib would kill the other workers when the first one ends
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    until = time.monotonic() + GRACE  # a worker in native code ends later, by itself
    for worker in workers:
        worker.join(max(until - time.monotonic(), 0.0))


def _serve(caller: int) -> None:
    """Initialise a worker: only the calling process ends it, which handles signals."""
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid == caller:  # otherwise an external scheduler manages it
        serve_parent(lambda: _await_end(parent))


def _await_end(parent: Any) -> None:
    if os.name == "nt":
        parent.join()
    else:  # joblib's workers have no handle of their parent here, but are its direct children
        while os.getppid() == parent.pid:
            time.sleep(LOOK_EVERY)
