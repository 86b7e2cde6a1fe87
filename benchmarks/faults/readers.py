"""Damaged files of every format that is read: crashes, time and memory.

The troubles are printed with their seeds: ``python -m tests.faults.watchdog NAME SEED`` repeats one.
"""

from __future__ import annotations

import sys
import time

from tests.faults.samples import npz_kinds, samples
from tests.faults.watchdog import LIMITS, Outcome, fuzzed, one_bit, run

from ..figures.figure import Figure, at_most

WHOLE, QUICK = 500_000, 1_500
"""Damaged files in all."""
BITS, QUICK_BITS = 10_000, 60
"""Flipped bits of each kind of archive."""
WORKERS = 2
SHOWN = 20
"""Troubles that are printed, one of each place in the sources."""


def rows(quick: bool) -> list[Figure]:
    """Rows for damaged files."""
    names = list(samples())
    each = -(-(QUICK if quick else WHOLE) // len(names))
    start = time.perf_counter()
    damaged = run([(name, seed) for seed in range(each) for name in names], fuzzed, WORKERS)
    minutes = (time.perf_counter() - start) / 60.0
    flipped = run(
        [(name, seed) for seed in range(QUICK_BITS if quick else BITS) for name in npz_kinds()], one_bit, WORKERS
    )
    _show(damaged, "")
    _show(flipped, " bit")
    slow, large = damaged.of("slow", "hung"), damaged.of("memory")
    data = f"{damaged.inputs} of {len(names)} formats, mutated"
    note = f"{damaged.refused} refused, {damaged.nameless} of them without the file's name; {damaged.read} read; "
    note += f"{minutes:.1f} min"
    slowest, largest = damaged.slowest, damaged.largest
    return [
        Figure("readers: uncaught exceptions and crashes", data, len(damaged.troubles) - len(slow) - len(large), "",
               at_most(0), note=note),
        Figure(f"readers: inputs over {LIMITS.seconds:g} s of processor time", data, len(slow), "", at_most(0),
               note=f"slowest {slowest[0]:.2f} s: {slowest[1]} {slowest[2]}"),
        Figure(f"readers: inputs over {LIMITS.memory >> 20} MB", data, len(large), "", at_most(0),
               note=f"largest {largest[0] >> 20} MB: {largest[1]} {largest[2]}"),
        Figure("readers: one flipped bit in an archive, troubles", f"{flipped.inputs} in {len(npz_kinds())} kinds",
               len(flipped.troubles), "", at_most(0), note=f"{flipped.refused} refused, {flipped.read} read"),
    ]  # fmt: skip


def _show(outcome: Outcome, how: str) -> None:
    for count, trouble in outcome.places()[:SHOWN]:
        print(f"{count} times: {trouble}{how}", file=sys.stderr, flush=True)
