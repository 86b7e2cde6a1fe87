"""Limits BLAS to one thread for small matrices.

The matrices here have some hundred columns. More BLAS threads gain nothing, and on a busy machine their busy waiting
costs a factor of ten. Work is parallel over trials and samples instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block BLAS and OpenMP use one thread; afterwards the previous number is restored."""
    with threadpool_limits(limits=1):
        yield
