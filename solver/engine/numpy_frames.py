"""Kinematics and dynamics of a model in batches of frames, by NumPy.

Quantities of motion and force are spatial vectors in world axes about the world origin, with frames last, so that they
add along the tree without transforms and array arithmetic runs along contiguous memory. Derivatives of the inverse
dynamics follow Carpentier and Mansard 2018: with V and A of the carrying body and of body k, a coordinate with axis S
changes body k's spatial force f by S x* f + I (b + c x V) + c x* (I V) + V x* (I c) where c = V x S and
b = A x S + V x c are of the carrying body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..base.file_arrays import cut_frames
from ..base.so3 import cross, dot, matrix_product, turn_vectors
from ..values.inertials import GRAVITY_VECTOR, PER_LINK
from ..values.joints import ROOT_NV
from .numpy_model import Model

POSE_SIZE = 12
"""By definition."""
TWIST_SIZE = 6
"""By definition."""


def cross_motions(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Spatial cross products (6, ...) of twists, linear then angular."""
    return np.concatenate([cross(left[3:], right[:3]) + cross(left[:3], right[3:]), cross(left[3:], right[3:])])


def cross_forces(motion: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Spatial cross products (6, ...) of twists with wrenches."""
    return np.concatenate([cross(motion[3:], force[:3]), cross(motion[3:], force[3:]) + cross(motion[:3], force[:3])])


def place_joints(model: Model, positions: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (3, 3, B, N) and origins (3, B, N) [m] of the bodies in the carrying bodies.

    Args:
        model: with B bodies.
        positions: (B, 3) [m] of the joints in the carrying bodies.
        rows: (nq, N) configurations.
    """
    bodies, frames = len(model.parents), rows.shape[1]
    turn, place = np.empty((3, 3, bodies, frames)), np.empty((3, bodies, frames))
    place[:] = positions.T[:, :, None]
    if len(model.hinges):
        angles = rows[model.angles]
        cosine, sine = np.cos(angles), np.sin(angles)
        if len(model.cosines):
            cosine = np.concatenate([cosine, rows[model.cosines]])
            sine = np.concatenate([sine, rows[model.cosines + 1]])
        constant, by_cosine, by_sine = (part.transpose(1, 2, 0)[..., None] for part in model.hinge_parts)
        turn[:, :, model.hinges] = constant + by_cosine * cosine + by_sine * sine
    if len(model.sliders):
        turn[:, :, model.sliders] = model.rotations[model.sliders].transpose(1, 2, 0)[..., None]
        place[:, model.sliders] += model.ways.T[:, :, None] * rows[model.starts[model.sliders]]
    turn[:, :, model.balls] = quaternion_matrices(rows[model.quaternions[:, None] + np.arange(4)].swapaxes(0, 1))
    for body in model.balls[model.is_turned]:
        turn[:, :, body] = matrix_product(model.rotations[body][:, :, None], turn[:, :, body])
    for body in model.free:
        at = model.starts[body]
        place[:, body] += model.rotations[body] @ rows[at : at + 3]
    return turn, place


def place_bodies(model: Model, turn: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (3, 3, B, N) and origins (3, B, N) [m] of the bodies in the world, from `place_joints`."""
    turns, places = np.empty_like(turn), np.empty_like(place)
    turns[:, :, 0], places[:, 0] = turn[:, :, 0], place[:, 0]
    for level in model.levels:
        parents = model.parents[level]
        carrying = turns[:, :, parents]
        places[:, level] = turn_vectors(carrying, place[:, level]) + places[:, parents]
        turns[:, :, level] = matrix_product(carrying, turn[:, :, level])
    return turns, places


def joint_twists(model: Model, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear parts (3, S, N) of the sliding joints and angular parts (3, B, N) of all, body axes, of rates (nv, N)."""
    angular = np.zeros((3, len(model.parents), rows.shape[1]))
    angular[:, model.hinges] = model.axes[model.hinges].T[:, :, None] * rows[model.moves[model.hinges]]
    angular[:, model.balls] = rows[model.turns[:, None] + np.arange(3)].swapaxes(0, 1)
    linear = np.zeros((3, len(model.sliding), rows.shape[1]))
    for number, body in enumerate(model.sliding):
        at, kind = model.moves[body], model.kinds[body]
        if kind == "prismatic":
            linear[:, number] = model.axes[body][:, None] * rows[at]
        elif kind == "free":
            linear[:, number] = rows[at : at + 3]
        else:
            linear[:2, number], angular[2, body] = rows[at : at + 2], rows[at + 2]
    return linear, angular


def quaternion_matrices(q: np.ndarray) -> np.ndarray:
    """(3, 3, ...) of unit quaternions xyzw (4, ...)."""
    x, y, z, w = q
    i, j, k = 2.0 * q[:3]
    result = np.empty((3, 3, *x.shape))
    xx, yy, zz = i * x, j * y, k * z
    one, other = i * y, k * w
    result[0, 1], result[1, 0] = one - other, one + other
    one, other = i * z, j * w
    result[0, 2], result[2, 0] = one + other, one - other
    one, other = j * z, i * w
    result[1, 2], result[2, 1] = one - other, one + other
    result[0, 0], result[1, 1], result[2, 2] = 1.0 - (yy + zz), 1.0 - (xx + zz), 1.0 - (xx + yy)
    return result


def joint_axes(model: Model, turn: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Axes (6, nv, N) of the coordinates, world axes, about the world origin."""
    carrying, along = turn[:, :, model.owners], model.directions.T[:, :, None]
    ways = carrying[:, 0] * along[0] + carrying[:, 1] * along[1] + carrying[:, 2] * along[2]
    result = np.concatenate([cross(place[:, model.owners], ways), ways])
    if model.slides.any():
        result[:3, model.slides], result[3:, model.slides] = ways[:, model.slides], 0.0
    return result


class _Frames:
    """Bodies of a piece of frames, and what follows from velocities and accelerations.

    Attributes:
        turn, place: (3, 3, B, n), (3, B, n) [m] axes and origins of the bodies, world.
        axes: (6, nv, n) of the coordinates, set by `move_in_world`.
        twists, rates: (6, B, n), set by `move_in_world` in world axes, by `move` in body axes.
    """

    def __init__(self, model: Model, centres: np.ndarray, q: np.ndarray) -> None:
        self.model = model
        self.steps = place_joints(model, centres, np.ascontiguousarray(q.T))
        self.turn, self.place = place_bodies(model, *self.steps)

    def poses(self) -> np.ndarray:
        """(12, L, n)."""
        turn, place, count = self.turn.swapaxes(0, 1), self.place, self.turn.shape[3]
        if len(self.model.link_bodies) < len(self.model.parents) or not self.model.is_sorted:
            turn, place = turn[:, :, self.model.link_bodies], place[:, self.model.link_bodies]
        return np.concatenate([turn.reshape(9, -1, count), place])

    def of_links(self, parts: np.ndarray) -> np.ndarray:
        """Rows (..., L, n) of the links of (..., B, n)."""
        return parts if self.model.is_sorted else parts[..., self.model.link_bodies, :]

    def move(self, v: np.ndarray, a: np.ndarray, base: np.ndarray | None = None) -> None:
        """Set twists and rates of all bodies in body axes, about their origins.

        Args:
            v, a: (n, nv).
            base: (3,) acceleration of the world, upwards where gravity acts.
        """
        model, (turn, place) = self.model, self.steps
        (slow, omega), (quick, alpha) = joint_twists(model, v.T), joint_twists(model, a.T)
        self.twists, self.rates = np.empty((2, TWIST_SIZE, *place.shape[1:]))
        twists, rates = self.twists, self.rates
        twists[:3, 0], twists[3:, 0], rates[3:, 0] = slow[:, 0], omega[:, 0], alpha[:, 0]  # the root is free
        rates[:3, 0] = quick[:, 0] if base is None else quick[:, 0] + np.tensordot(turn[:, :, 0], base, (0, 0))
        for level in model.levels:
            parents, lever = model.parents[level], place[:, level]
            sliding = [(n, body) for n, body in enumerate(model.sliding) if level.start <= body < level.stop]
            carried = np.stack(
                [twists[:3, parents], twists[3:, parents], rates[:3, parents], rates[3:, parents]], axis=1
            )
            carried[:, 0] += cross(carried[:, 1], lever)
            carried[:, 2] += cross(carried[:, 3], lever)
            own = matrix_product(turn[:, :, level].swapaxes(0, 1)[:, :, None], carried)
            own[:, 1] += omega[:, level]
            for number, body in sliding:
                own[:, 0, body - level.start] += slow[:, number]
            twists[:3, level], twists[3:, level] = own[:, 0], own[:, 1]
            rates[:3, level] = own[:, 2] + cross(own[:, 0], omega[:, level])
            rates[3:, level] = own[:, 3] + cross(own[:, 1], omega[:, level]) + alpha[:, level]
            for number, body in sliding:
                rates[:3, body] += quick[:, number] + cross(twists[3:, body], slow[:, number])

    def move_in_world(self, v: np.ndarray, a: np.ndarray, base: np.ndarray) -> None:
        """Set axes, and twists and rates of all bodies in world axes, about the world origin; see `move`."""
        model = self.model
        self.axes = joint_axes(model, self.turn, self.place)
        self.twists = self._sum_coordinates(self.axes * v.T)
        self.rates = self._sum_coordinates(self.axes * a.T)
        self.rates[:3, 0] += base[:, None]
        for level in model.levels:
            own, carried = self.twists[:, level], self.twists[:, model.parents[level]]
            self.rates[:, level] += self.rates[:, model.parents[level]] + cross_motions(carried, own)
            self.twists[:, level] = own + carried

    def _sum_coordinates(self, parts: np.ndarray) -> np.ndarray:
        """(6, B, n) sums of (6, nv, n) over the coordinates of each body."""
        owners = self.model.owners
        firsts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        result = np.empty((TWIST_SIZE, len(self.model.parents), parts.shape[2]))
        result[:, owners[firsts]] = np.add.reduceat(parts, firsts, axis=1)
        return result

    def forces(self) -> np.ndarray:
        """Wrenches (6, B, n) that move each body alone, body axes, about its origin; after `move`."""
        omega, alpha = self.twists[3:], self.rates[3:]
        pull = self.rates[:3] + cross(omega, self.twists[:3])
        mass, lever = self.model.values[:, 0, None], self.model.values[:, 1:4].T[:, :, None]
        force = mass * pull + cross(alpha, lever) + cross(omega, cross(omega, lever))
        turned = matrix_product(inertia_matrices(self.model.values)[..., None], np.stack([alpha, omega], axis=1))
        return np.concatenate([force, cross(lever, pull) + turned[:, 0] + cross(omega, turned[:, 1])])

    def carry_forces(self, wrenches: np.ndarray) -> np.ndarray:
        """Adds the wrenches (6, B, n) of each body's descendants to its own, in place."""
        turn, place = self.steps
        for level in reversed(self.model.levels):
            both = matrix_product(
                turn[:, :, level], wrenches[:, level].reshape(2, 3, -1, wrenches.shape[2]).swapaxes(0, 1)
            )
            both[:, 1] += cross(place[:, level], both[:, 0])
            for number, parent in enumerate(self.model.parents[level]):
                wrenches[:3, parent] += both[:, 0, number]
                wrenches[3:, parent] += both[:, 1, number]
        return wrenches

    def project_forces(self, wrenches: np.ndarray) -> np.ndarray:
        """(nv, n) generalised forces of the joints from the wrenches (6, B, n) that they transmit, body axes."""
        model = self.model
        result = np.empty((model.nv, wrenches.shape[2]))
        hinges, sliders = model.hinges, model.sliders
        result[model.moves[hinges]] = dot(model.axes[hinges].T[:, :, None], wrenches[3:, hinges])
        result[model.turns[:, None] + np.arange(3)] = wrenches[3:, model.balls].swapaxes(0, 1)
        if len(sliders):
            result[model.moves[sliders]] = dot(model.axes[sliders].T[:, :, None], wrenches[:3, sliders])
        for body in model.free:
            at = model.moves[body]
            result[at : at + 3] = wrenches[:3, body]
        return result

    def sum_subtrees(self, parts: np.ndarray) -> np.ndarray:
        """Sums of (..., B, n) over each body and its descendants, in place."""
        for body in range(len(self.model.parents) - 1, 0, -1):
            parts[..., self.model.parents[body], :] += parts[..., body, :]
        return parts

    def coordinate_forces(self, wrenches: np.ndarray) -> np.ndarray:
        """(nv, n) generalised forces of wrenches (6, B, n) summed over the subtrees."""
        carried = wrenches[:, self.model.owners]
        return dot(self.axes[:3], carried[:3]) + dot(self.axes[3:], carried[3:])

    def inertias(self) -> np.ndarray:
        """Spatial inertias (6, 6, B, n), world axes, about the world origin."""
        model = self.model
        mass = np.broadcast_to(model.values[:, 0, None], self.place.shape[1:])
        centre = turn_vectors(self.turn, model.values[:, 1:4].T[:, :, None]) + mass * self.place
        # about the world origin: R I R' + (lever terms of h = R h0 about the body's origin p)
        turned = matrix_product(
            matrix_product(self.turn, inertia_matrices(model.values)[..., None]), self.turn.swapaxes(0, 1)
        )
        moved, place = centre - mass * self.place, self.place
        about = turned - _skew_product(place, moved) - _skew_product(moved, place) - mass * _skew_product(place, place)
        result = np.zeros((6, 6, *mass.shape))
        for axis in range(3):
            result[axis, axis] = mass
        around = _skew(centre)
        result[3:, :3], result[:3, 3:], result[3:, 3:] = around, -around, about
        return result


def inertia_matrices(values: np.ndarray) -> np.ndarray:
    """(3, 3, B) moments of inertia about the origins, of parameters (B, 10)."""
    xx, xy, yy, xz, yz, zz = values[:, 4:].T
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _skew(vectors: np.ndarray) -> np.ndarray:
    """(3, 3, ...) of vectors (3, ...)."""
    x, y, z = vectors
    zero = np.zeros_like(x)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def _skew_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """sk(left) sk(right) (3, 3, ...) = right left' - (left . right) 1."""
    result = right[:, None] * left
    along = dot(left, right)
    for axis in range(3):
        result[axis, axis] -= along
    return result


class FrameDynamics:
    """Kinematics and dynamics of one model in batches of N frames.

    Poses are (N, L, 12): the axes x, y and z of each link in the world, then its origin. Twists and their rates are
    (N, L, 6): linear, then angular, link axes; rates are spatial accelerations without gravity.

    Args:
        model: with L links.
        centres: (B, 3) [m] of the joints in the carrying bodies, if not the model's.
    """

    def __init__(self, model: Model, centres: np.ndarray | None = None) -> None:
        self._model = model
        self._centres = model.positions if centres is None else centres

    def poses(self, q: np.ndarray) -> np.ndarray:
        """Poses at configurations (N, nq)."""
        (poses,) = self._evaluate(q, [(POSE_SIZE, len(self._model.link_bodies))], lambda own, _: [own.poses()])
        return poses.transpose(2, 1, 0)

    def motions(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Poses, twists and their rates of frames q (N, nq), v (N, nv), a (N, nv)."""
        links = self._model.link_bodies

        def evaluate(own: _Frames, at: slice) -> list[np.ndarray]:
            own.move(v[at], a[at])
            return [own.poses(), own.of_links(own.twists), own.of_links(own.rates)]

        sizes = [(size, len(links)) for size in (POSE_SIZE, TWIST_SIZE, TWIST_SIZE)]
        poses, twists, rates = (part.transpose(2, 1, 0) for part in self._evaluate(q, sizes, evaluate))
        return poses, twists, rates

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses, and the generalised forces (N, nv) that produce the motion without contacts."""

        def evaluate(own: _Frames, at: slice) -> list[np.ndarray]:
            own.move(v[at], a[at], -GRAVITY_VECTOR)
            return [own.poses(), own.project_forces(own.carry_forces(own.forces()))]

        poses, forces = self._evaluate(q, [(POSE_SIZE, len(self._model.link_bodies)), (self._model.nv,)], evaluate)
        return poses.transpose(2, 1, 0), np.ascontiguousarray(forces.T)

    def root_wrenches(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The root's generalised force as a wrench (N, 6), world axes, about the world origin."""

        def evaluate(own: _Frames, at: slice) -> list[np.ndarray]:
            own.move(v[at], a[at], -GRAVITY_VECTOR)
            force, moment = np.split(own.carry_forces(own.forces())[:, 0], 2)
            force, moment = turn_vectors(own.turn[:, :, 0], force), turn_vectors(own.turn[:, :, 0], moment)
            return [np.concatenate([force, moment + cross(own.place[:, 0], force)])]

        return self._evaluate(q, [(TWIST_SIZE,)], evaluate)[0].T.copy()

    def centres_of_mass(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass (N, 3) [m], world."""
        return self._evaluate(q, [(3,)], lambda own, _: [self._moments(own).sum(axis=1)])[0].T / self._mass

    def centre_of_mass_jacobians(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (N, 3) [m], world, and its Jacobian (N, 3, nv)."""
        model = self._model
        masses = model.subtrees @ model.values[:, 0]

        def evaluate(own: _Frames, _: slice) -> list[np.ndarray]:
            moments = own.sum_subtrees(self._moments(own))
            axes = joint_axes(model, own.turn, own.place)
            columns = axes[:3] * masses[model.owners, None] + cross(axes[3:], moments[:, model.owners])
            return [moments[:, 0], columns]

        coms, jacobians = self._evaluate(q, [(3,), (3, model.nv)], evaluate)
        return coms.T / self._mass, np.ascontiguousarray(jacobians.transpose(2, 0, 1)) / self._mass

    def jacobians(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses, and transposed Jacobians (N, nv, 6) of all joints, world axes, about the world origin."""
        model = self._model
        sizes = [(POSE_SIZE, len(model.link_bodies)), (TWIST_SIZE, model.nv)]
        poses, axes = self._evaluate(q, sizes, lambda own, _: [own.poses(), joint_axes(model, own.turn, own.place)])
        return poses.transpose(2, 1, 0), axes.transpose(2, 1, 0)

    def inverse_dynamics_derivatives(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalised forces (N, nv), their derivatives (3, N, nv, nv) by q, v and a, and the joints' axes (N, 6, nv).

        Columns of the derivatives are tangent coordinates. Axes are in world axes, about the world origin.
        """
        model = self._model
        forces, derivatives = np.empty((len(q), model.nv)), np.empty((3, len(q), model.nv, model.nv))
        axes = np.empty((len(q), TWIST_SIZE, model.nv))
        for at in cut_frames(len(q)):
            found = _Derivatives(model, q[at], v[at], a[at])
            forces[at], axes[at] = found.forces.T, found.frames.axes.transpose(2, 0, 1)
            derivatives[:, at] = found.of_coordinates()
        return forces, derivatives, axes

    def root_force_derivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The root's generalised force (N, 6) and its derivatives (N, 6, 3, nv) by q, v and a."""
        forces, derivatives = np.empty((len(q), ROOT_NV)), np.empty((len(q), ROOT_NV, 3, self._model.nv))
        for at in cut_frames(len(q)):
            found = _Derivatives(self._model, q[at], v[at], a[at])
            forces[at], derivatives[at] = found.forces[:ROOT_NV].T, found.of_root()
        return forces, derivatives

    def joint_force_regressor(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Regressor (N, nv - 6, 10 L) of the joints' generalised forces without contacts."""
        model, links = self._model, self._model.link_bodies
        result = np.empty((len(q), model.nv - ROOT_NV, PER_LINK * len(links)))
        moves = model.subtrees[model.owners[ROOT_NV:]][:, links]
        for at in cut_frames(len(q)):
            own = _Frames(model, self._centres, q[at])
            own.move(v[at], a[at], -GRAVITY_VECTOR)
            own.axes = joint_axes(model, own.turn, own.place)
            rows = _body_regressors(own)[:, :, links].transpose(3, 0, 2, 1)  # frames, rows, links, parameters
            axes = own.axes[:, ROOT_NV:].transpose(2, 1, 0)
            parts = (axes @ rows.reshape(len(rows), TWIST_SIZE, -1)).reshape(len(rows), -1, len(links), PER_LINK)
            result[at] = (parts * moves[:, :, None]).reshape(len(rows), -1, PER_LINK * len(links))
        return result

    @property
    def _mass(self) -> float:
        return float(self._model.values[:, 0].sum())

    def _moments(self, own: _Frames) -> np.ndarray:
        """(3, B, n) masses times their centres, world."""
        values = self._model.values
        return turn_vectors(own.turn, values[:, 1:4].T[:, :, None]) + values[:, 0, None] * own.place

    def _evaluate(
        self,
        q: np.ndarray,
        sizes: Sequence[tuple[int, ...]],
        evaluate: Callable[[_Frames, slice], list[np.ndarray]],
    ) -> list[np.ndarray]:
        """Arrays (*size, N) of what ``evaluate`` returns for each piece of frames."""
        result = [np.empty((*size, len(q))) for size in sizes]
        for at in cut_frames(len(q)):
            for into, part in zip(result, evaluate(_Frames(self._model, self._centres, q[at]), at), strict=True):
                into[..., at] = part
        return result


class _Derivatives:
    """Derivatives of the inverse dynamics of a piece of frames; names as in the module's formula."""

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        self.model, self.frames = model, _Frames(model, model.positions, q)
        own = self.frames
        own.move_in_world(v, a, -GRAVITY_VECTOR)
        axes, bodies = own.axes, model.owners
        still = np.zeros((TWIST_SIZE, 1, len(q)))
        lift = still.copy()
        lift[:3, 0] -= GRAVITY_VECTOR[:, None]
        twists = np.concatenate([own.twists, still], axis=1)  # the world is the last body, whose index is -1
        rates = np.concatenate([own.rates, lift], axis=1)
        carrying = model.parents[bodies]
        self._c = cross_motions(twists[:, carrying], axes)
        self._b = cross_motions(rates[:, carrying], axes) + cross_motions(twists[:, carrying], self._c)
        self._d = self._c + cross_motions(own.twists[:, bodies], axes)
        inertias = own.inertias()
        momenta = _apply(inertias, own.twists)
        wrenches = own.sum_subtrees(_apply(inertias, own.rates) + cross_forces(own.twists, momenta))
        self.forces = own.coordinate_forces(wrenches)
        mixed = own.sum_subtrees(_mixed_matrices(inertias, own.twists, momenta))
        composite = own.sum_subtrees(inertias)
        self._composite, self._mixed, carried = composite[:, :, bodies], mixed[:, :, bodies], wrenches[:, bodies]
        self._turned = cross_forces(axes, carried)

    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(6, nv, n) changes by q, v and a of the wrench of each coordinate's subtree, q without its own turning."""
        heavy, mixed, axes = self._composite, self._mixed, self.frames.axes
        by_q = _apply(heavy, self._b) + _apply(mixed, self._c)
        return by_q, _apply(mixed, axes) + _apply(heavy, self._d), _apply(heavy, axes)

    def of_coordinates(self) -> np.ndarray:
        """(3, n, nv, nv)."""
        axes, (by_q, by_v, by_a) = self.frames.axes, self._columns()
        rows, columns = axes.transpose(2, 1, 0), [x.transpose(2, 0, 1) for x in (by_q + self._turned, by_v, by_a)]
        above = np.array([rows @ column for column in columns])  # the column's coordinate is below the row's
        heavy, mixed = _apply(self._composite, axes), _apply(self._mixed.swapaxes(0, 1), axes)
        heavy, mixed = heavy.transpose(2, 1, 0), mixed.transpose(2, 1, 0)
        b, c, d, s = (x.transpose(2, 0, 1) for x in (self._b, self._c, self._d, axes))
        below = np.array([heavy @ b + mixed @ c, mixed @ s + heavy @ d, heavy @ s])
        return np.where(self.model.below, above, np.where(self.model.descends, below, 0.0))

    def of_root(self) -> np.ndarray:
        """(n, 6, 3, nv) rows of the root's coordinates."""
        axes, (by_q, by_v, by_a) = self.frames.axes, self._columns()
        by_q = by_q + np.where((self.model.owners == 0)[:, None], 0.0, self._turned)
        rows = axes[:, :ROOT_NV].transpose(2, 1, 0)
        return np.stack([rows @ x.transpose(2, 0, 1) for x in (by_q, by_v, by_a)], axis=2)


def _apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(6, ...) products of matrices (6, 6, ...) and vectors (6, ...)."""
    return np.einsum("ij...,j...->i...", matrices, vectors)


def _mixed_matrices(inertias: np.ndarray, twists: np.ndarray, momenta: np.ndarray) -> np.ndarray:
    """(6, 6, B, n) matrices of x -> I (x x V) + x x* (I V) + V x* (I x)."""
    turning, moving = _skew(twists[3:]), _skew(twists[:3])
    zero = np.zeros_like(turning)
    motion = np.concatenate([np.concatenate([turning, moving], axis=1), np.concatenate([zero, turning], axis=1)])
    force = np.concatenate([np.concatenate([turning, zero], axis=1), np.concatenate([moving, turning], axis=1)])
    pull, spin = _skew(momenta[:3]), _skew(momenta[3:])
    own = -np.concatenate([np.concatenate([zero, pull], axis=1), np.concatenate([pull, spin], axis=1)])
    return own + np.einsum("ij...,jk...->ik...", force, inertias) - np.einsum("ij...,jk...->ik...", inertias, motion)


def _body_regressors(own: _Frames) -> np.ndarray:
    """(6, 10, B, n) wrench of each body by its parameters, world axes, about the world origin."""
    twist, rate = own.twists, own.rates
    (wx, wy, wz), (ax, ay, az) = twist[3:], rate[3:]
    pull = rate[:3] + cross(twist[3:], twist[:3])
    around = _skew(rate[3:]) + _skew_product(twist[3:], twist[3:])
    force = np.zeros((3, PER_LINK, *wx.shape))
    force[:, 0], force[:, 1:4] = pull, around
    moment = np.zeros_like(force)
    moment[:, 1:4] = -_skew(pull)
    moment[:, 4:] = [
        [ax, ay - wx * wz, -wy * wz, az + wx * wy, wy * wy - wz * wz, wy * wz],
        [wx * wz, ax + wy * wz, ay, wz * wz - wx * wx, az - wx * wy, -wx * wz],
        [-wx * wy, wx * wx - wy * wy, wx * wy, ax - wy * wz, ay + wx * wz, az],
    ]
    force, moment = matrix_product(own.turn[:, :, None], force), matrix_product(own.turn[:, :, None], moment)
    return np.concatenate([force, moment + cross(own.place[:, None], force)])
