"""Coordinates of an OpenSim model that bring its own markers nearest to recorded ones.

The least-squares problem of OpenSim's inverse kinematics with equal weights: each frame by itself, coordinates that the
model clamps within their ranges, locked ones at their defaults, and those that follow others by their functions. All
frames are solved at once by Levenberg-Marquardt iterations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..qp.least_squares import solve_least_squares
from ..rigs.opensim.document import Coupling, OpenSimModel
from ..rigs.opensim.joint_poses import BodyPoses, body_poses, find_coordinates, unit_motion
from ..rigs.root_and_up_axis import FILE_TO_WORLD
from ..values.marker_names import match_names
from ..values.motion import Markers
from .initial_pose import rigid_fit

MIN_ROOT_MARKERS = 3
"""Markers that determine the pose of a body. Derived: three points that are not on a line determine a pose."""
MIN_SPREAD = 0.02
"""[m] Least second principal extent of a body's markers: less is a line, about which it can turn."""
CONVERGED = 1e-6
"""[rad or m] Largest last correction of a coordinate."""
NEIGHBOUR_RATIO = 1.05
"""Ratio of squared errors of a frame and its neighbour beyond which it is solved again from the latter's solution."""
BETTER = 0.999
"""Ratio of squared errors below which the other solution replaces the first one."""
STEP = 1e-6
"""[rad or m] Half the interval of central differences of a follower's function."""


@dataclass(frozen=True, slots=True)
class MarkerCoordinates:
    """Coordinates of a model from markers.

    Attributes:
        values: (N,) [rad or m] of every coordinate, by its name.
        names: M recorded markers that the model has.
        residuals: (N, M, 3) [m] measured minus modelled positions, world axes; NaN where a marker was not seen.
        solved: (N,) True where the seen markers have at least as many components as the model has coordinates;
            elsewhere coordinates are those of the nearest such frame.
        undetermined: coordinates that move no marker, at their defaults.
    """

    values: dict[str, np.ndarray]
    names: tuple[str, ...]
    residuals: np.ndarray
    solved: np.ndarray
    undetermined: tuple[str, ...]


def coordinates_from_markers(model: OpenSimModel, markers: Markers) -> MarkerCoordinates:
    """Find the coordinates of a model from markers, in the world with z up.

    Args:
        model: with its markers.
        markers: recorded; names may differ in capitals or by a subject's prefix, others are not used.

    Raises:
        InvalidValue: too few of the model's markers are recorded, or no frame shows enough of them.
    """
    equations = _MarkerEquations(model, markers)
    rows = np.flatnonzero(equations.solvable)
    if not len(rows):
        raise InvalidValue(
            f"{len(equations.names)} of the {len(model.markers)} markers of {model.path.name} are recorded, too few "
            f"for its {len(equations.free)} coordinates; name the recorded markers as the model does, or give joint "
            "angles"
        )
    values = equations.solve_consistently(equations.first_values(rows), rows)
    every = np.arange(len(markers))
    values = values[np.abs(every[:, None] - rows).argmin(axis=1)]
    residuals = equations.residuals(values, every)
    undetermined = equations.find_undetermined(values[:1], rows[:1])
    return MarkerCoordinates(equations.all_values(values), equations.names, residuals, equations.solvable, undetermined)


