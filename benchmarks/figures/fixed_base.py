"""Fixed-base arms: conditioning of the regressor by their exciting motions, and identification from them.

The published peer is FIGAROH: its own search, by IPOPT, of waypoints joined by polynomials, with the same ranges,
speeds, torques and time. It runs in an interpreter of its own, named by PEER_PYTHON (`pip install figaroh
cyipopt-wheels`), for it pins other packages. It knows no clearance here: its motions may pass through arm and
table, ours do not. FloBaRoID, which needs pyOpt, is in no package index; its parametrisation, a Fourier series of five
harmonics, is searched by SciPy inside the same limits.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from solver.fixed_base.exciting_motions import (
    ExcitingMotion,
    ExcitingOptions,
    build_margins,
    compute_condition,
    exciting_motion,
)
from solver.fixed_base.identify import FixedBaseTrial, identify_fixed_base
from solver.fixed_base.margins import Margins
from solver.fixed_base.robot import FixedBaseRobot
from solver.fixed_base.search import CONDITION, MODEL_RATE, compute_criterion
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, InertialParameters
from solver.values.motion import Motion

from ..models import HOW, PANDA, UR5, model_file
from .figure import Figure, at_most

ARMS = {
    "Panda": PANDA,
    "UR5": UR5,
}
"""Models of example-robot-data, from PyPI."""
SECONDS = 10.0
HARMONICS = 5
RANDOM, QUICK_RANDOM = 200, 20
PENALTY = 30.0
PRIOR_ERROR = 0.2
NOISE = 0.01
"""Of a torque, as a share of the largest of its joint."""
ENCODER = 1e-5
"""[rad]."""
RATE = 200.0
PEER = "PEER_PYTHON"
"""Environment variable that names an interpreter with figaroh and IPOPT."""
SCRIPT = Path(__file__).with_name("figaroh_peer.py")
"""What it runs."""
WAYPOINTS, PEER_SEEDS, ITERATIONS = 11, (1, 2, 3), 200
"""Of the peer: waypoints of the ten seconds (with six it did half as well), starts, and IPOPT's iterations at most."""
NO_TABLE = -100.0
"""[m] Height of a surface that no arm reaches."""
DRIVES = (0.3, 5.0, 3.0, 0.5)
"""Made-up rotor inertia, viscous and Coulomb friction, offset of every joint."""


def figures(quick: bool) -> list[Figure]:
    """Rows of the table."""
    result = []
    for name, parts in ARMS.items():
        path = model_file(parts)
        if path is None:
            result.append(Figure("an arm on a bench", f"simulated, {name}", None, note=f"not installed: {HOW}"))
            continue
        result += _arm_figures(name, path, quick)
        if quick:
            break
    return result


def _arm_figures(name: str, path: Path, quick: bool) -> list[Figure]:
    rig, data = from_urdf(path), f"simulated, {name}, {SECONDS:g} s"
    bench = FixedBaseRobot(rig, drives=False)
    options = ExcitingOptions(seconds=SECONDS)
    began = time.process_time()
    found = exciting_motion(bench, options)
    own = time.process_time() - began
    margins = build_margins(bench, options)
    count = QUICK_RANDOM if quick else RANDOM
    random = random_motions(found, margins, count)
    rows = [
        Figure("condition number of the regressor", data, found.condition, "", at_most(random),
               note=f"{len(bench.structure)} base parameters; best of {count} random motions in the same limits: "
               f"{random:.0f}; {own:.1f} s of processor"),
    ]  # fmt: skip
    if not quick:
        began = time.process_time()
        motion, kept = fourier_motion(found, margins)
        spent = time.process_time() - began
        note = f"searched by SciPy, {spent:.0f} s of processor; limits {'satisfied' if kept else 'VIOLATED'}"
        value = compute_condition(bench, motion)
        ratio = found.condition / value
        rows.append(Figure("  over a Fourier series of five harmonics", data, ratio, "", at_most(1.0),
                           note=f"its condition number: {value:.1f}; {note}"))  # fmt: skip
        rows += _by_peer(data, path, found, margins)
        rows += identification_figures(name, rig, options)
    return rows


def random_motions(found: ExcitingMotion, margins: Margins, count: int) -> float:
    """Least condition number of random motions of the same space of splines, each drawn home until it keeps limits."""
    bench, spline, home = found.robot, found.spline, found.control[0]
    basis = spline.basis(spline.samples(MODEL_RATE))
    generator = np.random.default_rng(1)
    best = np.inf
    for _ in range(count):
        free = generator.uniform(margins.lower, margins.upper, (spline.free, len(home)))
        for _ in range(20):
            control = spline.control(home, home, free)
            motion = bench.motion(basis.times, *basis.curves(control))
            slow = (np.abs(spline.speed_controls(control)) <= margins.speed).all()
            if slow and margins.are_kept(motion).all():
                best = min(best, compute_condition(bench, motion))
                break
            free = home + 0.8 * (free - home)
    return best


