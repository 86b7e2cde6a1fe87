"""A small body with bounding boxes and mirrored limbs, true parameters that differ from its prior, and simulated
trials."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from solver.dynamics import Axes
from solver.identification.accumulate import accumulate_regression
from solver.identification.blocks import BlockOptions
from solver.identification.body_coordinates import BodyCoordinates
from solver.identification.consistent import ConsistentOptions
from solver.identification.equations import equations, wrench_spectrum
from solver.identification.error_model.frequency_weights import FrequencyWeights
from solver.identification.error_model.weight_estimation import choose_cutoffs
from solver.identification.estimate import Estimate
from solver.identification.posterior import Posterior, posterior
from solver.identification.regression import Regression
from solver.qp import triangle_of
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.joints import Limits
from tests.random_motion import UNIT, joint, measured, random_motion

WEIGHTS = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])


def weights_of(trial: Trial, coefficients: np.ndarray, cutoffs: np.ndarray | None = None) -> FrequencyWeights:
    """Frequency weights with coefficients (R, 6, C + D) for a trial of `small_rig`, and those like it."""
    cutoffs = choose_cutoffs([trial]) if cutoffs is None else cutoffs
    spectrum = wrench_spectrum(small_rig(), trial, cutoffs)
    return FrequencyWeights(cutoffs, spectrum[None], coefficients[None], 1.0)


@lru_cache(maxsize=1)
def small_rig() -> Rig:
    """Trunk, head and two mirrored arms of two links: spherical and revolute joints, boxes of uniform mass."""
    joints = (
        joint("free", -1, "trunk"),
        joint("revolute", 0, "head", axes=UNIT[2:], position=np.array([0.0, 0.0, 0.5])),
        joint("spherical", 0, "left_arm", position=np.array([0.0, 0.2, 0.4])),
        joint("revolute", 2, "left_hand", axes=UNIT[1:2], position=np.array([0.0, 0.0, -0.3])),
        joint("spherical", 0, "right_arm", position=np.array([0.0, -0.2, 0.4])),
        joint("revolute", 4, "right_hand", axes=UNIT[1:2], position=np.array([0.0, 0.0, -0.3])),
    )
    links = tuple(own.name for own in joints)
    masses = np.array([20.0, 4.0, 3.0, 1.0, 3.0, 1.0])
    halves = np.array([[0.1, 0.15, 0.25], [0.08, 0.08, 0.12]] + [[0.05, 0.05, 0.15], [0.03, 0.04, 0.08]] * 2)
    centres = np.array([[0, 0, 0.25], [0, 0, 0.12]] + [[0, 0, -0.15], [0, 0, -0.08]] * 2)
    squares = halves**2
    diagonals = masses[:, None] / 3.0 * (squares.sum(axis=1, keepdims=True) - squares)
    prior = InertialParameters.from_com(links, masses, centres, np.array([np.diag(d) for d in diagonals]))
    boxes = np.stack([centres - halves, centres + halves], axis=1)
    pairs = (("left_arm", "right_arm"), ("left_hand", "right_hand"))
    count = sum(own.nv for own in joints) - 6
    tips = np.zeros((len(links), 3))
    return Rig("small", links, joints, prior, Limits.none(count), boxes, tips, pairs=pairs)


def other_body(rig: Rig, seed: int = 0, spread: float = 0.06) -> InertialParameters:
    """A physical body near the rig's prior, of the same total mass."""
    generator = np.random.default_rng(seed)
    coordinates = BodyCoordinates.from_reference(rig.prior)
    changes = np.eye(4) + spread * generator.standard_normal((len(rig.links), 4, 4))
    x = np.concatenate([triangle_of(change @ change.T - np.eye(4)) for change in changes])
    return coordinates.parameters(x).scaled(rig.prior.total_mass)


def trial_of(
    rig: Rig, truth: InertialParameters, *, frames: int = 120, noise: float = 0.0, seed: int = 0, name: str = "a"
) -> Trial:
    """A simulated trial of the body ``truth`` in random states."""
    motion = random_motion(rig, frames, seed)
    wrenches = measured(replace(rig, prior=truth), motion, noise=noise, seed=seed + 1)
    return Trial(name, motion, wrenches, np.ones(frames, bool))


def regression_of(rig: Rig, truth: InertialParameters, **choices: float) -> Regression:
    """The regression of one simulated trial."""
    frames, seed = int(choices.get("frames", 120)), int(choices.get("seed", 0))
    trial = trial_of(rig, truth, frames=frames, noise=choices.get("noise", 0.0), seed=seed)
    return accumulate_regression(rig, [trial], blocks=BlockOptions(seconds=0.1)).with_weights(WEIGHTS)


def residuals(
    rig: Rig, trial: Trial, parameters: InertialParameters, base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """f - Y phi (N, 6); NaN in frames that are not counted or not measured."""
    phi = parameters.values.T.reshape(-1)
    result = np.full((len(trial.motion), 6), np.nan)
    for here in equations(rig, trial, base, axes):
        residual = here.wrench - np.array([phi[: len(row)] @ row for row in here.rows])
        result[here.frames] = np.where(here.used, residual, np.nan).T
    return result


def entropic_divergence(parameters: InertialParameters, reference: InertialParameters) -> np.ndarray:
    """Entropic divergence of each link from its reference (L,): tr(P_ref^-1 P) - log det(P_ref^-1 P) - 4.

    It is zero at the reference, infinite at the boundary of physical consistency, and the same in every link frame.
    """
    roots = np.linalg.cholesky(reference.pseudo_inertias)
    result = np.empty(len(parameters.links))
    for k, (root, pseudo) in enumerate(zip(roots, parameters.pseudo_inertias)):
        inner = solve_triangular(root, solve_triangular(root, pseudo, lower=True).T, lower=True)
        sign, logarithm = np.linalg.slogdet(inner)
        solid = sign > 0 and np.linalg.eigvalsh(inner)[0] > 0.0
        result[k] = np.trace(inner) - logarithm - 4 if solid else np.inf
    return result


def posterior_of(regression: Regression, estimate: Estimate, rig: Rig, options: ConsistentOptions) -> Posterior:
    """The posterior around an estimate of the consistent method."""
    noise = estimate.settings["noise variance"] * estimate.settings["data inflation"]
    equations = regression.equations_with_errors
    return posterior(equations, noise, estimate.parameters, estimate.prior, rig, options)
