"""Identification of other bodies from a dance and from random motion, by files like a user's; simulated.

The criterion predicts deviations from the plate's noise at its full rate. Here the whole pipeline runs: files of joint
angles and of a plate, the default filters, the consistent fit. The baseline is `random_postures` of the same length.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.dance.workflows.export import write_motion_table
from solver.demo.truth import perturb_inertials
from solver.dynamics import ground_wrench
from solver.formats.csv_tables import write_wrenches_csv
from solver.identification.base_parameters import BaseParameters, base_parameters
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.options.study import Settings
from solver.rigs import hoap3
from solver.skeleton.rig import Rig
from solver.study.recordings import load
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from solver.workflow.pipeline import identify

from .dance_accuracy import PLATE
from .figure import Figure, at_most
from .plain_motions import random_postures

RATE = 100.0
"""[1/s] of the files."""
BODIES, EACH = 5, 3
"""How many other bodies, and postures in each foot configuration."""
ACCURATE = 0.1
"""Relative error below which a base parameter counts as identified."""
TINY = 1e-12
QUICK = Settings(no_cross_validation=True)


def figures(seed: int = 0) -> list[Figure]:
    """Errors of HOAP-3's base parameters over the prior's, by a dance and over those by random motion."""
    rig = hoap3("middle", torque="peak")
    options = DanceOptions(postures=dict.fromkeys(FOOT_CONFIGURATIONS, EACH), workers=1, seed=seed)
    dance = design_dance(rig, options)
    baseline = random_postures(rig, options, dance.duration, seed, options.min_duration)
    structure = base_parameters(rig)
    (ours, identified), (theirs, least) = (_errors(rig, structure, one) for one in (dance, baseline))
    data = f"simulated, HOAP-3, {BODIES} other bodies, seed {seed}"
    note = (
        f"{dance.duration:.0f} s of dance, {baseline.duration:.0f} s of random motion, {RATE:g} Hz, plate 0.2 N, "
        f"0.02 N m "
        f"a sample; over the prior's, by body: {_format_values(ours)}, random {_format_values(theirs)}; of "
        f"{len(structure)} base "
        f"parameters within {100 * ACCURATE:g} %: {identified:.0f}, random {least:.0f}"
    )
    return [
        Figure("identified from files: errors of base parameters over the prior's", data, _mean(ours), "",
               at_most(1.0), note=note),
        Figure("  over those by random motion", data, _mean(ours) / _mean(theirs), "", at_most(1.0)),
    ]  # fmt: skip


def _errors(rig: Rig, structure: BaseParameters, dance: Dance) -> tuple[np.ndarray, float]:
    """Geometric mean over the base parameters of errors over the prior's, by body (K,), and how many are identified."""
    motion, ratios, identified = dance.sample(rig, RATE), [], []
    for seed in range(1, BODIES + 1):
        truth = perturb_inertials(rig, seed)
        true = structure.project(truth)
        found, prior = (np.abs(structure.project(one) - true) for one in _identify(rig, motion, truth, seed))
        known = prior > TINY
        ratios.append(np.exp(np.mean(np.log(np.maximum(found[known], TINY) / prior[known]))))
        identified.append(float((found < ACCURATE * np.abs(true)).sum()))
    return np.array(ratios), float(np.mean(identified))


def _identify(
    rig: Rig, motion: Motion, truth: InertialParameters, seed: int
) -> tuple[InertialParameters, InertialParameters]:
    """Identified and prior parameters, from files of a motion of a body with other inertials."""
    wrench = ground_wrench(rig, motion, truth)
    wrench += PLATE * np.random.default_rng(seed).standard_normal(wrench.shape)
    with tempfile.TemporaryDirectory() as folder:
        angles, forces = (Path(folder) / name for name in ("dance.mot", "dance_wrenches.csv"))
        write_motion_table(rig, motion, angles)
        write_wrenches_csv(forces, Wrenches(motion.times, ("plate",), wrench[:, None]))
        study = identify(load([angles, forces]), rig=rig, settings=QUICK)
    return study.identification.parameters, study.identification.prior


def _mean(values: np.ndarray) -> float:
    return float(np.exp(np.log(values).mean()))


def _format_values(values: np.ndarray) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
