"""Simulated bodies in free flight: joints free or driven."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solver.dynamics import integrate, link_motions
from solver.engine import FrameDynamics
from solver.skeleton.rig import ROOT_NV, Rig
from solver.tracking import Attachment
from solver.values.inertials import InertialParameters
from solver.values.motion import Markers, Motion

FINER = 2
"""Steps of the simulation a frame."""
Drive = Callable[[float], np.ndarray]
"""Accelerations (nv - 6,) of the joints at a time [s]."""
Push = Callable[[float, np.ndarray], np.ndarray]
"""Wrench (6,) [N, N m] on the root in its own axes, at a time [s] and a configuration (nq,)."""
States = tuple[np.ndarray, np.ndarray, np.ndarray]
"""q (N, nq), v and a (N, nv)."""


def simulate_flight(
    rig: Rig, truth: InertialParameters, start: tuple[np.ndarray, np.ndarray], times: np.ndarray, drive: Drive | None
) -> Motion:
    """Simulate a body in free flight.

    Args:
        rig: that is thrown.
        truth: its true inertial parameters.
        start: q (nq,) and v (nv,) at the first time.
        times: (N,) [s], evenly spaced.
        drive: of its joints; None lets them swing freely.
    """
    return Motion(times, *simulate_driven(rig, truth, start, times, drive))


def simulate_driven(
    rig: Rig,
    truth: InertialParameters,
    start: tuple[np.ndarray, np.ndarray],
    times: np.ndarray,
    drive: Drive | None,
    push: Push | None = None,
) -> States:
    """States at the times, which may run backwards; see `simulate_flight`, and what pushes the root."""
    dynamics = FrameDynamics(rig.with_prior(truth).model)

    def acceleration(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        (bias,), (_, _, (mass,)), _ = dynamics.inverse_dynamics_derivatives(q[None], v[None], np.zeros((1, rig.nv)))
        if drive is None:
            return np.linalg.solve(mass, -bias)
        own = drive(time)
        acting = -bias[:ROOT_NV] if push is None else push(time, q) - bias[:ROOT_NV]
        base = np.linalg.solve(mass[:ROOT_NV, :ROOT_NV], acting - mass[:ROOT_NV, ROOT_NV:] @ own)
        return np.concatenate([base, own])

    q, v = (np.array(part, float) for part in start)
    step = float(times[1] - times[0]) / FINER
    rows = []
    for frame, time in enumerate(times):
        rows.append((q, v, acceleration(float(time), q, v)))
        for part in range(FINER if frame + 1 < len(times) else 0):
            q, v = _step(rig, acceleration, float(time) + part * step, step, q, v)
    q_all, v_all, a_all = (np.array(part) for part in zip(*rows, strict=True))
    return q_all, v_all, a_all


def simulate_recording(
    rig: Rig, motion: Motion, spread: float, noise: float, generator: np.random.Generator
) -> tuple[tuple[Attachment, ...], Markers]:
    """Four markers on every link, at the corners of a tetrahedron about the middle of its box, and their recording.

    Args:
        rig: that moved.
        motion: how.
        spread: [m] of the markers about the middle.
        noise: [m] standard deviation of a coordinate of a marker.
        generator: of the noise.
    """
    corners = spread * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]) / np.sqrt(3)
    attached = tuple(
        Attachment(f"{link} {corner}", link, rig.boxes[row].mean(axis=0) + place)
        for row, link in enumerate(rig.links)
        for corner, place in enumerate(corners)
    )
    poses = link_motions(rig, motion)
    on = [rig.index(each.link) for each in attached]
    places = np.array([each.position for each in attached])
    # axes r of the world, axes c of the link, markers m, frames n
    turned = np.einsum("rcmn,mc->nmr", poses.rotation[:, :, on], places)
    positions = turned + poses.position[:, on].transpose(2, 1, 0)
    positions += noise * generator.standard_normal(positions.shape)
    return attached, Markers(motion.times, tuple(a.marker for a in attached), positions)


def _step(
    rig: Rig, acceleration: Callable[..., np.ndarray], time: float, step: float, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step of Runge and Kutta on the manifold; commutators, of the order of the step's cube, are left out."""
    half = 0.5 * step
    a1 = acceleration(time, q, v)
    v2 = v + half * a1
    a2 = acceleration(time + half, integrate(rig, q, half * v), v2)
    v3 = v + half * a2
    a3 = acceleration(time + half, integrate(rig, q, half * v2), v3)
    v4 = v + step * a3
    a4 = acceleration(time + step, integrate(rig, q, step * v3), v4)
    mean = (v + 2.0 * v2 + 2.0 * v3 + v4) / 6.0
    return integrate(rig, q, step * mean), v + step * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0
