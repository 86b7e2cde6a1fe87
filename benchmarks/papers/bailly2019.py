"""bailly2019, III.A, compared with ours: ``python -m benchmarks.papers.bailly2019 [--quick] [--output DIR]``.

Everything is SIMULATED, on a stand-in for HRP-2 (`walk`, `noisy_walk`); the paper's robot, walk and errors of the
inertials are others, so that its numbers are there to compare the size of things.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from solver.centroidal.baselines import extended_kalman, force_only, kinematic, linear_fusion
from solver.centroidal.complementary import PAPER_SETTINGS, complementary
from solver.centroidal.smoother import ROBOT_SETTINGS, smooth_centroidal
from solver.centroidal.values import CentroidalData, CentroidalEstimate
from solver.dynamics import centroidal_momentum, com_trajectory
from solver.report.svg import Axis, Drawing, axis_limits
from solver.rigs import hrp2
from solver.threads import one_blas_thread

from ..reference import reference_line
from .noisy_walk import as_exact, covariance_root, perturb_inertials, simulate_measurements
from .plots import save
from .rows import Row, table
from .walk import Walk, walk

BIASES = (0.3, 0.5)
"""Relative standard deviations of the errors of masses, centres and second moments."""
SEEDS, QUICK_SEEDS = 20, 3
AXES = "XYZ"
ITERATIONS = (1, 2, 5, 10, 20, 50)
SIMULATED = "simulated, HRP-2 stand-in, 0.5 m/s"
PRINTED_COM = {"kinematic": (6.0, 21.0, 36.0), "complementary": (6.0, 2.9, 11.0)}
"""[mm] mean absolute errors that the paper prints, X, Y, Z."""
STYLES = {"kinematic": "still", "complementary": "plain", "smoother": "ours"}


def _smoother(data: CentroidalData) -> CentroidalEstimate:
    return smooth_centroidal(data, ROBOT_SETTINGS)


def _smoother_exact_inertials(data: CentroidalData) -> CentroidalEstimate:
    return smooth_centroidal(as_exact(data), ROBOT_SETTINGS)


ESTIMATORS: Mapping[str, Callable[[CentroidalData], CentroidalEstimate]] = {
    "kinematic": kinematic,
    "force": force_only,
    "ekf": extended_kalman,
    "fusion": linear_fusion,
    "complementary": complementary,
    "smoother, inertials taken as exact": _smoother_exact_inertials,
    "smoother": _smoother,
}


@dataclass(frozen=True, slots=True)
class Errors:
    """Mean over seeds.

    Attributes:
        com: (3,) [mm] mean absolute error.
        rate: [N m] root mean square of the momentum rate's error.
    """

    com: np.ndarray
    rate: float


@cache
def simulation() -> tuple[Walk, np.ndarray, np.ndarray]:
    """The walk, its true centre of mass [m] and momentum rate [N m]."""
    rig = hrp2()
    made = walk(rig)
    rate = centroidal_momentum(rig, made.motion, rig.prior).rate[:, 3:]
    return made, com_trajectory(rig, made.motion, rig.prior), rate


def simulate_data(bias: float, seed: int) -> CentroidalData:
    """What is measured of the walk with one draw of wrong inertials and noise."""
    rig = hrp2()
    inertials = perturb_inertials(rig, bias, seed)
    return simulate_measurements(rig, simulation()[0], inertials, seed, covariance_root(inertials, bias))


def errors(bias: float, seeds: Sequence[int]) -> dict[str, Errors]:
    """Of every estimator; the complementary one after each number of iterations too."""
    _, com, rate = simulation()
    found: dict[str, list[np.ndarray]] = {}
    for seed in seeds:
        data = simulate_data(bias, seed)
        runs = {name: method(data) for name, method in ESTIMATORS.items()}
        for count in ITERATIONS:
            short = replace(PAPER_SETTINGS, iterations=count, tolerance=1e-9)
            runs[f"complementary, {count} iterations"] = complementary(data, short)
        for name, estimate in runs.items():
            off, turned = estimate.com - com, estimate.momentum_rate - rate
            size = np.sqrt(np.mean(np.sum(turned**2, axis=1)))
            found.setdefault(name, []).append(np.append(1e3 * np.abs(off).mean(axis=0), size))
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    return {name: Errors(mean[:3], float(mean[3])) for name, mean in means.items()}


def rows(bias: float, found: Mapping[str, Errors]) -> list[Row]:
    """Figs. 5, 6 and 7 as numbers."""
    data = f"{SIMULATED}, bias {bias:.0%}"
    result = []
    for name in ESTIMATORS:
        printed = PRINTED_COM.get(name, (None, None, None))
        for axis in range(3):
            what = f"CoM, mean |error| {AXES[axis]}, {name} [mm]"
            result.append(Row(what, data, float(found[name].com[axis]), printed[axis]))
        result.append(Row(f"momentum rate, RMS error, {name} [N m]", data, found[name].rate))
    whole = float(np.linalg.norm(found["kinematic"].com))
    for count in ITERATIONS:
        own = found[f"complementary, {count} iterations"].com
        note = ", ".join(f"{axis} {value:.2f} mm" for axis, value in zip(AXES, own))
        what = f"Fig. 7: size of the complementary filter's error over the kinematics', {count} iterations"
        result.append(Row(what, data, float(np.linalg.norm(own)) / whole, note=note))
    return result


def drawing(bias: float, seed: int) -> Drawing:
    """Fig. 5: errors over time."""
    made, com, _ = simulation()
    data = simulate_data(bias, seed)
    times = np.array(made.motion.times)
    picture = Drawing(720.0, 560.0, f"Error of the centre of mass [mm], simulated walk, inertials off by {bias:.0%}")
    picture.text(60.0, 20.0, picture.title, "title")
    estimates = {name: 1e3 * (ESTIMATORS[name](data).com - com) for name in STYLES}
    for axis in range(3):
        x = Axis(float(times[0]), float(times[-1]), 60.0, 700.0)
        low, high = axis_limits(*(values[:, axis] for values in estimates.values()))
        y = Axis(low, high, 190.0 + 165.0 * axis, 50.0 + 165.0 * axis)
        picture.frame(x, y, x.ticks(), y.ticks(), times=axis == 2)
        picture.text(64.0, 46.0 + 165.0 * axis, AXES[axis], "label")
        for name, values in estimates.items():
            picture.curve(x, y, times, values[:, axis], STYLES[name])
    for number, (name, style) in enumerate(STYLES.items()):
        picture.line(380.0 + 110.0 * number, 540.0, 400.0 + 110.0 * number, 540.0, style)
        picture.text(405.0 + 110.0 * number, 544.0, name, "tick")
    return picture


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the tables, write the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.bailly2019", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SEEDS} seeds instead of {SEEDS}")
    parser.add_argument("--output", type=Path, help="folder for fig5.svg")
    options = parser.parse_args(None if arguments is None else list(arguments))
    print(reference_line())
    with one_blas_thread():
        made = simulation()[0]
        print(f"the walk: pressure {1e3 * made.margin:.0f} mm inside the soles at least, friction {made.friction:.2f}")
        for bias in BIASES:
            found = errors(bias, range(QUICK_SEEDS if options.quick else SEEDS))
            print(table(f"bailly2019 III.A, inertials off by {bias:.0%}", rows(bias, found)))
        if options.output:
            print(f"written: {save(drawing(BIASES[0], 0), options.output / 'fig5.svg')}")


if __name__ == "__main__":
    main()
