"""Kinematics and dynamics of a model in batches of frames, by Pinocchio."""

from __future__ import annotations

import numpy as np

from ..values.inertials import PER_LINK
from ..values.joints import ROOT_NV
from . import numpy_frames
from .pinocchio_loader import pin
from .pinocchio_model import POSE_SIZE, TWIST_SIZE, Model, data_of, link_views


def integrate(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Configuration (nq,) or (N, nq) reached from ``q`` by a step (nv,) or (N, nv); a single row is repeated."""
    if np.ndim(q) == 1 == np.ndim(step):
        return pin.integrate(model, q, step)
    starts, steps = _broadcast_rows(q, step)
    return np.array([pin.integrate(model, *pair) for pair in zip(starts, steps)]).reshape(-1, model.nq)


def difference(model: Model, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Step (nv,) or (N, nv) between configurations (nq,) or (N, nq): the inverse of `integrate`."""
    if np.ndim(start) == 1 == np.ndim(stop):
        return pin.difference(model, start, stop)
    starts, stops = _broadcast_rows(start, stop)
    return np.array([pin.difference(model, *pair) for pair in zip(starts, stops)]).reshape(-1, model.nv)


def _broadcast_rows(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both; a single row is repeated."""
    count = max(len(x) for x in (left, right) if np.ndim(x) == 2)
    return (np.broadcast_to(left, (count, np.shape(left)[-1])), np.broadcast_to(right, (count, np.shape(right)[-1])))


class FrameDynamics:
    """Kinematics and dynamics of one model in batches of N frames; its working memory serves all calls.

    Poses are (N, L, 12): the axes x, y and z of each link in the world, then its origin. Twists and their rates are
    (N, L, 6): linear, then angular, link axes; rates are spatial accelerations without gravity.

    Args:
        model: with L links.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._data = model, data_of(model)
        self._views = link_views(self._data, model.njoints)
        self._substitute = None if model.substitute is None else numpy_frames.FrameDynamics(model.substitute)

    def poses(self, q: np.ndarray) -> np.ndarray:
        """Poses at configurations (N, nq)."""
        model, data, views = self._model, self._data, self._views
        result = np.empty((len(q), model.njoints - 1, POSE_SIZE))
        for frame, row in enumerate(q):
            pin.forwardKinematics(model, data, row)
            views.refresh()
            result[frame] = views.poses
        return result

    def motions(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Poses, twists and their rates of frames q (N, nq), v (N, nv), a (N, nv)."""
        model, data, views = self._model, self._data, self._views
        frames, links = len(q), model.njoints - 1
        poses = np.empty((frames, links, POSE_SIZE))
        twists = np.empty((frames, links, TWIST_SIZE))
        rates = np.empty((frames, links, TWIST_SIZE))
        forward = pin.forwardKinematics
        for frame in range(frames):
            forward(model, data, q[frame], v[frame], a[frame])
            views.refresh()
            poses[frame] = views.poses
            twists[frame] = views.twists
            rates[frame] = views.rates
        return poses, twists, rates

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses, and the generalised forces (N, nv) that produce the motion without contacts."""
        model, data, views = self._model, self._data, self._views
        poses, tau = np.empty((len(q), model.njoints - 1, POSE_SIZE)), np.empty((len(q), model.nv))
        dynamics, place = pin.rnea, pin.updateGlobalPlacements  # the former places joints in their parents
        for frame in range(len(q)):
            tau[frame] = dynamics(model, data, q[frame], v[frame], a[frame])
            place(model, data)
            views.refresh()
            poses[frame] = views.poses
        return poses, tau

    def root_wrenches(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The root's generalised force as a wrench (N, 6), world axes, about the world origin."""
        data = self._data

        def wrench(*state: np.ndarray) -> np.ndarray:
            own = pin.Force(pin.rnea(self._model, data, *state)[:ROOT_NV])
            return data.liMi[1].act(own).vector  # inverse dynamics places joints in their parents; the root has none

        return np.array([wrench(*state) for state in zip(q, v, a)]).reshape(-1, ROOT_NV)

    def centres_of_mass(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass (N, 3) [m], world."""
        return np.array([pin.centerOfMass(self._model, self._data, row).copy() for row in q]).reshape(-1, 3)

    def centre_of_mass_jacobians(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (N, 3) [m], world, and its Jacobian (N, 3, nv)."""
        if self._substitute is not None:
            return self._substitute.centre_of_mass_jacobians(q)
        model, data = self._model, self._data
        coms, jacobians = np.empty((len(q), 3)), np.empty((len(q), 3, model.nv))
        for frame in range(len(q)):
            jacobians[frame] = pin.jacobianCenterOfMass(model, data, q[frame])
            coms[frame] = data.com[0]
        return coms, jacobians

    def jacobians(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses, and transposed Jacobians (N, nv, 6) of all joints, world axes, about the world origin."""
        model, data, views = self._model, self._data, self._views
        poses = np.empty((len(q), model.njoints - 1, POSE_SIZE))
        jacobians = np.empty((len(q), model.nv, TWIST_SIZE))
        for frame, row in enumerate(q):
            pin.computeJointJacobians(model, data, row)
            views.refresh()
            poses[frame], jacobians[frame] = views.poses, data.J.T
        return poses, jacobians

    def inverse_dynamics_derivatives(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalised forces (N, nv), their derivatives (3, N, nv, nv) by q, v and a, and the joints' axes (N, 6, nv).

        Columns of the derivatives are tangent coordinates. Axes are in world axes, about the world origin.
        """
        if self._substitute is not None:
            return self._substitute.inverse_dynamics_derivatives(q, v, a)
        model, data = self._model, self._data
        forces, axes = np.empty((len(q), model.nv)), np.empty((len(q), TWIST_SIZE, model.nv))
        derivatives = np.empty((3, len(q), model.nv, model.nv))
        for frame in range(len(q)):
            derivatives[:, frame] = pin.computeRNEADerivatives(model, data, q[frame], v[frame], a[frame])
            forces[frame], axes[frame] = data.tau, data.J
        upper = np.triu(derivatives[2])  # Pinocchio fills the upper triangle only
        derivatives[2] = upper + np.triu(upper, 1).swapaxes(1, 2)
        return forces, derivatives, axes

    def root_force_derivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The root's generalised force (N, 6) and its derivatives (N, 6, 3, nv) by q, v and a."""
        if self._substitute is not None:
            return self._substitute.root_force_derivatives(q, v, a)
        model, data = self._model, self._data
        derivatives, forces = np.empty((len(q), ROOT_NV, 3, model.nv)), np.empty((len(q), ROOT_NV))
        for frame in range(len(q)):
            by_q, by_v, by_a = pin.computeRNEADerivatives(model, data, q[frame], v[frame], a[frame])
            derivatives[frame, :, 0], derivatives[frame, :, 1] = by_q[:ROOT_NV], by_v[:ROOT_NV]
            derivatives[frame, :, 2] = by_a[:ROOT_NV]
            forces[frame] = data.tau[:ROOT_NV]
        return forces, derivatives

    def joint_force_regressor(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Regressor (N, nv - 6, 10 L) of the joints' generalised forces without contacts."""
        states, shape = zip(q, v, a), (len(q), self._model.nv - ROOT_NV, PER_LINK * (self._model.njoints - 1))
        rows = [pin.computeJointTorqueRegressor(self._model, self._data, *s)[ROOT_NV:].copy() for s in states]
        return np.array(rows).reshape(shape)
