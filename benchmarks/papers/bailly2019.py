"""bailly2019, III.A, compared with ours: ``python -m benchmarks.papers.bailly2019 [--quick] [--data DIR] [--output
DIR]``.

All but Fig. 9 is SIMULATED, on a stand-in for HRP-2 (`walk`, `noisy_walk`); the paper's robot, walk and errors of the
inertials are others, so that its numbers are there to compare the size of things.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from solver.base.threads import one_blas_thread
from solver.centroidal.baselines import FilterNoise, extended_kalman, force_only, kinematic, linear_fusion
from solver.centroidal.complementary import complementary, zero_phase_recursion
from solver.centroidal.smoother import ROBOT_SETTINGS, smooth_centroidal
from solver.centroidal.values import CentroidalData, CentroidalEstimate
from solver.dynamics import centroidal_momentum, com_trajectory
from solver.report.svg import Drawing
from solver.rigs import hrp2

from ..figures.centroidal_real import collect_recordings
from ..figures.runs import OTHERS, prepare_runs
from ..recordings import DATA
from ..reference import reference_line
from .noisy_walk import as_exact, covariance_root, perturb_inertials, simulate_measurements
from .plots import curves_over_time, save
from .rows import Row, table
from .walk import Gait, Walk, walk

BIASES = (0.3, 0.5)
"""Relative standard deviations of the errors of masses, centres and second moments."""
SEEDS, QUICK_SEEDS = 40, 3
AXES = "XYZ"
ITERATIONS = (1, 2, 5, 10, 20, 50, 100, 1000)
TOLERANCE = 1e-3
"""[m] and [N m] change of centre of mass and momentum rate at which the paper's iteration ends."""
AT_STOP = "complementary, the paper's stop"
GAIT = Gait(stand=1.5)
CROPPED = 1.0
"""[s] at either end in which errors are not counted: filters have settled, as in the middle of a long walk."""
OFFSET = 0.03
"""[m] standard deviation of the constant error that one of the Kalman filters estimates."""
SIMULATED = "simulated, HRP-2 stand-in, 0.5 m/s"
PRINTED_COM = {"kinematic": (6.0, 21.0, 36.0), AT_STOP: (6.0, 2.9, 11.0)}
"""[mm] mean absolute errors that the paper prints, X, Y, Z."""
PRINTED_RATIO = {AT_STOP: 11.0 / 36.0}
QUANTILES = (0.25, 0.5, 0.75)
DRAWN = ("complementary", "kinematic", "smoother")
"""Estimators in Figs. 5 and 6."""
REAL, WALK = ("complementary", "kinematic", "ekf", "smoother"), "subject_b walk"
"""Estimators and recording of Fig. 9."""


def _smoother(data: CentroidalData) -> CentroidalEstimate:
    return smooth_centroidal(data, ROBOT_SETTINGS)


def _smoother_exact_inertials(data: CentroidalData) -> CentroidalEstimate:
    return smooth_centroidal(as_exact(data), ROBOT_SETTINGS)


def _kalman_with_offset(data: CentroidalData) -> CentroidalEstimate:
    return extended_kalman(data, FilterNoise(offset=OFFSET))


ESTIMATORS: Mapping[str, Callable[[CentroidalData], CentroidalEstimate]] = {
    "kinematic": kinematic,
    "force": force_only,
    "ekf": extended_kalman,
    "ekf with an offset": _kalman_with_offset,
    "fusion": linear_fusion,
    "complementary": complementary,
    "smoother, inertials taken as exact": _smoother_exact_inertials,
    "smoother": _smoother,
}
"""`complementary` is the fixed point of the paper's iteration."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Of one estimator.

    Attributes:
        each: (S, 4) of every seed: mean absolute errors of the centre of mass [mm], X, Y, Z, and root mean square of
            the momentum rate's error [N m].
    """

    each: np.ndarray

    @property
    def com(self) -> np.ndarray:
        """(3,) [mm] mean over the seeds."""
        return self.each[:, :3].mean(axis=0)

    @property
    def rate(self) -> float:
        """[N m] mean over the seeds."""
        return float(self.each[:, 3].mean())


