"""Speed and memory of the accumulated regressor: `python -m benchmarks.regressor [--quick]`.

HRP-2 (stand-in), simulated motion. Measured per frame: the six free-flyer rows of 31 bodies and their accumulation
into a triangular factor. The peer, in the same run, is the plain loop: Pinocchio's computeJointTorqueRegressor frame by
frame, six rows kept, all rows stacked and factored once. Memory is the peak of a fresh process per duration.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from benchmarks.peak import peak_memory
from benchmarks.reference import reference_line, to_ordinary
from solver.dynamics import integrate, predicted_wrench, regressor_pieces
from solver.identification.accumulate import accumulate_regression
from solver.identification.base_parameters import base_parameters
from solver.identification.regression import Regression
from solver.motion import Motion
from solver.rig import Rig
from solver.rigs import hrp2
from solver.trial import Trial
from solver.wrenches import Wrenches

RATE = 200.0
PIECE = 2000
"""Frames of simulated motion kept in memory and fed again and again."""
SPEED_FRAMES = 12000
REPEATS = 3
"""Runs of each, taking turns; the best of either side counts, so that other work on the machine does not."""
MINUTES = (1, 10, 60)
QUICK_MINUTES = (1, 5)
MUST_MICROSECONDS, AIM_MICROSECONDS = 100.0, 40.0
MUST_SPEEDUP = 3.0
FLAT = 1.15
"""Largest ratio of peak memory, longest to shortest recording, that counts as flat."""
THREADS = ("1", "2")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure against its bounds."""

    what: str
    value: float
    unit: str
    must: str
    aim: str
    met: bool

    def __str__(self) -> str:
        status = "met" if self.met else "MISSED"
        return f"{self.what:<72} {self.value:10.2f} {self.unit:<9} must {self.must:<8} aim {self.aim:<8} {status}"


def simulate_trial(rig: Rig, frames: int, base: str) -> Trial:
    """A smooth, simulated motion of sines in every joint with its own wrenches (noise 1 N, 1 N m)."""
    generator = np.random.default_rng(7)
    count = rig.nv
    times = np.arange(frames) / RATE
    frequencies, phases = generator.uniform(0.2, 1.0, count) * 2 * np.pi, generator.uniform(0, 2 * np.pi, count)
    angles = frequencies * times[:, None] + phases
    moves = 0.4 * np.sin(angles)
    v, a = 0.4 * frequencies * np.cos(angles), -0.4 * frequencies**2 * np.sin(angles)
    neutral = rig.neutral
    motion = Motion(times, np.array([integrate(rig, neutral, move) for move in moves]), v, a)
    wrench = predicted_wrench(rig, motion, rig.prior, axes="world") + generator.standard_normal((frames, 6))
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return Trial("simulated", motion, Wrenches(times, ("plate",), wrench[:, None]), np.ones(frames, bool))


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