def fourier_motion(found: ExcitingMotion, margins: Margins) -> tuple[Motion, bool]:
    """The baseline: q = q0 + sum a_k sin(k w t) - b_k cos(k w t), as long,
    its limits by penalties; and whether they are satisfied."""
    bench = found.robot
    times = np.linspace(0.0, SECONDS, round(SECONDS * MODEL_RATE) + 1)
    angle = 2.0 * np.pi / SECONDS * np.outer(times, np.arange(1, HARMONICS + 1))
    rate = 2.0 * np.pi / SECONDS * np.arange(1, HARMONICS + 1)
    one = np.ones((len(times), 1))
    values = np.hstack([one, np.sin(angle), -np.cos(angle)])
    speeds = np.hstack([0.0 * one, rate * np.cos(angle), rate * np.sin(angle)])
    bends = np.hstack([0.0 * one, -(rate**2) * np.sin(angle), rate**2 * np.cos(angle)])
    count = len(bench.names)

    def motion_of(x: np.ndarray) -> Motion:
        table = x.reshape(values.shape[1], count)
        return bench.motion(times, values @ table, speeds @ table, bends @ table)

    def broken(x: np.ndarray, motion: Motion) -> float:
        table = x.reshape(values.shape[1], count)
        y, dy = values @ table, speeds @ table
        over = [y - margins.upper, margins.lower - y, np.abs(dy) - margins.speed]
        return sum(float(np.maximum(part, 0.0).max()) for part in over) + _worst_violation(margins, motion)

    def cost(x: np.ndarray) -> float:
        motion = motion_of(x)
        rows = bench.regressor(motion)[:, :, bench.independent_columns].reshape(-1, len(bench.independent_columns))
        return compute_criterion(rows, CONDITION)[0] + PENALTY * broken(x, motion)

    generator = np.random.default_rng(1)
    start = np.zeros((values.shape[1], count))
    start[0] = found.control[0]
    start[1:] = 0.1 * generator.standard_normal((values.shape[1] - 1, count))
    while broken(start.ravel(), motion_of(start.ravel())) > 0.0:
        start[1:] *= 0.7
    best = minimize(cost, start.ravel(), method="L-BFGS-B", options={"maxiter": 60, "maxfun": 4000}).x
    for _ in range(30):
        if broken(best, motion_of(best)) <= 0.0:
            return motion_of(best), True
        best = start.ravel() + 0.9 * (best - start.ravel())
    return motion_of(best), False


def _by_peer(data: str, path: Path, found: ExcitingMotion, margins: Margins) -> list[Figure]:
    """Condition number over the best of FIGAROH's own motions, by our regressor and by its own."""
    what = "  over FIGAROH's own optimal motion"
    interpreter = os.environ.get(PEER)
    rows = [Figure(what, data, None, note=f"{PEER} names no interpreter with figaroh and IPOPT"),
            Figure("  the same by FIGAROH's own regressor", data, None),
            Figure("  both searched by FIGAROH's regressor, without clearance", data, None)]  # fmt: skip
    if not interpreter:
        return rows
    bench, own = found.robot, found.sample(MODEL_RATE)
    joints = {link: joint.name for link, joint in zip(bench.rig.links, bench.rig.joints)}
    moving = bench.is_moving
    with tempfile.TemporaryDirectory() as folder:
        request, result = Path(folder) / "request.npz", Path(folder) / "result.npz"
        np.savez(
            request, urdf=str(path), joints=[joints[name] for name in bench.names], lower=margins.lower,
            upper=margins.upper, speed=margins.speed, torque=margins.torque, seconds=SECONDS, rate=MODEL_RATE,
            dense=RATE, waypoints=[WAYPOINTS], seeds=PEER_SEEDS, iterations=ITERATIONS, times=own.times,
            q=own.q[:, 7:][:, moving], v=own.v[:, 6:][:, moving], a=own.a[:, 6:][:, moving],
        )  # fmt: skip
        done = subprocess.run([interpreter, SCRIPT, request, result], capture_output=True, text=True, check=False)
        if done.returncode or not result.exists():
            note = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return [replace(rows[0], note=f"the peer ended with {done.returncode}: {note}"), *rows[1:]]
        peer = dict(np.load(result))
    every = round(RATE / MODEL_RATE)
    kept = np.flatnonzero(peer["ended"])
    if not len(kept):
        return [replace(rows[0], note="FIGAROH found no motion"), *rows[1:]]
    motions = [bench.motion(peer["times"], *(peer[part][k] for part in "qva")) for k in kept]
    thin = [bench.motion(peer["times"][::every], *(peer[part][k][::every] for part in "qva")) for k in kept]
    values = [compute_condition(bench, motion) for motion in thin]
    best = int(np.argmin(values))
    passes = _worst_violation(margins, motions[best])
    note = (
        f"its {', '.join(f'{value:.1f}' for value in values)} from {len(kept)} starts, "
        f"{np.mean(peer['processor'][kept]):.0f} s of processor each; its best passes our limits of torque and "
        f"clearance by {passes:.2g}"
    )
    theirs = float(peer["found"][kept].min())
    return [
        Figure(what, data, found.condition / values[best], "", at_most(1.0), note=note),
        Figure("  the same by FIGAROH's own regressor", data, float(peer["condition"]) / theirs,
               note=f"{float(peer['condition']):.1f} and {theirs:.1f}; its search lowers cond(W) of its choice of base "
               "columns, ours of ours"),
        _on_its_columns(data, found, peer["base"], theirs),
    ]  # fmt: skip


