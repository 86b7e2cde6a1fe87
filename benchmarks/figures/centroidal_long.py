"""Memory and processor time of the estimate on long recordings: ``python -m benchmarks.figures.centroidal_long
MINUTES``.

Simulated: a body that sways and turns, its wrench unknown for a fifth of a second in every two. Each length is
estimated in a process of its own, whose peak memory is what the system says.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from solver.base.threads import one_blas_thread
from solver.centroidal.smoother import smooth_centroidal
from solver.centroidal.values import AXES, CentroidalData
from solver.signals import GRAVITY

from ..peak import measure_alone, peak_memory
from .figure import Figure, at_most

RATE, MASS = 100.0, 60.0
MINUTES, LONGEST = (1, 6), 60
TEMPI = (0.37, 0.83, 1.31)
"""[Hz] of sway and turn, by axis."""
SWAY, TURN = 0.03, 2.0
"""[m], [kg m^2/s]"""
HIDDEN, EVERY = 0.2, 2.0
"""[s]"""
MUST_TIME, MUST_MEMORY = 1.2, 4.0
DATA = "simulated, 100 samples a second"
MEGABYTE = 2**20


def signals(minutes: float) -> CentroidalData:
    """So many minutes of a body whose kinematics err a little."""
    times = np.arange(round(60.0 * minutes * RATE)) / RATE
    turn = 2.0 * np.pi * np.array(TEMPI)
    phase = times[:, None] * turn
    com, acceleration = SWAY * np.sin(phase) + [0.0, 0.0, 0.9], -SWAY * turn**2 * np.sin(phase)
    momentum, rate = TURN * np.sin(phase), TURN * turn * np.cos(phase)
    force = MASS * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    wrench = np.concatenate([force, rate + np.cross(com, force)], axis=1)
    wrench[times % EVERY < HIDDEN] = np.nan
    noise = np.random.default_rng(0).standard_normal((2, len(times), AXES))
    return CentroidalData(times, MASS, com + 1e-4 * noise[0], momentum + noise[1], rate, acceleration, wrench)


def measure(minutes: float) -> None:
    """Estimate once and print the processor time [s], and [MB] the peak before and at its end, and what was given."""
    data = signals(minutes)
    given = (data.com, data.momentum, data.momentum_rate, data.acceleration, data.wrench)
    size = sum(values.nbytes for values in given) / MEGABYTE
    with one_blas_thread():
        smooth_centroidal(signals(0.1))
        before, began = peak_memory(), time.process_time()
        smooth_centroidal(data)
    print(f"{time.process_time() - began:.2f} {before:.1f} {peak_memory():.1f} {size:.1f}")


def long_figures(quick: bool) -> list[Figure]:
    """A row for each length; the longest is not part of the quick run."""
    figures: list[Figure] = []
    shortest: tuple[float, ...] = ()
    for minutes in MINUTES if quick else (*MINUTES, LONGEST):
        seconds, before, peak, size = measure_alone("figures.centroidal_long", minutes)
        shortest = shortest or (seconds, peak, size)
        what = f"estimate of {minutes} min: processor time a minute, over that of {MINUTES[0]} min"
        note = f"{seconds:.1f} s in all, inertials taken as exact; peak {peak:.0f} MB, {before:.0f} before, signals "
        note += f"{size:.1f}"
        each = seconds / minutes / (shortest[0] / MINUTES[0])
        figures.append(Figure(what, DATA, each, "", at_most(MUST_TIME), None, note))
    grown = (peak - shortest[1]) / (size - shortest[2])
    what = f"  peak memory, growth from {MINUTES[0]} min over that of the signals given"
    figures.append(Figure(what, DATA, grown, "", at_most(MUST_MEMORY)))
    return figures


if __name__ == "__main__":
    measure(float(sys.argv[1]))
