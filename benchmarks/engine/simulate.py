"""A dance played in MuJoCo: joints follow the plan by PD control, the root is free, only the floor holds it up."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np

from solver.dance.checks import CheckOptions, check_motion
from solver.dance.checks.mechanics import chain
from solver.dance.schedule import Schedule
from solver.inertials import InertialParameters
from solver.motion import Motion
from solver.pinocchio_loader import pin
from solver.rig import ROOT_NV, Rig
from solver.wrenches import Wrenches

from .mjcf import FLOOR, Ground, Layout, layout, mjcf, sole_geoms

LOWEST = 0.8
"""Share of its planned height below which the root has fallen."""
MOST_TILT = 0.5
"""[rad] between the root and its plan above which it has fallen."""
CONTROL_SLACK = 1e-9
POSTURES = 24
"""Frames of a motion at which the inertia moved by each joint is looked at."""
YIELD = 0.1
"""[rad] Error at which a joint uses its whole torque, if its bandwidth does not ask for more stiffness."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How a dance is played.

    Attributes:
        timestep: [s] of simulation and control.
        rate: [1/s] of the sensors; must divide the simulation's.
        bandwidth: [Hz] of every joint's PD control, from the inertia it moves; 5 Hz is modest for a robot's servo.
        damping: ratio of critical.
        rotor: inertia of each motor seen through its gear, as a share of what its joint moves; internal to the body, it
            changes no external wrench.
        feed_forward: add the plan's inverse dynamics, computed with what the rig believes of its inertials.
        settle: [s] the first posture is held before the dance.
        ground: contact.
    """

    timestep: float = 1e-3
    rate: float = 250.0
    bandwidth: float = 5.0
    damping: float = 1.0
    rotor: float = 0.1
    feed_forward: bool = True
    settle: float = 1.0
    ground: Ground = field(default_factory=Ground)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the dancer intends.

    Attributes:
        motion: N frames.
        schedule: of contacts.
        wrenches: planned ones under each patch (N, F, 6), world axes about the world origin.
        torques: (N, nv - 6) [N m].
    """

    motion: Motion
    schedule: Schedule
    wrenches: np.ndarray
    torques: np.ndarray


@dataclass(frozen=True, slots=True)
class Performance:
    """What happened.

    Attributes:
        motion: true motion at the sensors' rate, N frames from the dance's start to its end or to the fall; the
            accelerations are MuJoCo's.
        plates: simulated force plates, one under each contact patch.
        fell: [s] when it fell, or None.
        saturated: (nv - 6,) share of the time that each joint's torque was at its limit.
        standing: (F, 6) mean wrench under each patch in the second half of the still start.
    """

    motion: Motion
    plates: Wrenches
    fell: float | None
    saturated: np.ndarray
    standing: np.ndarray


def plan(rig: Rig, motion: Motion, schedule: Schedule) -> Plan:
    """The wrenches and torques a motion needs, by the checks' load distribution (2)."""
    checks = check_motion(rig, motion, schedule, CheckOptions(pairs=()))
    return Plan(motion, schedule, np.array(checks.foot_wrenches), np.array(checks.torques))


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


def play(
    rig: Rig, intended: Plan, options: PlayOptions | None = None, truth: InertialParameters | None = None
) -> Performance:
    """Play a dance on a body whose inertials may differ from what its controller believes.

    Args:
        rig: the dancer; its prior is what the controller believes.
        intended: the plan.
        options: see there.
        truth: inertials of the simulated body; the prior by default.

    Raises:
        InvalidValue: inertials that no body has, or a joint MuJoCo has no equal of.
    """
    options = PlayOptions() if options is None else options
    text = mjcf(rig, truth, options.ground, height=intended.schedule.ground, timestep=options.timestep)
    return _Player(rig, intended, options, mujoco.MjModel.from_xml_string(text)).run()


