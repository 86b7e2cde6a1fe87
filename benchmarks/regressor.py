"""Speed and memory of the accumulated regressor, for `figures.speed`.

HRP-2 (stand-in), simulated motion. Measured per frame: the six free-flyer rows of 31 bodies and their accumulation
into a triangular factor. The peer, in the same run, is the plain loop: Pinocchio's computeJointTorqueRegressor frame by
frame, six rows kept, all rows stacked and factored once. Memory is the peak of a fresh process per duration.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from benchmarks.peak import peak_memory
from benchmarks.solvers import RATE, simulate_trial
from solver.identification.accumulate import accumulate_regression
from solver.identification.regression import Regression
from solver.rigs import hrp2
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

SPEED_FRAMES = 12000
REPEATS = 3
"""Runs of each, taking turns; the best of either side counts, so that other work on the machine does not."""
MINUTES = (1, 10, 60)
MUST_MICROSECONDS, AIM_MICROSECONDS = 100.0, 40.0
MUST_SPEEDUP = 3.0
FLAT = 1.15
"""Largest ratio of peak memory, longest to shortest recording, that counts as flat."""


def repeat_trial(trial: Trial, frames: int) -> Iterator[Trial]:
    """Pieces of one long recording, made when needed."""
    for start in range(0, frames, len(trial.motion)):
        stop = min(len(trial.motion), frames - start)
        times = trial.motion.times[:stop] + start / RATE
        motion = Motion(times, trial.motion.q[:stop], trial.motion.v[:stop], trial.motion.a[:stop])
        yield Trial(trial.name, motion, Wrenches(times, ("plate",), trial.wrenches.values[:stop]), np.ones(stop, bool))


def time_accumulation(rig: Rig, trial: Trial, frames: int, base: str) -> tuple[float, Regression]:
    """Seconds from motion to the triangular factor, structure of the rig included."""
    start = time.perf_counter()
    regression = accumulate_regression(rig, repeat_trial(trial, frames), base=base)
    assert regression.factor.shape[1] == 10 * len(rig.links)
    return time.perf_counter() - start, regression


def time_peer(rig: Rig, trial: Trial, frames: int) -> tuple[float, np.ndarray]:
    """Seconds of the plain loop that stacks all rows of the root link and factors them once, and its factor."""
    from solver.engine.pinocchio_loader import pin  # the peer, whichever engine computes

    data = rig.model.createData()
    rows, wrenches = [], []
    start = time.perf_counter()
    for piece in repeat_trial(trial, frames):
        motion = piece.motion
        total = piece.wrenches.about(motion.q[:, :3])
        for k in range(len(motion)):
            state = motion.q[k], motion.v[k], motion.a[k]
            rows.append(pin.computeJointTorqueRegressor(rig.model, data, *state)[:6].copy())
            turn = pin.XYZQUATToSE3(motion.q[k, :7]).rotation.T
            wrenches.append(np.concatenate([turn @ total[k, :3], turn @ total[k, 3:]]))
    stacked = np.column_stack([np.concatenate(rows), np.concatenate(wrenches)])
    factor = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return time.perf_counter() - start, factor[: stacked.shape[1]]


def memory(minutes: int) -> None:
    """Accumulate so many simulated minutes and print this process's peak memory [MB]."""
    rig = hrp2()
    trial = simulate_trial(rig, rig.prior)
    regression = accumulate_regression(rig, repeat_trial(trial, int(minutes * 60 * RATE)))
    assert regression.factor.size
    print(peak_memory())


if __name__ == "__main__":
    memory(int(sys.argv[1]))
