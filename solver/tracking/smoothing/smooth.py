"""Smooths the motion of a whole recording: least squares over all frames, started from the tracked motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.linalg.lapack import dpbsv

from ...base.errors import BackendError, InvalidValue, checked
from ...dynamics import integrate
from ...dynamics.coordinates import continuous_quaternions
from ...signals import rate_of_grid, uniform_times
from ...skeleton.rig import Rig
from ..inverse_kinematics import InverseKinematics
from ..joint_limits import LimitStops
from ..options import TrackingOptions
from ..tasks import Targets, TargetSample, fade_weights
from ..track import TrackedMotion, manifold_velocities
from .curves import Curve, com_curve, joint_curves, observed_coordinates, retract
from .noise import difference_stiffness, estimate_measurement_noise, estimate_process_noise

MIN_FRAMES = 12
"""Fewest frames of a motion whose process noise can be estimated."""
DAMPING = 1e-9
"""[m^2] Replaces the tracker's: neighbouring frames determine what no marker observes."""
POSTURE_TIME = 0.02
"""[s] In which the posture task of several frames counts once. It is not a measurement: counted in every frame it
outweighs what many frames together observe of a joint that each observes badly, such as the rotation of a hand with two
markers. On simulated truth (DJ2, walkingTI1, STS1, run300, subject_b's run) 0.1 would be best, on hidden markers of
real trials, whose errors last from frame to frame, 0.01."""
UNTRACKED_VARIANCE_FACTOR = 1e4
"""Factor on the variance of frames that were not tracked: their pose is a start, not a measurement."""
ORDER, COM_ORDER = 3, 4
"""Order of the derivative of every joint's motion, and of the centre of mass's, that is modelled as white noise; 3 is
jerk. These and the next four were chosen on runs and walks, none on the drop jumps used for evaluation."""
WINDOW, NOISE_WINDOW = 0.06, 0.1
"""[s] Standard deviation of the Gaussian average of that noise's variance, short enough for a landing to be rougher
than the flight before it; and of the measurement noise's."""
BAND = (4.0, 15.0)
"""[Hz] in which the residuals of the rigid body are taken for measurement noise: above most of the marker error, below
the noise of cameras. In this band the smoother must separate skin from body."""
ITERATIONS = 4
"""Most Gauss-Newton steps."""
TOLERANCE = 3e-3
"""[rad, m] Largest change at which it has converged."""
FRAMES_PER_BLOCK, MARGIN_FRAMES = 800, 100
"""Frames solved together, and frames beside them: those further away have no influence, and memory stays constant."""


@checked
def smooth(rig: Rig, targets: Targets, tracked: TrackedMotion) -> TrackedMotion:
    """The most likely motion of a recording: the tracked motion with less marker noise and skin motion.

    Minimised over all frames together: marker errors over their noise, and the differences of the joints' motion (and
    of the centre of mass's) over their process noise. Both noises are estimated from the recording itself, as functions
    of time. Missing markers have no weight; joints stay within their limits.

    Args:
        rig: that was tracked.
        targets: that were tracked.
        tracked: result of `track_markers` or `track_targets`.

    Returns:
        The recording with q, v and errors of the smoothed motion; unchanged, with a warning, if it is too short, if its
        frames are not evenly spaced, or if its equations cannot be solved.

    Raises:
        InvalidValue: the motion has another number of frames than the targets.

    Example:
        >>> import numpy as np, solver
        >>> rig, draw = solver.hoap3(), np.random.default_rng(0)
        >>> corners = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # [m] of markers on the base link
        >>> attachment = solver.tracking.Attachment
        >>> attachments = [attachment(f"M{k}", rig.links[0], corner) for k, corner in enumerate(corners)]
        >>> path = np.linspace([0.0, 0.0, 0.0], [0.1, 0.0, 0.0], 50)  # [m] the body glides forwards
        >>> seen = path[:, None] + corners + 0.001 * draw.standard_normal((50, 4, 3))
        >>> markers = solver.Markers(np.arange(50) / 100.0, ("M0", "M1", "M2", "M3"), seen)
        >>> tracked = solver.tracking.track_markers(rig, attachments, markers)
        >>> targets = solver.tracking.Targets.from_markers(rig, attachments, markers)
        >>> smoothed = solver.tracking.smooth(rig, targets, tracked)
        >>> bool(np.abs(smoothed.q[:, :3] - path).mean() < 0.5 * np.abs(tracked.q[:, :3] - path).mean())
        True
    """
    if len(targets) != len(tracked):
        raise InvalidValue(f"the targets have {len(targets)} frames, the tracked motion {len(tracked)}")
    grid, even = uniform_times(targets.times)
    if len(grid) < MIN_FRAMES or not even:
        why = "its frames are not evenly spaced" if not even else f"it has fewer than {MIN_FRAMES} frames"
        return _return_unsmoothed(tracked, why)
    problem = _Problem(rig, targets, tracked.is_tracked, rate_of_grid(grid))
    try:
        result = _smooth_blocks(problem, continuous_quaternions(rig, tracked.q))
    except BackendError as error:
        return _return_unsmoothed(tracked, str(error))
    rest = problem.point_residuals(result)
    errors = np.linalg.norm(rest, axis=2)
    errors[~tracked.is_tracked] = np.nan
    velocities = manifold_velocities(rig, targets.times, result)
    return replace(tracked, q=result, v=velocities, errors=errors)


