"""Experiments of ayusawa, simulated: ``python -m benchmarks.papers.ayusawa [--quick]
[--output DIR]``.

table    Table I: a thrown chain of two links with the true parameters that it prints
throws   its errors over several draws
jumper   Fig. 5: a jumper of 34 degrees of freedom whose inertials are known (`benchmarks.papers.jumper`)

As printed these fit no physical body whose joint turns about the z axis of L0 (Ixx - Iyy = -.005 with I1yy <= .001);
with the joint along x of L0 they do, which is taken here. What the paper leaves open is chosen and named: how the mass
is split, where the joint and the markers sit, the throws.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from solver.base.so3 import conjugate, rotate
from solver.base.threads import one_blas_thread
from solver.identification.accumulate import accumulate_regression
from solver.identification.flight import null_space
from solver.identification.regression import Regression
from solver.rigs.assembly import MovingBody, assemble
from solver.signals import GRAVITY, preset_of
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.study.flights import find_trial_flights
from solver.study.values import TrialRecord
from solver.tracking import TrackingOptions, track_markers
from solver.values.inertials import PER_LINK, InertialParameters, symmetric_entries

from ..figures.figure import Figure, at_most, row
from ..reference import reference_line
from .thrown import simulate_flight, simulate_recording

RATE = 200.0
"""[1/s] of the cameras, section III.A."""
PRESET = "ayusawa"
MASS, SECOND_MASS, SECOND_YY = 0.997, 0.3, 0.0057
"""[kg], [kg], [kg m^2] total (Table I), and of the second link (chosen: its I1yy is regrouped into that of L0)."""
PLACE = np.array([0.0, 0.1, 0.0])
"""[m] of the joint in L0 (chosen)."""
TURN = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes of L1 in L0 at zero: its z, the joint's, along x."""
FIRST_MOMENT, FIRST_INERTIA = (0.0, 0.064, 0.006), np.diag([0.013, 0.008, 0.019])
"""[kg m], [kg m^2] MS and J of L0, measured column of Table I."""
SECOND_MOMENT, SECOND_DIFFERENCE, SECOND_ZZ = (-0.036, -0.003), -0.005, 0.006
"""[kg m], [kg m^2] mc, Ixx - Iyy and Izz of L1; its products are zero."""
ENTRIES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Of one link, in the order of `InertialParameters`."""
SEEDS = 5
PRINTED = (1191, 76, 18)
"""Largest and the two smallest singular values of the regressor in print."""
PAPER = 0.007
"""[SI] largest error of Table I."""
SPREAD = 0.12
"""[m] of the markers about the middle of a link (chosen)."""


@dataclass(frozen=True, slots=True)
class Throws:
    """How a chain is thrown.

    Attributes:
        count: of throws.
        seconds: [s] of each.
        spin: [rad/s] standard deviation of every component of the first angular velocity and of the joint's.
        noise: [m] standard deviation of a coordinate of a marker.
        seed: of all.
    """

    count: int
    seconds: float
    spin: float
    noise: float = 1e-3
    seed: int = 0


MANY, FEW = Throws(26, 0.75, 8.0), Throws(12, 0.75, 5.0)


def chain() -> Rig:
    """The two links with their true inertial parameters as the prior."""
    first_moment = np.array(FIRST_MOMENT) - SECOND_MASS * PLACE
    lever = SECOND_MASS * (PLACE @ PLACE * np.eye(3) - np.outer(PLACE, PLACE))
    regrouped = TURN @ np.diag([SECOND_YY, SECOND_YY, 0.0]) @ TURN.T
    own = FIRST_INERTIA - lever - regrouped  # (20), the second link's centre of mass in the plane z = 0
    second = np.diag([SECOND_YY + SECOND_DIFFERENCE, SECOND_YY, SECOND_ZZ])
    rows = [
        [MASS - SECOND_MASS, *first_moment, *symmetric_entries(own)],
        [SECOND_MASS, *SECOND_MOMENT, 0.0, *symmetric_entries(second)],
    ]
    joint = MovingBody("L1", "L0", ((0.0, 0.0, 1.0),), PLACE, TURN, [-np.inf], [np.inf], [np.inf], [np.inf])
    joints, limits = assemble([MovingBody("L0", None), joint])
    boxes = np.array([[[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]]] * 2)
    prior = InertialParameters(("L0", "L1"), np.array(rows))
    return Rig("two links", prior.links, joints, prior, limits, boxes, np.array([PLACE, [-0.2, 0.0, 0.0]]))


def equations(rig: Rig, throws: Throws) -> Regression:
    """Equations of tracked throws, each filtered by itself."""
    generator = np.random.default_rng(throws.seed)
    times = np.arange(round(throws.seconds * RATE) + 1) / RATE
    trials = []
    for number in range(throws.count):
        q, v = _start(rig, throws, generator)
        motion = simulate_flight(rig, rig.prior, (q, v), times, None)
        attached, markers = simulate_recording(rig, motion, SPREAD, throws.noise, generator)
        record = TrialRecord(
            Recording(f"throw {number}", markers), track_markers(rig, attached, markers, TrackingOptions())
        )
        found = find_trial_flights(rig, record, preset_of(PRESET), MASS).trial
        if found is not None:
            trials.append(found)
    return accumulate_regression(rig, trials, axes="world")


def largest_error(rig: Rig, throws: Throws) -> float:
    """Largest error of a base parameter, Table I's units."""
    regression = equations(rig, throws)
    return float(np.abs(null_space(regression, MASS).values - regression.structure.project(rig.prior)).max())


