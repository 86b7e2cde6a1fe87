"""Peak memory of a process, without that of the process that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of a process whose BLAS uses one thread."""


def measure_alone(module: str, *words: object) -> list[float]:
    """Numbers of the last line that a module of ``benchmarks`` prints in a process of its own, with one BLAS thread."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    own = {**os.environ, **ONE_THREAD}
    run = subprocess.run(command, cwd=ROOT, env=own, check=True, text=True, stdout=subprocess.PIPE)
    return [float(word) for word in run.stdout.splitlines()[-1].split()]


def peak_memory() -> float:
    """Peak resident memory of this process [MB]."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would carry the parent's peak into a child
        return next(float(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 1024.0
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
