"""Peak memory of this process, without that of the process that started it."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_memory() -> float:
    """Peak resident memory of this process [MB]."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would carry the parent's peak into a child
        return next(float(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 1024.0
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