def speed(frames: int) -> bool:
    """Print the speed of this process's number of threads; True when every must is met."""
    print(f"  {reference_line()}")
    rig = hrp2()
    root, trunk = rig.links[0], find_trunk(rig)
    trial = simulate_trial(rig, PIECE, root)
    accumulate_regression(rig, [trial])  # first calls load libraries
    start = time.perf_counter()
    structure = base_parameters(rig)
    seconds = time.perf_counter() - start
    print(f"  structure: {len(structure)} base parameters of {len(rig.links)} links in {seconds:.3f} s")
    start = time.perf_counter()
    for piece in repeat_trial(trial, frames):
        for _ in regressor_pieces(rig, piece.motion, trunk):
            pass
    print(f"  six rows alone, base link {trunk!r}: {1e6 * (time.perf_counter() - start) / frames:.1f} us per frame")
    ours, trunks, peers, processor = [], [], [], []
    for _ in range(REPEATS):
        began = time.process_time()
        seconds, regression = time_accumulation(rig, trial, frames, root)
        processor.append(time.process_time() - began)
        ours.append(seconds)
        trunks.append(time_accumulation(rig, trial, frames, trunk)[0])
        seconds, peer = time_peer(rig, trial, frames)
        peers.append(seconds)
    mine = np.column_stack([regression.factor, regression.target])
    squares = mine.T @ mine
    squares[-1, -1] += regression.residual_cost
    error = np.abs(squares - peer.T @ peer).max() / np.abs(squares).max()
    print(f"  R'R against the plain loop's, largest difference over largest entry: {error:.1e}")
    each, each_trunk, each_peer = (1e6 * min(seconds) / frames for seconds in (ours, trunks, peers))
    must, aim = f"< {MUST_MICROSECONDS:g}", f"< {AIM_MICROSECONDS:g}"
    label = f"HRP-2, {frames} frames, simulated"
    figures = [
        Figure(f"regressor and factor, base {root!r}, {label}", each, "us/frame", must, aim,
               to_ordinary(each) < MUST_MICROSECONDS),
        Figure(
            f"regressor and factor, base {trunk!r}, {label}", each_trunk, "us/frame", must, aim,
            to_ordinary(each_trunk) < MUST_MICROSECONDS,
        ),
        Figure(
            f"frames per second over the plain loop's ({each_peer:.0f} us per frame)", each_peer / each,
            "times", f">= {MUST_SPEEDUP:g}", "", each_peer / each >= MUST_SPEEDUP,
        ),
    ]  # fmt: skip
    print("\n".join(f"  {figure}" for figure in figures))
    used = 1e6 * min(processor) / frames
    print(f"  processor time: {used:.1f} us per frame (well below the wall's when the machine is busy)", flush=True)
    return all(figure.met for figure in figures)


def find_trunk(rig: Rig) -> str:
    """HRP-2's trunk, the base link of jovic2016: the parent of both arms."""
    for name in ("chest", "trunk", "torso"):
        if name in rig.links:
            return name
    raise SystemExit(f"rig {rig.name!r} has no trunk among {', '.join(rig.links)}")


def memory(minutes: int) -> None:
    """Accumulate so many simulated minutes and print this process's peak memory in MB before and after."""
    rig = hrp2()
    trial = simulate_trial(rig, PIECE, rig.links[0])
    accumulate_regression(rig, [trial])
    before = peak_memory()
    frames = int(minutes * 60 * RATE)
    start = time.perf_counter()
    regression = accumulate_regression(rig, repeat_trial(trial, frames))
    assert regression.factor.size
    print(before, peak_memory(), 1e6 * (time.perf_counter() - start) / frames, len(regression.blocks))


def child(arguments: list[str], threads: str) -> subprocess.CompletedProcess[str]:
    """This benchmark in a process of its own with a given number of BLAS threads."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, threads)}
    command = [sys.executable, "-m", "benchmarks.regressor", *arguments]
    return subprocess.run(command, env=environment, check=False, text=True, stdout=subprocess.PIPE)


def main(arguments: list[str] | None = None) -> int:
    """Run and print everything; 1 when a must is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regressor", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter recordings, one thread only")
    parser.add_argument("--speed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.speed:
        return 0 if speed(options.speed) else 1
    if options.memory:
        memory(options.memory)
        return 0
    met = True
    for threads in THREADS[:1] if options.quick else THREADS:
        decides = threads == THREADS[0]
        print(f"BLAS threads: {threads}" + ("" if decides else " (for information)"))
        run = child(["--speed", str(SPEED_FRAMES // (2 if options.quick else 1))], threads)
        print(run.stdout, end="", flush=True)
        met = met and (run.returncode == 0 or not decides)
    peaks = []
    for minutes in QUICK_MINUTES if options.quick else MINUTES:
        before, after, each, blocks = map(float, child(["--memory", str(minutes)], THREADS[0]).stdout.split())
        peaks.append(after)
        print(
            f"  {minutes:3d} min at {RATE:g} Hz: peak {after:.0f} MB ({before:.0f} MB before), "
            f"{each:.1f} us per frame, {blocks:.0f} blocks",
            flush=True,
        )
    ratio = peaks[-1] / peaks[0]
    print(
        f"  {Figure('peak memory, longest over shortest recording', ratio, 'times', f'< {FLAT:g}', '', ratio < FLAT)}"
    )
    return 0 if met and ratio < FLAT else 1


if __name__ == "__main__":
    raise SystemExit(main())
