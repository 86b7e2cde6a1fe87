"""Motions that excite a whole body and keep it over its feet: random sinusoids in every joint, weight shifts, kicks.

The upper body and the root's attitude follow sums of sinusoids; feet follow the ground or, while the weight rests on
the other foot, a kick of their own. The legs and the root's place are then solved for so that the feet are where they
should be and the centre of mass is over the foot or feet that carry it. So the motion could be performed: a second
pass moves the centre of mass so that the centre of pressure, which inertia drives away from under it, stays in the
soles (`pressure_margin` is the distance by which it leaves them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.linalg import solve_banded

from solver.base.so3 import exp, log, to_matrix
from solver.demo.motions import MotionAmplitudes
from solver.dynamics import com_trajectory, predicted_wrench
from solver.dynamics.workspace import Workspace, difference, integrate, link_poses
from solver.engine import FrameDynamics
from solver.signals import smooth_motion
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.inertials import GRAVITY, InertialParameters
from solver.values.motion import Motion

STEPS = 3
"""Newton steps a frame; each frame starts from its predecessor."""
SINUSOIDS = 3
SHIFT_SECONDS = 0.9
"""[s] in which the weight moves from one foot to the other."""
SPARE = 0.1
"""Share of the way back to the start posture that redundant freedom moves each step."""
DAMPING = 1e-6
BALANCE_PASSES = 1


@dataclass(frozen=True, slots=True)
class Phase:
    """An interval of a motion: which feet carry the body.

    Attributes:
        seconds: its length.
        lifted: the foot in the air, or None with both on the ground.
    """

    seconds: float
    lifted: str | None = None


@dataclass(frozen=True, slots=True)
class Excitation:
    """How a body is excited.

    Attributes:
        style: amplitudes of root and joints, as in `solver.demo.motions`.
        feet: links that stand, right then left.
        legs: links whose joints are solved for.
        phases: which feet are planted when.
        frequencies: [Hz] range of the sinusoids.
        kick: (6,) amplitudes of a lifted foot, world axes: position [m], rotation vector [rad].
        hang: (6,) where a lifted foot is on average against its stand, world axes: position [m], rotation vector [rad].
        sway: [m] how far the centre of mass is moved about its support on purpose.
    """

    style: MotionAmplitudes
    feet: tuple[str, str]
    legs: tuple[str, ...]
    phases: tuple[Phase, ...]
    frequencies: tuple[float, float] = (0.15, 0.9)
    kick: tuple[float, ...] = (0.12, 0.05, 0.04, 0.25, 0.25, 0.25)
    hang: tuple[float, ...] = (0.1, 0.0, 0.22, 0.0, 0.65, 0.0)
    sway: float = 0.015


def exciting(
    rig: Rig,
    start: np.ndarray,
    excitation: Excitation,
    rate: float,
    seed: int,
    joint_seeds: Mapping[int, int] = MappingProxyType({}),
) -> Motion:
    """A random exciting motion.

    Args:
        rig: that moves; its prior says where its centre of mass is.
        start: (nq,) posture it starts from, both feet on the ground.
        excitation: how.
        rate: frames per second.
        seed: of frequencies and phases.
        joint_seeds: by the index of a velocity, the seed from which its coordinate is taken instead.
    """
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, sum(phase.seconds for phase in excitation.phases), 1.0 / rate)
    ease = _step(times, 0.0) * (1.0 - _step(times, times[-1] - SHIFT_SECONDS))
    tangent = _tangents(rig, excitation, generator, times, ease)
    for other in sorted(set(joint_seeds.values()) - {seed}):
        columns = [column for column, chosen in joint_seeds.items() if chosen == other]
        tangent[:, columns] = _tangents(rig, excitation, np.random.default_rng(other), times, ease)[:, columns]
    rotations, origins = link_poses(rig, start)
    feet = [rig.index(foot) for foot in excitation.feet]
    in_air = [_in_air(excitation.phases, foot, times) for foot in excitation.feet]
    kicks = [air[:, None] * _kick(excitation, generator, times) for air in in_air]
    soles = [_sole(rig, foot, rotations[foot], origins[foot]) for foot in feet]
    # a foot in the air carries nothing: the weight goes over to the other one before it is lifted
    carried = [_load_share(excitation.phases, foot, times) for foot in excitation.feet]
    centre = sum(share[:, None] * sole for share, sole in zip(carried, soles))
    centre = centre + excitation.sway * ease[:, None] * _sinusoids(generator, times, 2, excitation.frequencies)
    wanted = [_posture(rig, start, row) for row in tangent]
    targets = [(exp(kick[:, 3:]) @ rotations[foot], origins[foot] + kick[:, :3]) for kick, foot in zip(kicks, feet)]
    legs = _Legs(rig, excitation)
    motion = legs.follow(times, wanted, start, targets, centre)
    for _ in range(BALANCE_PASSES):
        motion = legs.follow(times, wanted, start, targets, _balance(rig, motion, centre))
    return motion


def compute_pressure(rig: Rig, motion: Motion, parameters: InertialParameters) -> np.ndarray:
    """Centre of pressure (N, 2) [m] on the ground, world, that a motion of these inertials needs."""
    wrench = predicted_wrench(rig, motion, parameters, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return np.column_stack([-wrench[:, 4], wrench[:, 3]]) / wrench[:, 2:3]


def _balance(rig: Rig, motion: Motion, centre: np.ndarray) -> np.ndarray:
    """Where the centre of mass must be (N, 2) so that the centre of pressure is at ``centre``.

    p = c - (h / g) c'' + e with the height h of the centre of mass; e, from the angular momentum and the vertical
    acceleration, is taken from the motion as it is, and the equation solved for c.
    """
    com = com_trajectory(rig, motion, rig.prior)
    factor = float(com[:, 2].mean() / GRAVITY) * motion.rate**2
    bend = np.zeros_like(com[:, :2])
    bend[1:-1] = com[2:, :2] - 2.0 * com[1:-1, :2] + com[:-2, :2]
    rest = compute_pressure(rig, motion, rig.prior) - (com[:, :2] - factor * bend)
    bands = np.zeros((3, len(com)))
    bands[0, 2:], bands[1], bands[2, :-2] = -factor, 1.0 + 2.0 * factor, -factor
    bands[1, 0] = bands[1, -1] = 1.0
    return solve_banded((1, 1), bands, centre - rest)


def pressure_margin(rig: Rig, motion: Motion, truth: InertialParameters, feet: Sequence[str]) -> float:
    """[m] farthest that the centre of pressure leaves the rectangle around the two feet's joints; negative: inside."""
    pressure = compute_pressure(rig, motion, truth)
    rotations, origins = link_poses(rig, motion.q[0])
    owners = ((patch.vertices, rig.index(patch.link)) for patch in rig.contacts if patch.link in feet)
    corners = np.vstack([(vertices @ rotations[link].T + origins[link])[:, :2] for vertices, link in owners])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return float(np.maximum(low - pressure, pressure - high).max())