@cache
def simulation() -> tuple[Walk, np.ndarray, np.ndarray]:
    """The walk, its true centre of mass [m] and momentum rate [N m]."""
    rig = hrp2()
    made = walk(rig, GAIT)
    rate = centroidal_momentum(rig, made.motion, rig.prior).rate[:, 3:]
    return made, com_trajectory(rig, made.motion, rig.prior), rate


def simulate_data(bias: float, seed: int) -> CentroidalData:
    """What is measured of the walk with one draw of wrong inertials and noise."""
    rig = hrp2()
    inertials = perturb_inertials(rig, bias, seed)
    return simulate_measurements(rig, simulation()[0], inertials, seed, covariance_root(inertials, bias))


def errors(bias: float, seeds: Sequence[int]) -> dict[str, Errors]:
    """Of every estimator, and of the paper's iteration after each number of iterations and at its stop."""
    _, com, rate = simulation()
    found: dict[str, list[np.ndarray]] = {}
    for seed in seeds:
        data = simulate_data(bias, seed)
        runs = {name: (estimate.com, estimate.momentum_rate)
                for name, estimate in ((name, method(data)) for name, method in ESTIMATORS.items())}  # fmt: skip
        counted = slice(round(CROPPED * data.rate), -round(CROPPED * data.rate))
        for name, (place, turning) in (runs | _iterate(data)).items():
            off, turned = (place - com)[counted], (turning - rate)[counted]
            size = np.sqrt(np.mean(np.sum(turned**2, axis=1)))
            found.setdefault(name, []).append(np.append(1e3 * np.abs(off).mean(axis=0), size))
    return {name: Errors(np.array(values)) for name, values in found.items()}


def _iterate(data: CentroidalData) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Centre of mass (N, 3) [m] and momentum rate (N, 3) [N m] in the course of the paper's iteration."""
    recursion, _ = zero_phase_recursion(data)
    com, rate = data.com.T, data.momentum_rate.T
    found, ended = {}, False
    for count in range(1, ITERATIONS[-1] + 1):
        before = com, rate
        com, rate = recursion.step(com, rate)
        changes = (np.abs(after - values).max() for after, values in zip((com, rate), before))
        if not ended and (max(changes) <= TOLERANCE or count == ITERATIONS[-1]):
            found[AT_STOP], ended = (com.T, rate.T), True
        if count in ITERATIONS:
            found[f"complementary, {count} iterations"] = (com.T, rate.T)
    return found


def rows(bias: float, found: Mapping[str, Errors]) -> list[Row]:
    """Figs. 5, 6 and 7 as numbers."""
    data = f"{SIMULATED}, bias {bias:.0%}"
    result = []
    for name in (*ESTIMATORS, AT_STOP):
        printed = PRINTED_COM.get(name, (None, None, None))
        for axis in range(3):
            what = f"CoM, mean |error| {AXES[axis]}, {name} [mm]"
            result.append(Row(what, data, float(found[name].com[axis]), printed[axis]))
        result.append(Row(f"momentum rate, RMS error, {name} [N m]", data, found[name].rate))
        ratios = found[name].each[:, 2] / found["kinematic"].each[:, 2]
        low, middle, high = np.quantile(ratios, QUANTILES)
        mean = float(found[name].com[2] / found["kinematic"].com[2])
        spread = f"of single seeds: median {middle:.2f}, quartiles {low:.2f} and {high:.2f}"
        result.append(Row(f"Z over the kinematics', {name}", data, mean, PRINTED_RATIO.get(name), note=spread))
    whole = float(np.linalg.norm(found["kinematic"].com))
    for count in ITERATIONS:
        own = found[f"complementary, {count} iterations"].com
        note = ", ".join(f"{axis} {value:.2f} mm" for axis, value in zip(AXES, own))
        what = f"Fig. 7: size of the complementary filter's error over the kinematics', {count} iterations"
        result.append(Row(what, data, float(np.linalg.norm(own)) / whole, note=note))
    return result


