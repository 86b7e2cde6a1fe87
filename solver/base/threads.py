"""Limits BLAS to one thread for small matrices.

The matrices here have some hundred columns. More BLAS threads gain nothing, and on a busy machine their busy waiting
costs a factor of ten. Work is parallel over trials and samples instead.
"""

from __future__ import annotations

from functools import partial

from threadpoolctl import threadpool_limits

one_blas_thread = partial(threadpool_limits, limits=1)
"""A block ``with one_blas_thread():`` uses one thread for BLAS and OpenMP, and then restores the previous number."""