Targets = Sequence[tuple[np.ndarray, np.ndarray]]
"""Axes (N, 3, 3) and origins (N, 3) [m] that each foot should have, world."""


class _Legs:
    """Newton's method for legs and the root's horizontal place."""

    def __init__(self, rig: Rig, excitation: Excitation) -> None:
        self.rig, self.workspace, self.dynamics = rig, Workspace(rig), FrameDynamics(rig.model)
        self.feet = [rig.index(foot) for foot in excitation.feet]
        legs = [rig.index(leg) for leg in excitation.legs]
        self.columns = np.concatenate([[0, 1], *(np.r_[rig.v_slices[leg]] for leg in legs)]).astype(int)
        self.places = np.concatenate([[0, 1], *(np.r_[rig.q_slices[leg]] for leg in legs)]).astype(int)
        moves = np.repeat(rig.descendants, [joint.nv for joint in rig.joints], axis=0).T  # (L, nv)
        self.moves = moves[self.feet].astype(float)

    def follow(
        self,
        times: np.ndarray,
        wanted: Sequence[np.ndarray],
        start: np.ndarray,
        targets: Targets,
        centre: np.ndarray,
    ) -> Motion:
        """The wanted postures with legs and root moved so that feet and centre of mass are where they should be."""
        q, result = np.array(start), np.empty((len(times), self.rig.nq))
        for frame, posture in enumerate(wanted):
            goals = [(rotations[frame], origins[frame]) for rotations, origins in targets]
            q = result[frame] = self.solve(posture, q, start, goals, centre[frame])
        return smooth_motion(self.rig, times, result, None)

    def solve(
        self, wanted: np.ndarray, before: np.ndarray, start: np.ndarray, goals: Targets, centre: np.ndarray
    ) -> np.ndarray:
        q = np.array(wanted)
        q[self.places] = before[self.places]
        for _ in range(STEPS):
            jacobian, gap = self.linearise(q, goals, centre)
            # the root's tangent is in its own axes; its place is moved along the world's
            turn = to_matrix(q[3:7])
            jacobian[:, :3] = jacobian[:, :3] @ turn.T
            J = jacobian[:, self.columns]
            inverse = J.T @ np.linalg.inv(J @ J.T + DAMPING * np.eye(len(J)))
            spare = SPARE * difference(self.rig, q, start)[self.columns]
            spare[:2] = 0.0
            step = inverse @ gap + spare - inverse @ (J @ spare)
            full = np.zeros(self.rig.nv)
            full[self.columns] = step
            full[:3] = turn.T @ full[:3]
            q = integrate(self.rig, q, full)
        return q

    def linearise(self, q: np.ndarray, goals: Targets, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian (14, nv) of both feet's poses and of the centre of mass, and what is missing to the goals (14,)."""
        workspace = self.workspace
        workspace.update_kinematics(q)
        com, com_jacobian = self.dynamics.centre_of_mass_jacobians(q[None])
        rows, gap = [], []
        for foot, moves, (rotation, origin) in zip(self.feet, self.moves, goals):
            place, linear, angular = workspace.positions[foot], workspace.jacobian[:3], workspace.jacobian[3:]
            rows += [(linear + np.cross(angular.T, place).T) * moves, angular * moves]
            gap += [origin - place, log(rotation @ workspace.rotations[foot].T)]
        return np.vstack([*rows, com_jacobian[0, :2]]), np.concatenate([*gap, centre - com[0, :2]])


def _tangents(
    rig: Rig, excitation: Excitation, generator: np.random.Generator, times: np.ndarray, ease: np.ndarray
) -> np.ndarray:
    style = excitation.style
    amplitude, middle = np.zeros(rig.nv), np.zeros(rig.nv)
    amplitude[:ROOT_NV] = style.root
    for target, entries in ((amplitude, style.joints), (middle, style.centres)):
        for ending, values in entries:
            for link in rig.links:
                if link.endswith(ending) and link not in excitation.legs:
                    at = rig.v_slices[rig.index(link)].start
                    target[at : at + len(values)] = values
    middle[2] = -0.5 * style.root[2]
    waves = _sinusoids(generator, times, rig.nv, excitation.frequencies)
    return ease[:, None] * (middle + amplitude * waves)


def _sinusoids(
    generator: np.random.Generator, times: np.ndarray, count: int, frequencies: tuple[float, float]
) -> np.ndarray:
    """(N, count) signals of about unit amplitude."""
    pitch = generator.uniform(*frequencies, (SINUSOIDS, count))
    phase = generator.uniform(0.0, 2.0 * np.pi, (SINUSOIDS, count))
    share = generator.dirichlet(np.full(SINUSOIDS, 2.0), count).T
    waves = np.sin(2.0 * np.pi * pitch[:, None] * times[None, :, None] + phase[:, None])
    return np.einsum("sc,snc->nc", share, waves)


def _kick(excitation: Excitation, generator: np.random.Generator, times: np.ndarray) -> np.ndarray:
    return excitation.hang + _sinusoids(generator, times, 6, excitation.frequencies) * excitation.kick


def _posture(rig: Rig, start: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    q = integrate(rig, start, np.concatenate([np.zeros(3), tangent[3:]]))
    q[:3] = start[:3] + tangent[:3]
    return q


def _step(times: np.ndarray, begin: float) -> np.ndarray:
    """From 0 to 1 within `SHIFT_SECONDS`, with two vanishing derivatives at both ends."""
    x = np.clip((times - begin) / SHIFT_SECONDS, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


def _in_air(phases: Sequence[Phase], foot: str, times: np.ndarray) -> np.ndarray:
    """(N,) 0 on the ground, 1 lifted; up and down within the lifted phase."""
    result, begin = np.zeros(len(times)), 0.0
    for phase in phases:
        if phase.lifted == foot:
            result += _step(times, begin) - _step(times, begin + phase.seconds - SHIFT_SECONDS)
        begin += phase.seconds
    return result


def _load_share(phases: Sequence[Phase], foot: str, times: np.ndarray) -> np.ndarray:
    """(N,) share of the weight; the weight shifts before the lifted phase and after it."""
    result, begin = np.full(len(times), 0.5), 0.0
    for phase in phases:
        if phase.lifted is not None:
            sign = -0.5 if phase.lifted == foot else 0.5
            result += sign * (_step(times, begin - SHIFT_SECONDS) - _step(times, begin + phase.seconds))
        begin += phase.seconds
    return result


def _sole(rig: Rig, foot: int, rotation: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Middle of a foot's sole (2,) [m], world."""
    vertices = np.vstack([patch.vertices for patch in rig.contacts if rig.index(patch.link) == foot])
    return (rotation @ vertices.mean(axis=0) + origin)[:2]