def estimate_drawings(bias: float, seed: int) -> dict[str, Drawing]:
    """Fig. 5, errors over time, and Fig. 6, the estimates themselves."""
    made, com, rate = simulation()
    data = simulate_data(bias, seed)
    found = {name: ESTIMATORS[name](data) for name in DRAWN}
    off = [(f"error of the centre of mass {axis} [mm]", {n: 1e3 * (e.com - com)[:, k] for n, e in found.items()})
           for k, axis in enumerate(AXES)]  # fmt: skip
    sizes = _panels({"truth": (com, rate)} | {n: (e.com, e.momentum_rate) for n, e in found.items()})
    words = f"SIMULATED walk, inertials off by {bias:.0%}"
    return {
        "fig5": curves_over_time(made.motion.times, off, f"Fig. 5: {words}"),
        "fig6": curves_over_time(made.motion.times, sizes, f"Fig. 6: {words}"),
    }


def real_drawing(data: Path) -> Drawing | None:
    """Fig. 9 with a person's walk instead of HRP-2's; None where there is no recording. The truth is not known."""
    paths = [data / file for file in OTHERS[WALK]]
    if not all(path.exists() for path in paths):
        return None
    recorded = collect_recordings(prepare_runs(paths))[0]
    found = {name: ESTIMATORS[name](recorded.prior) for name in REAL}
    times = np.arange(len(recorded.prior.com)) / recorded.prior.rate
    panels = _panels({name: (each.com, each.momentum_rate) for name, each in found.items()})
    return curves_over_time(times, panels, f"Fig. 9: {WALK}, REAL, inertials of the table")


def _panels(found: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[tuple[str, dict[str, np.ndarray]]]:
    panels = [(f"centre of mass {axis} [m]", {n: com[:, k] for n, (com, _) in found.items()})
              for k, axis in enumerate(AXES)]  # fmt: skip
    return panels + [(f"momentum rate {axis} [N m]", {n: rate[:, k] for n, (_, rate) in found.items()})
                     for k, axis in enumerate(AXES)]  # fmt: skip


def iteration_drawing(found: Mapping[str, Errors], bias: float) -> Drawing:
    """Fig. 7: size of the error over the number of iterations."""
    sizes = [np.linalg.norm(found[f"complementary, {count} iterations"].com) for count in ITERATIONS]
    flat = np.full(len(ITERATIONS), np.linalg.norm(found["kinematic"].com))
    curves = {"kinematic": flat, "complementary": np.array(sizes)}
    title = f"Fig. 7: SIMULATED walk, inertials off by {bias:.0%}"
    return curves_over_time(np.log10(ITERATIONS), [("error [mm] over log10 of iterations", curves)], title, rows=1)


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the tables, write the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.bailly2019", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SEEDS} seeds instead of {SEEDS}")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real recordings (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for the figures as SVG")
    options = parser.parse_args(None if arguments is None else list(arguments))
    print(reference_line())
    drawings: dict[str, Drawing] = {}
    with one_blas_thread():
        made = simulation()[0]
        print(f"the walk: pressure {1e3 * made.margin:.0f} mm inside the soles at least, friction {made.friction:.2f}")
        for bias in BIASES:
            found = errors(bias, range(QUICK_SEEDS if options.quick else SEEDS))
            print(table(f"bailly2019 III.A, inertials off by {bias:.0%}", rows(bias, found)), flush=True)
            drawings.setdefault("fig7", iteration_drawing(found, bias))
        if options.output:
            drawings |= estimate_drawings(BIASES[0], 0)
            if (real := real_drawing(options.data)) is not None:
                drawings["fig9"] = real
            else:
                print(f"missing: Fig. 9: {options.data} has no recording of {WALK}: name its folder with --data")
            for name, picture in drawings.items():
                print(f"written: {save(picture, options.output / f'{name}.svg')}")


if __name__ == "__main__":
    main()