def table_1() -> str:
    """Table I for one draw of many throws, and the singular values of the equations."""
    rig = chain()
    regression = equations(rig, MANY)
    found = null_space(regression, MASS)
    truth = regression.structure.project(rig.prior)
    lines = ["Table I, simulated throws, paper's program [SI]", " parameter      true  identified"]
    names = [f"{rig.links[k // PER_LINK]} {ENTRIES[k % PER_LINK]}" for k in regression.structure.independent]
    lines += [f" {name:12s} {a:7.4f} {b:11.4f}" for name, a, b in zip(names, truth, found.values, strict=True)]
    ends = ", ".join(f"{value:.4g}" for value in found.singular_values[[0, -2, -1]])
    lines.append(f"largest and the two smallest singular values: {ends}; in print {', '.join(map(str, PRINTED))}")
    return "\n".join(lines)


def rows(quick: bool = False) -> Iterator[Figure]:
    """The chain's figures; the quick ones of few throws only, and of fewer seeds."""
    rig = chain()
    for throws, must, aim in ((MANY, 0.003, 0.001), (FEW, 0.005, 0.0025))[1 if quick else 0 :]:
        drawn = [largest_error(rig, replace(throws, seed=seed)) for seed in range(1 if quick else SEEDS)]
        data = f"simulated, {throws.count} throws of {throws.seconds} s, {throws.spin:g} rad/s, 1 mm markers, 10 Hz"
        note = f"median of {len(drawn)} seeds, worst {max(drawn):.4f}; the paper's table: {PAPER}"
        what = "thrown chain, largest error of a parameter"
        yield Figure(what, data, float(np.median(drawn)), "SI", at_most(must), at_most(aim), note=note)


def _start(rig: Rig, throws: Throws, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    turn = generator.standard_normal(4)
    turn /= np.linalg.norm(turn)
    q = rig.neutral.copy()
    q[3:7], q[7] = turn, generator.uniform(-np.pi, np.pi)
    v = throws.spin * generator.standard_normal(rig.nv)
    v[:3] = rotate(conjugate(turn), np.array([0.5, 0.0, 0.5 * GRAVITY * throws.seconds]))
    return q, v


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the figures."""
    from . import jumper, plots  # which import from here, or take long

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.ayusawa",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="fewer throws, seeds and flights")
    parser.add_argument("--output", type=Path, help="folder for Fig. 5 as SVG")
    options = parser.parse_args(arguments)
    print(reference_line())
    with one_blas_thread():
        print(f"{table_1()}\n", flush=True)
        for figure in rows(options.quick):
            print(row(figure), flush=True)
        text, drawing = jumper.figure_5(jumper.Jumps(5 if options.quick else 10, 1e-3))
        print(f"\n{text}\n", flush=True)
        if options.output is not None:
            print(f"written: {plots.save(drawing, options.output / 'fig5.svg')}")
        for figure in () if options.quick else jumper.rows():
            print(row(figure), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