class _MarkerEquations:
    def __init__(self, model: OpenSimModel, markers: Markers) -> None:
        matched = match_names(markers.names, tuple(model.markers))
        if not matched:
            raise InvalidValue(
                f"none of the {len(model.markers)} markers of {model.path.name} is recorded; name the recorded markers "
                "as the model does, or give joint angles"
                if model.markers
                else f"{model.path.name} has no markers; place them on the model in OpenSim, or give joint angles"
            )
        self.model = model
        self.names = tuple(name for name in markers.names if name in matched)
        placed = [model.markers[matched[name]] for name in self.names]
        self.bodies = tuple(body for body, _ in placed)
        self.offsets = np.array([offset for _, offset in placed])
        self.measured = np.asarray(markers.select(self.names).positions)
        self.seen = np.isfinite(self.measured[:, :, 0])
        self._followers = {coupling.dependent: coupling for coupling in model.couplings}
        self._joints = {coordinate.name: joint for joint in model.joints for coordinate in joint.coordinates}
        self.free = tuple(
            name for name, each in model.coordinates.items() if not each.locked and name not in self._followers
        )
        limits = [
            (each.lower, each.upper) if each.clamped and each.lower < each.upper else (-np.inf, np.inf)
            for each in (model.coordinates[name] for name in self.free)
        ]
        self.lower, self.upper = np.array(limits).reshape(-1, 2).T
        self.solvable = 3 * self.seen.sum(axis=1) >= max(len(self.free), 3 * MIN_ROOT_MARKERS)
        carried: dict[str, set[str]] = {}
        for joint in reversed(model.joints):
            own = carried.setdefault(joint.child.body, {joint.child.body})
            carried.setdefault(joint.parent.body, {joint.parent.body}).update(own)
        self._moved = {
            joint.name: np.array([body in carried[joint.child.body] for body in self.bodies]) for joint in model.joints
        }

    def all_values(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """(n,) of every coordinate from those (n, C) of the free ones."""
        count = len(values)
        found = {name: np.full(count, each.default) for name, each in self.model.coordinates.items()}
        found.update(zip(self.free, values.T))
        for coupling in self.model.couplings:
            found[coupling.dependent] = _follow(coupling, found)
        return found

    def residuals(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, M, 3) [m] measured minus modelled positions in frames (n,); NaN where not seen."""
        return np.asarray(self.measured[rows] - self._positions(body_poses(self.model, self.all_values(values))))

    def squared_error(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n,) [m^2] summed over the seen markers."""
        return np.asarray(np.nansum(self.residuals(values, rows) ** 2, axis=(1, 2)))

    def _positions(self, poses: BodyPoses) -> np.ndarray:
        found = [
            poses.positions[body] + poses.rotations[body] @ offset for body, offset in zip(self.bodies, self.offsets)
        ]
        return np.stack(found, axis=1)

    def first_values(self, rows: np.ndarray) -> np.ndarray:
        """(n, C) defaults, with the root where its own markers are, or all of them if these do not determine it."""
        defaults = np.array([self.model.coordinates[name].default for name in self.free])
        result = np.tile(np.clip(defaults, self.lower, self.upper), (len(rows), 1))
        joint = self.model.joints[0]
        if not joint.coordinates:
            return result
        poses = body_poses(self.model, self.all_values(result[:1]))
        root = joint.child.body
        base, origin = poses.rotations[root][0], poses.positions[root][0]
        local = (self._positions(poses)[0] - origin) @ base
        turns, moves = np.empty((len(rows), 3, 3)), np.empty((len(rows), 3))
        on_root = np.array([body == root for body in self.bodies])
        for k, row in enumerate(rows):
            seen = self.seen[row]
            chosen = seen & on_root if _spans_plane(local[seen & on_root]) else seen
            turns[k], moves[k] = rigid_fit(local[chosen], self.measured[row, chosen], np.ones(chosen.sum()))
        ground = FILE_TO_WORLD[self.model.up].T
        found, _ = find_coordinates(joint, ground @ turns, moves @ ground.T)
        for name, column in found.items():
            if name in self.free:
                k = self.free.index(name)
                result[:, k] = np.clip(column, self.lower[k], self.upper[k])
        return result

    def solve(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, C) of the least squared error within the ranges, from the given ones, in frames (n,)."""

        def equations(own: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            seen = self.seen[rows[active], :, None]
            columns = (self._jacobian(own) * seen[..., None]).reshape(len(own), -1, len(self.free))
            residual = np.where(seen, self.residuals(own, rows[active]), 0.0).reshape(len(own), -1)
            return columns.swapaxes(1, 2) @ columns, np.einsum("nic,ni->nc", columns, residual)

        return solve_least_squares(
            values,
            equations,
            lambda own, active: self.squared_error(own, rows[active]),
            converged=CONVERGED,
            bounds=(self.lower, self.upper),
        )[0]

    def solve_consistently(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The same as `solve`, but frames that fit worse than a neighbour are solved again from its solution.

        Far from the defaults a frame can end in another minimum, such as with an arm turned about twice its angle.
        """
        values = self.solve(values, rows)
        error, order = self.squared_error(values, rows), np.arange(len(rows))
        changed = np.ones(len(rows), bool)
        while changed.any():
            before, changed = changed, np.zeros(len(rows), bool)
            for shift in (-1, 1):
                neighbour = np.clip(order + shift, 0, len(rows) - 1)
                again = np.flatnonzero(before[neighbour] & (error > NEIGHBOUR_RATIO * error[neighbour]))
                if not len(again):
                    continue
                tried = self.solve(values[neighbour[again]], rows[again])
                new = self.squared_error(tried, rows[again])
                better = new < BETTER * error[again]
                values[again[better]], error[again[better]] = tried[better], new[better]
                changed[again[better]] = True
        return values

    def find_undetermined(self, values: np.ndarray, rows: np.ndarray) -> tuple[str, ...]:
        """Coordinates that move no marker at values (1, C) in a frame (1,)."""
        moved = np.abs(self._jacobian(values)[0]).max(axis=(0, 1)) > STEP
        return tuple(name for name, moves in zip(self.free, moved) if not moves)

    def _jacobian(self, values: np.ndarray) -> np.ndarray:
        """Derivatives (n, M, 3, C) [m/rad or m/m] of the markers' positions."""
        found = self.all_values(values)
        poses = body_poses(self.model, found)
        positions = self._positions(poses)
        result = np.zeros((*positions.shape, len(self.free)))
        for k, name in enumerate(self.free):
            result[..., k] = self._marker_velocities(name, found, poses, positions)
        for coupling in self._followers.values():
            own = self._marker_velocities(coupling.dependent, found, poses, positions)
            for name in coupling.independent:
                if name in self.free:
                    result[..., self.free.index(name)] += _slope(coupling, found, name)[:, None, None] * own
        return result

    def _marker_velocities(
        self, name: str, found: Mapping[str, np.ndarray], poses: BodyPoses, positions: np.ndarray
    ) -> np.ndarray:
        """(n, M, 3) velocities of the markers per unit rate of one coordinate alone."""
        joint, result = self._joints[name], np.zeros_like(positions)
        moved = self._moved[joint.name]
        if moved.any():
            base = poses.rotations[joint.parent.body]
            omega, speed = (np.einsum("nij,nj->ni", base, each) for each in unit_motion(joint, found, name))
            arms = positions[:, moved] - poses.positions[joint.child.body][:, None]
            result[:, moved] = speed[:, None] + np.cross(omega[:, None], arms)
        return result


def _follow(coupling: Coupling, values: Mapping[str, np.ndarray]) -> np.ndarray:
    given = np.column_stack([values[name] for name in coupling.independent])
    return np.asarray(coupling.scale * np.asarray(coupling.function.evaluate(given)))


def _slope(coupling: Coupling, values: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    before, after = (_follow(coupling, {**values, name: values[name] + step}) for step in (-STEP, STEP))
    return np.asarray((after - before) / (2.0 * STEP))


def _spans_plane(points: np.ndarray) -> bool:
    if len(points) < MIN_ROOT_MARKERS:
        return False
    return bool(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1] > MIN_SPREAD)