def _return_unsmoothed(tracked: TrackedMotion, why: str) -> TrackedMotion:
    return replace(tracked, warnings=(*tracked.warnings, f"not smoothed: {why}"))


def _smooth_blocks(problem: _Problem, q: np.ndarray) -> np.ndarray:
    """Smoothed configurations of a whole recording (N, nq).

    Raises:
        BackendError: the equations of one block cannot be solved.
    """
    result = q.copy()
    for start in range(0, len(q), FRAMES_PER_BLOCK):
        stop = min(start + FRAMES_PER_BLOCK, len(q))
        first, last = max(start - MARGIN_FRAMES, 0), min(stop + MARGIN_FRAMES, len(q))
        if last == len(q) or stop == len(q):
            stop = last = len(q)
        try:
            result[start:stop] = problem.solve(q[first:last], first)[start - first : stop - first]
        except (BackendError, np.linalg.LinAlgError) as error:
            raise BackendError(f"frames {first} to {last - 1}: {error}") from error
        if stop == len(q):
            break
    return result


class _Problem:
    """Measurements and prior of a recording."""

    def __init__(self, rig: Rig, targets: Targets, usable: np.ndarray, rate: float) -> None:
        self.rig, self.rate, options = rig, rate, TrackingOptions()
        self.variance_factors = np.where(usable, 1.0, UNTRACKED_VARIANCE_FACTOR)
        posture_weight = options.posture_weight * min(1.0, 1.0 / (rate * POSTURE_TIME))
        self.engine = InverseKinematics(
            rig, targets.tasks, replace(options, damping=DAMPING, posture_weight=posture_weight)
        )
        self.stops = LimitStops(rig)
        self.weight_factors = None
        """(N, P) factor on the weight of each point near its gaps."""
        if targets.positions is not None:
            self.weight_factors = fade_weights(targets.times, targets.positions.positions, options.fade_time)
        shares = self.weight_factors
        self.samples = [targets.sample(k, None if shares is None else shares[k]) for k in range(len(targets))]
        self.has_mass = rig.prior.total_mass > 0.0
        self.observed = observed_coordinates(rig, targets)
        """(nv,) Observed coordinates. Others, as of a head without markers, would move to smooth the centre of mass."""

    def solve(self, q: np.ndarray, first: int) -> np.ndarray:
        """Smoothed configurations of the frames (N, nq) from frame ``first`` on."""
        samples = self.samples[first : first + len(q)]
        hessian, gradient = self._normal_equations(q, samples)
        noise = estimate_measurement_noise(self._residuals(q, first), self.rig.nv, self.rate, BAND, NOISE_WINDOW)
        variance = noise**2 * self.variance_factors[first : first + len(q)]
        prior = self._prior(q, np.linalg.inv(hessian) * variance[:, None, None])
        for step in range(ITERATIONS):
            if step:
                hessian, gradient = self._normal_equations(q, samples)
            hessian /= noise[:, None, None] ** 2
            gradient /= noise[:, None] ** 2
            if self.stops.has_limits:
                self.stops.add(q, hessian, gradient)
            change = retract(self.rig, self._step(q, hessian, gradient, prior))
            q = continuous_quaternions(self.rig, integrate(self.rig, q, change))
            if np.abs(change).max() < TOLERANCE:
                break
        return self.stops.clamp(q) if self.stops.has_limits else q

    def point_residuals(self, q: np.ndarray, first: int = 0) -> np.ndarray:
        """Measured minus modelled points (N, P, 3) [m]; NaN where not measured."""
        engine = self.engine
        if engine.points is None:
            return np.zeros((len(q), 0, 3))
        result = np.empty((len(q), len(engine.points.names), 3))
        for k, sample in enumerate(self.samples[first : first + len(q)]):
            engine.kinematics.update_positions(q[k])
            result[k] = engine.position_residuals(sample)
        return result

    def _normal_equations(self, q: np.ndarray, samples: list[TargetSample]) -> tuple[np.ndarray, np.ndarray]:
        """J'WJ (N, nv, nv) and J'Wr (N, nv) of every frame by itself."""
        hessian, gradient = np.empty((len(q), self.rig.nv, self.rig.nv)), np.empty((len(q), self.rig.nv))
        for k, sample in enumerate(samples):
            hessian[k], gradient[k] = self.engine.normal_equations(q[k], sample)
        return hessian, gradient

    def _residuals(self, q: np.ndarray, first: int) -> np.ndarray:
        """Measured minus modelled (N, R) [m], an orientation's with its weight; NaN where not measured."""
        engine, parts = self.engine, []
        if engine.points is not None:
            parts.append(self.point_residuals(q, first)[:, engine.points.weights > 0.0].reshape(len(q), -1))
        if engine.orientations is not None:
            rotations = np.empty((len(q), len(engine.orientations.names), 3))
            for k, sample in enumerate(self.samples[first : first + len(q)]):
                engine.kinematics.update_positions(q[k])
                rotations[k] = engine.rotation_residuals(sample)
            parts.append((np.sqrt(engine.orientations.weights)[:, None] * rotations).reshape(len(q), -1))
        return np.concatenate(parts, axis=1)

    def _prior(self, q: np.ndarray, covariance: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Order and stiffness (order + 1, N) of every curve, from the covariance (N, nv, nv) of single frames."""
        curves = self._curves(q)
        noises = [_curve_noise(curve, covariance) for curve in curves]
        joints = len(curves) - self.has_mass
        variances = estimate_process_noise(
            [c.values for c in curves[:joints]], noises[:joints], ORDER, self.rate, WINDOW
        )
        prior = [(ORDER, difference_stiffness(own, ORDER)) for own in variances]
        if self.has_mass:
            own = estimate_process_noise([curves[-1].values], noises[-1:], COM_ORDER, self.rate, WINDOW)
            prior.append((COM_ORDER, difference_stiffness(own[0], COM_ORDER)))
        return prior

    def _curves(self, q: np.ndarray) -> list[Curve]:
        """Curves that are smooth: the joints', and the centre of mass's as the last."""
        return joint_curves(self.rig, q) + ([com_curve(self.rig, q, self.observed)] if self.has_mass else [])

    def _step(
        self, q: np.ndarray, hessian: np.ndarray, gradient: np.ndarray, prior: list[tuple[int, np.ndarray]]
    ) -> np.ndarray:
        """Gauss-Newton step (N, nv) of measurements and prior together."""
        band = BlockBand(len(q), self.rig.nv, max(order for order, _ in prior))
        band.add(0, hessian)
        right = gradient.copy()
        for curve, (order, own) in zip(self._curves(q), prior):
            force = own[0][:, None] * curve.values
            for lag in range(order + 1):
                values, count = own[lag], len(q) - lag
                if lag:
                    force[:count] += values[:count, None] * curve.values[lag:]
                    force[lag:] += values[:count, None] * curve.values[:count]
                block = (values[:count, None, None] * curve.derivatives[lag:]).swapaxes(1, 2) @ curve.derivatives[
                    :count
                ]
                band.add(lag, block, curve.columns)
            right[:, curve.columns] -= (curve.derivatives.swapaxes(1, 2) @ force[:, :, None])[:, :, 0]
        return band.solve(right)


def _curve_noise(curve: Curve, covariance: np.ndarray) -> np.ndarray:
    """Variance (N,) of one component of a curve from each frame alone."""
    own = covariance[:, curve.columns, curve.columns]
    # frames n, components c, tangent coordinates i and j
    total = np.einsum("nci,nij,ncj->n", curve.derivatives, own, curve.derivatives, optimize=True)
    return np.asarray(total) / curve.values.shape[1]


class BlockBand:
    """Symmetric matrix of N x N blocks of n x n numbers that are zero more than ``reach`` blocks from the diagonal.

    Stored as the lower triangle in LAPACK's band order, so that its Cholesky factor costs N n^3 reach^2 operations.
    """

    def __init__(self, count: int, size: int, reach: int) -> None:
        self.count, self.size, self.reach = count, size, reach
        self._width = (reach + 1) * size
        self._values = np.zeros((count * size, self._width))  # a row is a column of the matrix, from the diagonal down

    def add(self, lag: int, blocks: np.ndarray, columns: slice | None = None) -> None:
        """Adds blocks (N - lag, m, m) at ``lag`` blocks below the diagonal, in rows and columns ``columns`` of each n x
        n block.

        On the diagonal only the lower triangle is used.
        """
        start = 0 if columns is None else columns.start
        inner = blocks.shape[1]
        step = self._values.itemsize
        first = start * (self._width - 1) + lag * self.size + start
        view = as_strided(
            self._values.reshape(-1)[first:],
            (self.count - lag, inner, inner),
            (self.size * self._width * step, (self._width - 1) * step, step),
        )
        view += (np.tril(blocks) if lag == 0 else blocks).swapaxes(1, 2)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x (N, n) with A x = right (N, n); destroys the matrix.

        Raises:
            BackendError: it is not positive definite, or contains values that are not finite.
        """
        _, x, failed = dpbsv(self._values.T, right.reshape(-1), lower=1, overwrite_ab=1)
        if failed:
            raise BackendError(
                f"the normal equations are not positive definite at frame {(failed - 1) // self.size} of the block"
            )
        result = np.asarray(x).reshape(right.shape)
        if not np.isfinite(result).all():  # LAPACK does not check for NaN
            raise BackendError("the normal equations hold values that are not finite")
        return result
