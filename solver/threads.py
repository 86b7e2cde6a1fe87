"""One BLAS thread where matrices are small.

The matrices here have some hundred columns. A second BLAS thread gains nothing on them, and on a machine that is busy
otherwise its waiting in a loop costs a factor of ten. Parallel work is shared between trials and samples instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block, BLAS and OpenMP use one thread; afterwards what they used before."""
    with threadpool_limits(limits=1):
        yield
