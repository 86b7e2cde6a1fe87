"""A dance played in MuJoCo: joints follow the plan by PD control, the root is free, only the floor holds it up."""

from __future__ import annotations

import mujoco
import numpy as np

from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

from .control import References, rotation_vectors
from .mjcf import FLOOR, layout, mjcf, sole_geoms
from .performance import Performance, Plan, PlayOptions

LOWEST = 0.8
"""Share of its planned height below which the root has fallen."""
MOST_TILT = 0.5
"""[rad] between the root and its plan above which it has fallen."""
CONTROL_SLACK = 1e-9


def play(
    rig: Rig, intended: Plan, options: PlayOptions | None = None, truth: InertialParameters | None = None
) -> Performance:
    """Play a dance on a body whose inertials may differ from those of its controller.

    Args:
        rig: the dancer; its prior holds the controller's inertials.
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
        self.references = References(rig, self.layout, intended, options, joints)
        self.limit = rig.limits.torque[joints]
        omega = 2.0 * np.pi * options.bandwidth
        self.slowness = 2.0 * options.damping / omega  # damping over stiffness [s]
        shared = options.rotor * self.references.stiffness.max(axis=0) / omega**2
        self.rotor = np.minimum(shared, self.limit / options.answer)
        self.joints = joints
        self._index_joints(model)
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
            error[self.ball_v] = rotation_vectors(qpos[self.ball_q], wanted[self.ball_q])
        stiffness = self.references.stiffness[step]
        damping = self.slowness * stiffness
        torque = stiffness * error + damping * (speed * moving - qvel)
        if self.options.feed_forward:
            torque += feed + self.rotor * self.references.a[step]
        # implicit damping is inertia; as the joints' own damping the contact solver does not see it, and planted feet
        # crept by 0.3 mm a step, at half of the time step by half of it
        self.model.dof_armature[ROOT_NV:] = self.rotor + self.options.timestep * damping
        self.data.qfrc_applied[ROOT_NV:] = np.clip(torque, -self.limit, self.limit)
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
        tilt = np.linalg.norm(rotation_vectors(qpos[None, 3:7], wanted[None, 3:7]))
        above = qpos[2] - self.references.ground, wanted[2] - self.references.ground
        return bool(not np.isfinite(qpos).all() or above[0] < LOWEST * above[1] or tilt > MOST_TILT)

    def _motion(self, times: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> Motion:
        q = self.layout.configuration(qpos)
        v = np.array([self.layout.velocity(*frame) for frame in zip(q, qvel)])
        a = np.array([self.layout.velocity(*frame) for frame in zip(q, qacc)])
        a[:, :3] -= np.cross(v[:, 3:6], v[:, :3])
        return Motion(times, q, v, a)