@dataclass(frozen=True)
class OtherColumns(FixedBaseRobot):
    """A fixed-base robot whose motions are to excite other base parameters.

    Attributes:
        chosen: columns of its rows.
    """

    chosen: tuple[int, ...] = ()

    @property
    def independent_columns(self) -> np.ndarray:
        """Those chosen."""
        return np.array(self.chosen)


def on_columns(bench: FixedBaseRobot, base: np.ndarray) -> OtherColumns:
    """A fixed-base robot without drives that is to excite FIGAROH's base columns (K,), ten parameters for each
    joint."""
    links = [bench.rig.index(name) for name in bench.names]
    chosen = tuple(PER_LINK * links[k // PER_LINK] + k % PER_LINK for k in base.tolist())
    return OtherColumns(bench.rig, drives=False, chosen=chosen)


def _worst_violation(margins: Margins, motion: Motion) -> float:
    """Largest torque violation, as a fraction of the limit, or largest violation [m] of the clearance."""
    torque, clearance = margins.torque_and_clearance(motion)
    return max(0.0, -float((torque / margins.torque).min()), -float(clearance.min()))


def _on_its_columns(data: str, found: ExcitingMotion, base: np.ndarray, theirs: float) -> Figure:
    """Both searched for the same number in the same limits, from three starts: of FIGAROH's columns, no clearance."""
    other = on_columns(found.robot, base)
    began = time.process_time()
    options = replace(found.options, pairs=(), surface=NO_TABLE)
    own = [exciting_motion(other, replace(options, seed=seed)).condition for seed in range(len(PEER_SEEDS))]
    spent = (time.process_time() - began) / len(own)
    note = ", ".join(f"{value:.1f}" for value in own)
    what = "  both searched by FIGAROH's regressor, without clearance"
    return Figure(
        what, data, min(own) / theirs, "", at_most(1.0), note=f"ours {note} in {spent:.0f} s of processor each"
    )


def identification_figures(name: str, rig: Rig, options: ExcitingOptions) -> list[Figure]:
    """From the exciting motion, torques at the motors, or the base's wrench: error of the base parameters."""
    generator = np.random.default_rng(2)
    wrong = np.exp(PRIOR_ERROR * generator.standard_normal(len(rig.links)))
    prior_rig = rig.with_prior(InertialParameters(rig.links, rig.prior.values * wrong[:, None]))
    result = []
    for measured in ("torques", "base"):
        bench, truth = FixedBaseRobot(prior_rig, measured), FixedBaseRobot(rig, measured)
        motion = exciting_motion(bench, replace(options, max_iterations=30)).sample(RATE)
        drives = np.tile(DRIVES, len(bench.names)) if truth.drive_columns else np.zeros(0)
        exact = truth.regressor(motion) @ np.concatenate([drives, rig.prior.vector])
        noisy = exact + NOISE * np.abs(exact).max(axis=0) * generator.standard_normal(exact.shape)
        y = motion.q[:, 7:][:, truth.is_moving] + ENCODER * generator.standard_normal((len(motion), len(bench.names)))
        found = identify_fixed_base(bench, [FixedBaseTrial("simulated", motion.times, y, noisy)])
        structure = truth.structure
        true, prior = structure.project(rig.prior), structure.project(prior_rig.prior)
        error = np.linalg.norm(structure.project(found.estimate.parameters) - true) / np.linalg.norm(prior - true)
        result.append(Figure(
            f"error of the base parameters over the prior's, from {measured}", f"simulated, {name}, {SECONDS:g} s",
            float(error), "", at_most(0.2),
            note=f"{100 * NOISE:g} % noise, encoders {ENCODER:g} rad, masses wrong by {100 * PRIOR_ERROR:g} %"
            + ("; friction, rotors and offsets identified too" if truth.drive_columns else ""),
        ))  # fmt: skip
    return result
