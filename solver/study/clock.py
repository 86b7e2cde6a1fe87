"""How long each stage of a study takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..threads import one_blas_thread


@dataclass
class StageTimer:
    """Wall-clock seconds of each stage, by its name."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Measure a stage, which has one thread for linear algebra."""
        began = time.perf_counter()
        with one_blas_thread():
            yield
        self.seconds[stage] = time.perf_counter() - began
