"""Cost of the feasibility checks: `python -m benchmarks.checks [--quick]`.

Three rigs, simulated motion: a standing rig whose joints swing within their limits. Measured: one frame with every
check as while scrubbing, a whole motion at once as in the verification of a dance at 500 Hz, and the live check from
request line to answer line.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

from solver.contacts.schedule import Schedule, anchors_at
from solver.dynamics import integrate
from solver.feasibility import CheckOptions, FrameChecker, check_motion
from solver.motion import Motion
from solver.rig import ROOT_NV, Rig
from solver.rigs import hoap3, hrp2, human
from solver.threads import one_blas_thread

from .live import FRAMES as LIVE_FRAMES
from .live import RATE as LIVE_RATE
from .live import measure_live
from .reference import reference_line, to_ordinary

RATE = 500.0
FRAMES, QUICK_FRAMES = 5000, 1000
SINGLE = 200
DANCE_SECONDS = 300.0
REPEATS = 3
MUST_MILLISECONDS, AIM_MILLISECONDS = 15.0, 5.0
MUST_DANCE_SECONDS = 60.0
SWING = 0.4
"""Share of each joint's range that the motion uses."""
ENDLESS = 1.0
"""[rad] Range used where a joint has no limit."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the checks of one rig cost.

    Attributes:
        rig: name.
        single: [ms] one frame with every check.
        batch: [ms] per frame of a whole motion.
    """

    rig: str
    single: float
    batch: float

    @property
    def dance(self) -> float:
        """[s] to verify five minutes at 500 Hz."""
        return self.batch * 1e-3 * DANCE_SECONDS * RATE


def swinging_motion(rig: Rig, frames: int, seed: int = 0, rate: float = RATE) -> Motion:
    """A smooth motion of every joint about the middle of its range."""
    generator = np.random.default_rng(seed)
    lower = np.where(np.isfinite(rig.limits.lower), rig.limits.lower, -ENDLESS)
    upper = np.where(np.isfinite(rig.limits.upper), rig.limits.upper, ENDLESS)
    times = np.arange(frames) / rate
    frequency = generator.uniform(0.2, 0.6, len(lower)) * 2.0 * np.pi
    phase = generator.uniform(0.0, 2.0 * np.pi, len(lower))
    angle = frequency * times[:, None] + phase
    reach = SWING * (upper - lower) / 2.0
    joints = (lower + upper) / 2.0 + reach * np.sin(angle)
    tangent = np.concatenate([np.zeros((frames, ROOT_NV)), joints], axis=1)
    rates = np.concatenate([np.zeros((frames, ROOT_NV)), reach * frequency * np.cos(angle)], axis=1)
    second = np.concatenate([np.zeros((frames, ROOT_NV)), -reach * frequency**2 * np.sin(angle)], axis=1)
    q = np.array([integrate(rig, rig.neutral, row) for row in tangent])
    return Motion(times, q, rates, second)


def measure(rig: Rig, frames: int) -> Cost:
    """Measure the cost of the checks on one rig; the best of several runs."""
    motion = swinging_motion(rig, frames)
    anchors = anchors_at(rig, rig.neutral)
    ground = float(anchors[0].points(rig)[:, 2].mean())
    schedule = Schedule.constant(anchors, 0.0, motion.times[-1], ground)
    checker = FrameChecker(rig, schedule, CheckOptions())
    singles, batches = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        for frame in np.linspace(0, frames - 1, SINGLE).astype(int):
            checker.check(motion.q[frame], motion.v[frame], motion.a[frame], float(motion.times[frame]))
        singles.append((time.process_time() - start) / SINGLE)
        start = time.process_time()
        check_motion(rig, motion, schedule)
        batches.append((time.process_time() - start) / frames)
    return Cost(rig.name, 1e3 * min(singles), 1e3 * min(batches))


def main() -> int:
    """Print the table; 1 when a must is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer frames")
    frames = QUICK_FRAMES if parser.parse_args().quick else FRAMES
    print(f"{reference_line()}\n")
    print(f"{'rig (simulated motion)':50} {'one frame':>12} {'batch':>14} {'5 min at 500 Hz':>16}")
    missed = False
    rigs = (human(1.75, 70.0, "male"), hoap3(), hrp2())
    with one_blas_thread():
        for rig in rigs:
            cost = measure(rig, frames)
            print(f"{cost.rig[:50]:50} {cost.single:9.2f} ms {cost.batch:8.3f} ms/fr {cost.dance:14.1f} s")
            missed |= to_ordinary(cost.single) > MUST_MILLISECONDS
            missed |= cost.rig.startswith("HOAP") and to_ordinary(cost.dance) > MUST_DANCE_SECONDS
    seconds = LIVE_FRAMES / LIVE_RATE
    print(
        f"\nlive: {seconds:g} s at {LIVE_RATE:g} frames a second, request to answer; edit: one key, to the frame seen"
    )
    print(f"{'':50} {'start':>8} {'posture':>10} {'whole':>12} {'edit':>10} {'all after edit':>15}")
    for rig in rigs:
        live = measure_live(rig, swinging_motion(rig, LIVE_FRAMES, rate=LIVE_RATE))
        print(
            f"{rig.name[:50]:50} {live.start:6.2f} s {live.pose:7.2f} ms {live.frame:6.2f} ms/fr "
            f"{live.first:7.1f} ms {live.edit:12.1f} ms"
        )
        missed |= to_ordinary(max(live.pose, live.frame)) > MUST_MILLISECONDS
    print(f"must: one frame < {MUST_MILLISECONDS:g} ms (aim {AIM_MILLISECONDS:g}); HOAP-3 < {MUST_DANCE_SECONDS:g} s")
    print("a must is MISSED" if missed else "every must is met")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
