"""The smoother's noise learnt on half of the recordings each: ``python -m benchmarks.figures.centroidal_learnt``.

What is measured on a recording uses the noise of the half that it is not in. The command learns both halves anew, from
the numbers below, and prints them; it takes many minutes. The form of the model was chosen while looking at all trials,
its numbers were not; plates' noise and gain are those of good plates and of the laboratories' disagreements on mass.
"""

from __future__ import annotations

from solver.centroidal.learning import learn
from solver.centroidal.smoother import Signal, SmootherSettings
from solver.threads import one_blas_thread

FIRST = ("DJ1", "walking1", "run")
"""Trials of the first half: subject_a's, and subject_b's run; the other half is all the others."""
FIRST_HALF = SmootherSettings(
    com=Signal((2.39555, 2.39555, 1.21971), 5.00929, (8e-05, 8e-05, 0.0002), 4.0, (0.00319, 0.00319, 0.00083), 0.49192),
    momentum=Signal(
        (1.2298, 1.2298, 0.2), 4.0, (0.00784, 0.00784, 0.00013), 36.29788, (0.03025, 0.03025, 0.01898), 0.08131
    ),
    force=0.02,
    moment=0.005,
)
SECOND_HALF = SmootherSettings(
    com=Signal((3.0, 3.0, 3.0), 4.0, (8e-05, 8e-05, 8e-05), 0.6612, (0.00203, 0.00203, 0.00203), 0.49192),
    momentum=Signal((1.2298, 1.2298, 0.08131), 4.0, (0.0123, 0.0123, 0.00081), 6.0, (0.005, 0.005, 0.00492), 0.08131),
    force=0.02,
    moment=0.005,
)


def main() -> None:
    """Learn both halves and print them."""
    from benchmarks.centroidal import DATA, recordings

    with one_blas_thread():
        trials = recordings(DATA, quick=False)
        for start, first in ((FIRST_HALF, True), (SECOND_HALF, False)):
            half = [trial.data for trial in trials if (trial.name in FIRST) == first]
            print(learn(half, start))


if __name__ == "__main__":
    main()
