"""The dancer's joint controller: gains of one bandwidth, and what it follows at every step of the simulation."""

from __future__ import annotations

import numpy as np

from solver.dynamics.mechanics import chain
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import ROOT_NV, Rig

from .mjcf import Layout
from .performance import Plan, PlayOptions

POSTURES = 24
"""Frames of a motion at which the inertia moved by each joint is looked at."""
YIELD = 0.1
"""[rad] Error at which a joint uses its whole torque, if its bandwidth does not ask for more stiffness."""


def gains(rig: Rig, motion: Motion, options: PlayOptions) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness [N m/rad] and damping (nv - 6,) of one bandwidth, from the most inertia each joint coordinate moves.

    A joint between root and sole moves what is not beyond it, since the sole stands; any other what is beyond it. No
    joint is softer than its motor's strength allows for: a drive sized for a torque has the rotor to go with it.

    Args:
        rig: with torque limits or without.
        motion: whose postures are looked at.
        options: bandwidth and damping.
    """
    frames = np.linspace(0, len(motion) - 1, POSTURES).astype(int)
    moved = np.max([_moved_inertia(rig, q) for q in motion.q[frames]], axis=0)
    omega = 2.0 * np.pi * options.bandwidth
    limit = np.where(np.isfinite(rig.limits.torque), rig.limits.torque, 0.0)
    stiffness = np.maximum(omega**2 * moved, limit / YIELD)
    return stiffness, 2.0 * options.damping / omega * stiffness


def _moved_inertia(rig: Rig, q: np.ndarray) -> np.ndarray:
    """(nv - 6,) [kg m^2] at a posture (nq,)."""
    model, data = rig.model, rig.model.createData()
    jacobian = pin.computeJointJacobians(model, data, q)
    bodies = [data.oMi[joint].act(model.inertias[joint]) for joint in range(1, model.njoints)]
    chains = np.array([chain(rig, link) for link in rig.links])  # (L, nv): coordinates that move each link
    standing = np.any([chain(rig, patch.link) for patch in rig.contacts], axis=0)
    moved = np.empty(model.nv)
    for column in range(model.nv):
        beyond = chains[:, column]
        twist = pin.Motion(jacobian[:, column].copy())
        energies = np.array([body.vtiv(twist) for body in bodies])
        moved[column] = max(energies[beyond].sum(), energies[~beyond].sum() if standing[column] else 0.0)
    return moved[ROOT_NV:]


class References:
    """The plan at every step of the simulation, in MuJoCo's order."""

    def __init__(self, layout: Layout, intended: Plan, options: PlayOptions, joints: np.ndarray) -> None:
        times = intended.motion.times
        self.start, self.ground = float(times[0]), intended.schedule.ground
        now = self.start + np.arange(round((times[-1] - self.start) / options.timestep) + 1) * options.timestep
        place = np.clip(np.searchsorted(times, now, side="right") - 1, 0, len(times) - 2)
        share = ((now - times[place]) / (times[place + 1] - times[place])).clip(0.0, 1.0)[:, None]

        def between(values: np.ndarray) -> np.ndarray:
            return (1.0 - share) * values[place] + share * values[place + 1]

        # quaternions between close frames: straight and normalised, once neighbours have the same sign
        self.q = between(_same_sign(layout, layout.qpos(intended.motion.q)))
        for first in _quaternions(layout):
            self.q[:, first : first + 4] /= np.linalg.norm(self.q[:, first : first + 4], axis=1, keepdims=True)
        self.v = between(intended.motion.v[:, layout.v[ROOT_NV:]])
        self.a = between(intended.motion.a[:, layout.v[ROOT_NV:]])
        self.torque = between(intended.torques[:, joints])


def _quaternions(layout: Layout) -> list[int]:
    """First place in MuJoCo's positions of every quaternion: where four places run w, x, y, z."""
    order = layout.q
    return [k for k in range(len(order) - 3) if (np.diff(order[k : k + 4]) == [-3, 1, 1]).all()]


def _same_sign(layout: Layout, qpos: np.ndarray) -> np.ndarray:
    qpos = qpos.copy()
    for first in _quaternions(layout):
        four = qpos[:, first : first + 4]
        turned = np.einsum("ni,ni->n", four[1:], four[:-1]) < 0.0
        four[1:] *= np.where(np.cumsum(turned) % 2, -1.0, 1.0)[:, None]
    return qpos


def turns(current: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rotation vectors (K, 3), current axes, from quaternions wxyz (K, 4) to others; shortest way."""
    w, u = current[:, :1], current[:, 1:]
    scalar = np.einsum("ki,ki->k", current, wanted)
    vector = w * wanted[:, 1:] - wanted[:, :1] * u - _cross(u, wanted[:, 1:])
    vector = np.where(scalar[:, None] < 0.0, -vector, vector)
    sine = np.sqrt(np.einsum("ki,ki->k", vector, vector))
    angle = 2.0 * np.arctan2(sine, np.abs(scalar))
    return vector * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)[:, None]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """np.cross of (K, 3), a quarter of its time."""
    return a[:, (1, 2, 0)] * b[:, (2, 0, 1)] - a[:, (2, 0, 1)] * b[:, (1, 2, 0)]
