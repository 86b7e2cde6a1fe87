"""Centroidal figures of the simulated walk, and of the causal form's speed."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.papers.bailly2019 import (
    AT_STOP,
    AXES,
    BIASES,
    ITERATIONS,
    QUICK_SEEDS,
    SEEDS,
    SIMULATED,
    errors,
    simulate_data,
)
from solver.centroidal.causal_filter import CausalFilter, LiveSample
from solver.centroidal.complementary import causal_complementary
from solver.centroidal.values import CentroidalData

from .figure import Figure, at_most

SHARE, UP, UP_AIM, SIDEWAYS_AIM = 0.15, 0.25, 0.15, 0.5
RATE_MUST, RATE_AIM = {0.3: 1.1, 0.5: 0.9}, {0.3: 0.9, 0.5: 0.75}
FORCE_SHARE = 0.55
PLACES = {"complementary": "fixed point", AT_STOP: "the paper's stop"}
FIXED_POINT, FIXED_POINT_AIM, STOP, STOP_AIM = 0.5, 0.36, 0.75, 0.5
LONG = 120_000
LIVE_SAMPLES = 4000
REPEATED = 5


def walk_figures(quick: bool) -> list[Figure]:
    """Errors over those of the kinematics, at each bias."""
    figures = []
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    for bias in BIASES:
        found = errors(bias, seeds)
        ours, kin, ekf = (found[name] for name in ("smoother", "kinematic", "ekf"))
        data = f"{SIMULATED}, {len(seeds)} seeds"
        label = f"inertials off by {bias:.0%}"
        for axis, name in enumerate(AXES):
            limit, aim = (UP, at_most(UP_AIM)) if name == "Z" else (SHARE, None)
            others = ", ".join(f"{m} {found[m].com[axis]:.2f}" for m in found if "iterations" not in m)
            figures.append(
                Figure(
                    f"CoM {name}, mean |error| over the kinematics', {label}", data,
                    float(ours.com[axis] / kin.com[axis]), "", at_most(limit), aim,
                    f"[mm] {others}",
                )
            )  # fmt: skip
            if name != "Z":
                figures.append(
                    Figure("  the same over the EKF's", data, float(ours.com[axis] / ekf.com[axis]), "", at_most(1.0))
                )
            if name == "Y":
                figures.append(
                    Figure("  the same, absolute", data, float(ours.com[axis]), "mm", None, at_most(SIDEWAYS_AIM))
                )
        steps = ", ".join(f"{count}: {found[f'complementary, {count} iterations'].com[2]:.2f}" for count in ITERATIONS)
        for name, must, hoped in (("complementary", FIXED_POINT, FIXED_POINT_AIM), (AT_STOP, STOP, STOP_AIM)):
            ratios = found[name].each[:, 2] / kin.each[:, 2]
            low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
            figures.append(
                Figure(
                    f"paper's form, CoM Z over the kinematics', {PLACES[name]}, {label}", data,
                    float(found[name].com[2] / kin.com[2]), "", at_most(must), at_most(hoped),
                    f"single seeds {middle:.2f} ({low:.2f} to {high:.2f}); {found[name].com[2]:.2f} of "
                    f"{kin.com[2]:.2f} mm; after so many iterations: {steps}",
                )
            )  # fmt: skip
        single = min(kin.rate, found["force"].rate)
        figures.append(
            Figure(
                f"momentum rate, RMS error over the better single source's, {label}", data, ours.rate / single, "",
                at_most(RATE_MUST[bias]), at_most(RATE_AIM[bias]),
                "[N m] " + ", ".join(f"{name} {found[name].rate:.2f}" for name in found if "iterations" not in name),
            )
        )  # fmt: skip
        over_force = ours.rate / found["force"].rate
        figures.append(Figure("  the same over force alone", data, over_force, "", at_most(FORCE_SHARE)))
    return figures


def speed_figures() -> list[Figure]:
    """Time of the causal form, live and over a long recording; processor time, best of a few."""
    data = simulate_data(BIASES[0], 0)
    rows = [values.tolist() for values in (data.com, data.momentum_rate, data.wrench)]
    samples = [LiveSample(*row) for row in zip(*rows)]
    samples = (samples * (LIVE_SAMPLES // len(samples) + 1))[:LIVE_SAMPLES]
    live, whole = [], []
    repeats = -(-LONG // len(data))
    signals = (data.com, data.momentum, data.momentum_rate, data.acceleration, data.wrench)
    com, momentum, rate, acceleration, wrench = (np.tile(values, (repeats, 1))[:LONG] for values in signals)
    times = np.arange(LONG) / data.rate
    long = CentroidalData(times, data.mass, com, momentum, rate, acceleration, wrench)
    for _ in range(REPEATED):
        own = CausalFilter(data.mass, data.rate)
        start = time.process_time()
        for sample in samples:
            own.step(sample)
        live.append((time.process_time() - start) / len(samples))
        start = time.process_time()
        causal_complementary(long)
        whole.append(time.process_time() - start)
    return [
        Figure(
            "causal form, live: a sample, solved in closed form", "simulated", 1e6 * min(live), "us", at_most(20.0),
            at_most(5.0), timed=True,
        ),
        Figure(f"causal form, {LONG} samples at once", "simulated", min(whole), "s", timed=True),
    ]  # fmt: skip
