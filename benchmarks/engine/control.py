"""The dancer's joint controller: gains of one bandwidth, and its references at every step of the simulation."""

from __future__ import annotations

import numpy as np

from solver.dynamics.mechanics import moving_coordinates
from solver.dynamics.workspace import Workspace
from solver.skeleton.rig import ROOT_NV, Rig

from .mjcf import Layout
from .performance import Plan, PlayOptions

POSTURES = 24
"""Frames of a motion at which the inertia moved by each joint is looked at."""
YIELD = 0.1
"""[rad] Error at which a joint uses its whole torque, if its bandwidth does not ask for more stiffness."""


def stiffnesses(rig: Rig, intended: Plan, options: PlayOptions) -> np.ndarray:
    """Stiffness (N, nv - 6) [N m/rad] of one bandwidth, from the most inertia each joint coordinate moves.

    A joint moves what is beyond it; between root and sole it also moves what is not, by the share of the weight that
    the sole is planned to carry: the ankle of a foot in the air would otherwise be as stiff as if it carried the body,
    by more than its motor can do in any step. No joint is softer than its motor's strength allows for: a drive
    sized for a torque has the rotor to go with it.

    Args:
        rig: with torque limits or without.
        intended: the plan, whose postures are looked at.
        options: bandwidth.
    """
    frames = np.linspace(0, len(intended.motion) - 1, POSTURES).astype(int)
    beyond, rest = np.max([_moved_inertia(rig, q) for q in intended.motion.q[frames]], axis=0)
    carried = (intended.wrenches[:, :, 2] / rig.weight).clip(0.0, 1.0)  # (N, F)
    above = np.array([moving_coordinates(rig, patch.link)[ROOT_NV:] for patch in rig.contacts])  # (F, nv - 6)
    moved = np.maximum(beyond, (carried[:, :, None] * above).max(axis=1) * rest)
    limit = np.where(np.isfinite(rig.limits.torque), rig.limits.torque, 0.0)
    return np.maximum((2.0 * np.pi * options.bandwidth) ** 2 * moved, limit / YIELD)


def _moved_inertia(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(nv - 6,) [kg m^2] beyond each joint coordinate, and of all the rest, at a posture (nq,)."""
    workspace = Workspace(rig)
    workspace.update_kinematics(q)
    prior, massive = rig.prior, np.flatnonzero(rig.masses > 0.0)  # axes of compound joints have neither mass nor centre
    turns = workspace.rotations[massive]
    linear, angular = workspace.jacobian.T[:, :3], workspace.jacobian.T[:, 3:]  # (nv, 3) at the world's origin
    centres = (turns @ prior.coms[massive, :, None])[:, :, 0] + workspace.positions[massive]
    inertias = turns @ prior.inertias_at_com[massive] @ turns.transpose(0, 2, 1)
    speeds = linear[:, None] + np.cross(angular[:, None], centres)  # (nv, L, 3) of every link, as if it moved with all
    energies = prior.masses[massive] * (speeds * speeds).sum(axis=2)
    energies += np.einsum("ci,lij,cj->cl", angular, inertias, angular)
    chains = np.array([moving_coordinates(rig, link) for link in np.array(rig.links)[massive]])  # (L, nv): that move it
    beyond = np.where(chains.T, energies, 0.0).sum(axis=1)
    return beyond[ROOT_NV:], (energies.sum(axis=1) - beyond)[ROOT_NV:]


class References:
    """The plan at every step of the simulation, in MuJoCo's order."""

    def __init__(self, rig: Rig, layout: Layout, intended: Plan, options: PlayOptions, joints: np.ndarray) -> None:
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
        self.stiffness = between(stiffnesses(rig, intended, options)[:, joints])


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


def rotation_vectors(current: np.ndarray, wanted: np.ndarray) -> np.ndarray:
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
