"""How fast this machine is: a loop that every benchmark runs first, to scale absolute times.

Machines differ by 3.5 times and more. A time is compared after scaling to an ordinary desktop, on which the loop
takes `ORDINARY` seconds of processor time.
"""

from __future__ import annotations

import time
from functools import cache

PASSES = 20_000_000
LOOP = f"s = 0\nfor i in range({PASSES}):\n    s += i * i\n"
"""As a script has it: with the names of a module, which take 2.5 times as long as those of a function."""
ORDINARY = 1.5
"""[s] of Python 3.11 on an ordinary desktop."""


@cache
def loop_seconds() -> float:
    """[s] of processor time of the loop, measured once a process."""
    code = compile(LOOP, "reference loop", "exec")
    began = time.process_time()
    exec(code, {})
    return time.process_time() - began


def to_ordinary(value: float, seconds: float | None = None) -> float:
    """Convert a time of this machine, in any unit, to that of an ordinary machine.

    Args:
        value: measured here.
        seconds: [s] of the loop here; measured by default.
    """
    return value * ORDINARY / (loop_seconds() if seconds is None else seconds)


def reference_line() -> str:
    """First line of every benchmark: the reference loop's time and the factor for processor times."""
    found = loop_seconds()
    return (
        f"reference loop ({PASSES // 1_000_000} million passes of s += i * i): {found:.2f} s here, {ORDINARY:g} s on "
        f"an ordinary machine; processor times are compared after division by {found / ORDINARY:.2f}"
    )
