"""The smoother's noise learnt on half of the recordings each: ``python -m benchmarks.figures.centroidal_learnt``.

What is measured on a recording uses the noise of the half that it is not in. The command learns both halves anew and
prints them; it takes many minutes.
"""

from __future__ import annotations

from solver.centroidal.smoother import Signal, SmootherSettings

FIRST = ("DJ1", "walking1", "run")
"""Trials of the first half: subject_a's, and subject_b's run; the other half is all the others."""
FIRST_HALF = SmootherSettings(
    com=Signal((2.39555, 2.39555, 1.21971), 5.00929, (8e-05, 8e-05, 0.0002), 4.0, (0.00319, 0.00319, 0.00083), 0.49192),
    momentum=Signal(
        (1.2298, 1.2298, 0.2), 4.0, (0.00784, 0.00784, 0.00013), 36.29788, (0.03025, 0.03025, 0.01898), 0.08131
    ),
    force=0.02033,
    moment=0.00518,
)
SECOND_HALF = FIRST_HALF
