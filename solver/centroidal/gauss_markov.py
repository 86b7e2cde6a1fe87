"""Posterior mean of the states of a Gauss-Markov process that is observed through linear equations with known noise.

The normal equations couple neighbouring samples only: with n states per sample they form a band of 2 n - 1 below the
diagonal, which Cholesky's method solves in time and memory linear in the number of samples. Unknowns that are common to
all samples (a gain, modes of the inertials) border the band and are eliminated by their Schur complement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, cho_solve_banded, cholesky_banded, expm


@dataclass(frozen=True, slots=True)
class Process:
    """A scalar signal as a sampled linear stochastic differential equation x' = A x + w; the first state is the signal.

    Attributes:
        transition: (n, n) over one step.
        information: (n, n) inverse covariance of w over one step.
        initial_information: (n, n) inverse covariance of the first sample's states; zero where nothing is known.
    """

    transition: np.ndarray
    information: np.ndarray
    initial_information: np.ndarray

    @staticmethod
    def from_drift(drift: np.ndarray, density: float, step: float, stationary_states: int) -> Process:
        """From dx/dt = drift x + noise of a spectral density on the last state (Van Loan's method).

        States are scaled by powers of the step; otherwise the covariance over a short step could not be inverted: state
        k is in units of step^-k.

        Args:
            drift: (n, n) [1/s].
            density: of the noise.
            step: [s].
            stationary_states: number of last states whose initial distribution is stationary; the others are initially
                unknown.
        """
        size = len(drift)
        scale = np.diag(step ** np.arange(size))
        drift = scale @ drift @ np.diag(step ** -np.arange(size, dtype=float))
        noise = np.zeros((size, size))
        noise[-1, -1] = density * scale[-1, -1] ** 2
        exponential = expm(step * np.block([[-drift, noise], [np.zeros((size, size)), drift.T]]))
        transition = exponential[size:, size:].T
        covariance = transition @ exponential[:size, size:]
        covariance = 0.5 * (covariance + covariance.T)
        start = np.zeros((size, size))
        if stationary_states:
            last_states = slice(size - stationary_states, size)
            own_transition, added = transition[last_states, last_states], covariance[last_states, last_states]
            stationary = np.linalg.solve(
                np.eye(stationary_states**2) - np.kron(own_transition, own_transition), added.reshape(-1)
            )
            start[last_states, last_states] = np.linalg.inv(stationary.reshape(stationary_states, stationary_states))
        return Process(transition, np.linalg.inv(covariance), start)


def matern(std: float, cutoff: float, step: float, integrals: int = 0) -> Process:
    """A Matérn process of spectrum 1 / (1 + (f / cutoff)^2)^2, once differentiable, and its integrals.

    States: the integral of highest order, ..., the process, its rate; state k in units of step^-k.

    Args:
        std: of the process.
        cutoff: [Hz].
        step: [s].
        integrals: number of integrals.
    """
    rate = 2.0 * np.pi * cutoff
    size = integrals + 2
    drift = np.diag(np.ones(size - 1), 1)
    drift[-1, -2:] = -(rate**2), -2.0 * rate
    return Process.from_drift(drift, 4.0 * rate**3 * std**2, step, 2)


def ornstein_uhlenbeck(std: float, cutoff: float, step: float) -> Process:
    """An Ornstein-Uhlenbeck process of spectrum 1 / (1 + (f / cutoff)^2), with one state."""
    rate = 2.0 * np.pi * cutoff
    return Process.from_drift(np.array([[-rate]]), 2.0 * rate * std**2, step, 1)


@dataclass(frozen=True, slots=True)
class Observations:
    """Linear equations of each sample, H x + M theta = y, with independent noise.

    Attributes:
        states: (N, r, n) H.
        common: (N, r, k) M.
        values: (N, r) y.
        weights: (N, r) inverse variances, zero where nothing was measured.
        noise_scale: (N, n) factor on the standard deviation of the process noise that leads to each sample; None for 1.
    """

    states: np.ndarray
    common: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    noise_scale: np.ndarray | None = None


def posterior_mean(
    processes: list[Process], observations: Observations, common_std: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean of the states (N, n) and of the common unknowns (k,).

    Args:
        processes: independent signals, whose states are concatenated.
        observations: of each sample.
        common_std: (k,) prior standard deviations of the common unknowns.
    """
    transition = block_diag(*(p.transition for p in processes))
    information = block_diag(*(p.information for p in processes))
    start = block_diag(*(p.initial_information for p in processes))
    count, _, size = observations.states.shape
    # samples n, rows r, states i and j, common unknowns k
    weighted = observations.states * observations.weights[:, :, None]
    blocks = np.empty((count, 2 * size, size))
    blocks[:, :size] = weighted.swapaxes(1, 2) @ observations.states
    inverse_scale = (
        np.ones((count - 1, size)) if observations.noise_scale is None else 1.0 / observations.noise_scale[1:]
    )
    process_information = inverse_scale[:, :, None] * information * inverse_scale[:, None]
    blocks[0, :size] += start
    blocks[1:, :size] += process_information
    blocks[:-1, size:] = -process_information @ transition
    blocks[:-1, :size] -= transition.T @ blocks[:-1, size:]
    blocks[-1, size:] = 0.0
    band = np.zeros((2 * size, count, size))
    for column in range(size):
        band[: 2 * size - column, :, column] = blocks[:, column:, column].T
    factor = cholesky_banded(band.reshape(2 * size, -1), lower=True, overwrite_ab=True)
    right_side = (weighted.swapaxes(1, 2) @ observations.values[:, :, None])[:, :, 0].reshape(-1)
    border = (weighted.swapaxes(1, 2) @ observations.common).reshape(count * size, -1)
    solved = cho_solve_banded((factor, True), np.column_stack([right_side, border]))
    if not len(common_std):
        return solved[:, 0].reshape(count, size), np.zeros(0)
    square = np.einsum("nrk,nr,nrj->kj", observations.common, observations.weights, observations.common) + np.diag(
        common_std**-2.0
    )
    right = np.einsum("nrk,nr,nr->k", observations.common, observations.weights, observations.values)
    found = cho_solve(cho_factor(square - border.T @ solved[:, 1:]), right - border.T @ solved[:, 0])
    return (solved[:, 0] - solved[:, 1:] @ found).reshape(count, size), found
