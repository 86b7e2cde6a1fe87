"""The smoother's noise estimated on each half of the recordings: ``python -m benchmarks.figures.centroidal_noise``.

What is measured on a recording uses the noise of the half that it is not in. The command estimates both halves again,
from the numbers below, and prints them with what they predict of the other half; it takes many minutes. The form of the
model and the inputs of the momentum blend were chosen while looking at all trials, its numbers were not; plates'
noise and gain are those of good plates and of the laboratories' disagreements on mass.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from solver.base.progress import write_lines
from solver.base.threads import one_blas_thread
from solver.centroidal.momentum_blend import MomentumBlend
from solver.centroidal.smoother import Signal, SmootherSettings, smooth_centroidal

from ..recordings import DATA
from ..reference import reference_line
from .centroidal_hidden import hidden_score
from .centroidal_learning import learn_noise

FIRST = ("DJ1", "walking1", "run")
"""Trials of the first half: subject_a's, and subject_b's run; the other half is all the others."""
FIRST_HALF = SmootherSettings(
    com=Signal((2.396, 2.396, 1.22), 5.009, (8e-5, 8e-5, 2e-4), 4.0, (3.19e-3, 3.19e-3, 8.3e-4), 0.492),
    momentum=Signal((0.611, 0.611, 0.0993), 4.0, (7.84e-3, 7.84e-3, 1.3e-4), 73.1, (0.0303, 0.0303, 0.0134), 0.0813),
    force=0.02,
    moment=0.005,
    momentum_blend=MomentumBlend((1.29, 1.08, 1.16), (0.0341, 0.615, -0.839), (-0.0949, -1.34, -0.522)),
)
SECOND_HALF = SmootherSettings(
    com=Signal((3.0, 3.0, 3.0), 4.0, (8e-5, 8e-5, 8e-5), 0.661, (2.03e-3, 2.03e-3, 2.03e-3), 0.492),
    momentum=Signal((0.611, 0.611, 0.0573), 8.06, (0.0123, 0.0123, 8.1e-4), 24.3, (0.0203, 0.0203, 9.91e-3), 0.0813),
    force=0.02,
    moment=0.005,
    momentum_blend=MomentumBlend((1.12, 1.03, 1.36), (-0.0297, -0.116, -0.729), (0.463, -0.114, 0.248)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn both halves, print their numbers and what they predict of each other; 1 without recordings."""
    from benchmarks.centroidal import recordings  # which judges by these numbers

    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures.centroidal_noise", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real recordings (default: %(default)s)")
    data = parser.parse_args(arguments).data
    print(reference_line())
    with one_blas_thread():
        trials = recordings(data, quick=False)
        first, second = ([t.data for t in trials if (t.name in FIRST) == own] for own in (True, False))
        if not (first and second):
            print(f"no recordings of both halves in {data}: give their folder by --data", file=sys.stderr)
            return 1
        for name, start, half, other in (
            ("FIRST_HALF", FIRST_HALF, first, second),
            ("SECOND_HALF", SECOND_HALF, second, first),
        ):
            found = learn_noise(half, start, progress=write_lines)
            stored, new = (
                np.exp(hidden_score(other, partial(smooth_centroidal, settings=each))) for each in (start, found)
            )
            print(
                f"{name} = {found}\n  hidden wrench of the other half over the kinematics' error: {new:.3f} "
                f"with these numbers, {stored:.3f} with those in the file",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