class _Player:
    def __init__(self, rig: Rig, intended: Plan, options: PlayOptions, model: mujoco.MjModel) -> None:
        self.rig, self.options, self.model = rig, options, model
        self.layout = layout(rig)
        self.data = mujoco.MjData(model)
        joints = self.layout.v[ROOT_NV:] - ROOT_NV  # Pinocchio's joint coordinate of each of MuJoCo's
        stiffness, damping = gains(rig, intended.motion, options)
        self.stiffness, self.damping = stiffness[joints], damping[joints]
        self.limit = rig.limits.torque[joints]
        # MuJoCo integrates joint damping implicitly, so the PD's D is the joint's own damping, driven by D v_planned
        model.dof_damping[ROOT_NV:] = self.damping
        # the contact solver does not see implicit damping, so a foot's joints need the rotor inertia real ones have
        self.rotor = options.rotor * self.stiffness / (2.0 * np.pi * options.bandwidth) ** 2
        model.dof_armature[ROOT_NV:] = self.rotor
        self.joints = joints
        self._index_joints(model)
        self.references = _References(self.layout, intended, options, joints)
        patches = sole_geoms(rig)
        self.patch_of = np.full(model.ngeom, -1)
        for number, names in enumerate(patches.values()):
            for name in names:
                self.patch_of[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name)] = number
        self.floor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, FLOOR)
        self.count = len(patches)

    def _index_joints(self, model: mujoco.MjModel) -> None:
        types, at_q, at_v = model.jnt_type, model.jnt_qposadr, model.jnt_dofadr
        turning = (types != mujoco.mjtJoint.mjJNT_FREE) & (types != mujoco.mjtJoint.mjJNT_BALL)
        self.hinge_q, self.hinge_v = at_q[turning].copy(), at_v[turning] - ROOT_NV
        balls = types == mujoco.mjtJoint.mjJNT_BALL
        self.ball_q = at_q[balls][:, None] + np.arange(4)
        self.ball_v = at_v[balls][:, None] - ROOT_NV + np.arange(3)

    def run(self) -> Performance:
        model, data, options = self.model, self.data, self.options
        every = round(1.0 / (options.rate * options.timestep))
        settle = round(options.settle / options.timestep)
        data.qpos[:] = self.references.q[0]
        steps = len(self.references.q)
        times, qs, qvels, qaccs, forces = [], [], [], [], []
        standing = np.zeros((self.count, 6))
        saturated, fell = np.zeros(model.nv - ROOT_NV), None
        for step in range(-settle, steps):
            now = max(step, 0)
            saturated += self._control(now, moving=step >= 0)
            sampled = step >= 0 and step % every == 0
            if sampled:
                qs.append(data.qpos.copy())
                qvels.append(data.qvel.copy())
            mujoco.mj_step(model, data)  # forces and accelerations are those of the state before the step
            if sampled:
                times.append(step * options.timestep)
                qaccs.append(data.qacc.copy())
                forces.append(self._plates())
                if self._has_fallen(now):
                    fell = times[-1]
                    break
            elif -settle // 2 <= step < 0:
                standing += self._plates() / (settle // 2)
        motion = self._motion(np.array(times) + self.references.start, np.array(qs), np.array(qvels), np.array(qaccs))
        names = tuple(patch.name for patch in self.rig.contacts)
        share = np.empty_like(saturated)
        share[self.joints] = saturated / (steps + settle)
        return Performance(motion, Wrenches(motion.times, names, np.array(forces)), fell, share, standing)

    def _control(self, step: int, moving: bool) -> np.ndarray:
        """Set the joint torques; returns which joints are at their limit."""
        wanted, speed, feed = self.references.q[step], self.references.v[step], self.references.torque[step]
        qpos, qvel = self.data.qpos, self.data.qvel[ROOT_NV:]
        error = np.empty(len(feed))
        error[self.hinge_v] = wanted[self.hinge_q] - qpos[self.hinge_q]
        if len(self.ball_q):
            error[self.ball_v] = _turns(qpos[self.ball_q], wanted[self.ball_q])
        torque = self.stiffness * error + self.damping * (speed * moving - qvel)
        if self.options.feed_forward:
            torque += feed + self.rotor * self.references.a[step]
        clipped = np.clip(torque, -self.limit, self.limit)
        self.data.qfrc_applied[ROOT_NV:] = clipped + self.damping * qvel
        return np.abs(torque) > self.limit + CONTROL_SLACK

    def _plates(self) -> np.ndarray:
        """Wrench (F, 6) on the body under each patch, world axes about the world origin."""
        result = np.zeros((self.count, 6))
        contacts = self.data.contact
        if not len(contacts.dist):
            return result
        held = contacts.efc_address >= 0
        rows = contacts.efc_address[held][:, None] + np.arange(3)
        frames = contacts.frame[held].reshape(-1, 3, 3)
        force = np.einsum("nij,ni->nj", frames, self.data.efc_force[rows])
        pairs = contacts.geom[held]
        first_is_floor = pairs[:, 0] == self.floor
        force[~first_is_floor] *= -1.0  # the normal points from the first to the second
        patch = self.patch_of[np.where(first_is_floor, pairs[:, 1], pairs[:, 0])]
        wrench = np.concatenate([force, np.cross(contacts.pos[held], force)], axis=1)
        np.add.at(result, patch, wrench)
        return result

    def _has_fallen(self, step: int) -> bool:
        wanted, qpos = self.references.q[step], self.data.qpos
        tilt = np.linalg.norm(_turns(qpos[None, 3:7], wanted[None, 3:7]))
        above = qpos[2] - self.references.ground, wanted[2] - self.references.ground
        return bool(not np.isfinite(qpos).all() or above[0] < LOWEST * above[1] or tilt > MOST_TILT)

    def _motion(self, times: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> Motion:
        q = self.layout.configuration(qpos)
        v = np.array([self.layout.velocity(*frame) for frame in zip(q, qvel)])
        a = np.array([self.layout.velocity(*frame) for frame in zip(q, qacc)])
        a[:, :3] -= np.cross(v[:, 3:6], v[:, :3])
        return Motion(times, q, v, a)


class _References:
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


def _turns(current: np.ndarray, wanted: np.ndarray) -> np.ndarray:
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
