"""Checks of a tracked recording: jumping and flickering markers, unseen links, undetermined orientations, body size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import list_names
from ..signals.gaps import LONGEST_GAP
from ..skeleton.rig import Rig
from .kinematics import Kinematics
from .posture import Posture
from .tasks import PositionTask

MAX_SKIN_SPEED = 3.0
"""[m/s] Highest speed of a marker relative to its link, landings included."""
MIN_JUMP = 0.02
"""[m]"""
MIN_SLIP, MAX_CLUSTER_SPEED = 0.012, 1.2
"""[m] and [m/s] Third largest step of a link's markers against the body from which they slipped together. A cluster
that slips by 40 mm takes its link along and steps by 23 to 31 mm; in 16 recordings of five people no cluster steps by
more than 6 mm in 10 ms, landings included."""
MIN_CLUSTER = 3
"""Least number of markers of a link that step."""
FLICKER_RATE = 2.0
"""[1/s] Gaps per second beyond which a marker flickers."""
SKIN_STD = 0.01
"""[m] Movement of markers over the skin: the usual residual of tracked people."""
MAX_ORIENTATION_STD = 0.08
"""[rad] Standard deviation above which an orientation is undetermined; 0.04 for a pelvis of three or four markers."""
MIN_STD_RATIO = 2.0
"""Smallest ratio of a reported standard deviation to that with all markers: hands and heads without any are not
reported."""
CHECKS_PER_GAP = 2
"""Number of checks within a gap that is too long."""


@dataclass(frozen=True, slots=True)
class MarkerFaults:
    """Suspicious markers of a recording.

    Attributes:
        jumps: (marker, frames) of single-frame jumps against the link.
        flicker: (marker, gaps) of markers that come and go.
        slips: (link, time [s]) of clusters that step against the body.
    """

    jumps: tuple[tuple[str, int], ...] = ()
    flicker: tuple[tuple[str, int], ...] = ()
    slips: tuple[tuple[str, float], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each kind of fault."""
        result = []
        if self.jumps:
            listed = list_names(f"{name} ({n})" for name, n in self.jumps)
            result.append(f"markers that jump against their link: {listed}")
        if self.flicker:
            listed = list_names(f"{name} ({n} gaps)" for name, n in self.flicker)
            result.append(f"markers that flicker: {listed}")
        if self.slips:
            listed = list_names(f"{link} at {time:.2f} s" for link, time in self.slips)
            result.append(
                f"the markers of a link step together against the body, as a cluster does that slips: {listed}; the "
                "pose of the link is wrong before or after"
            )
        return tuple(result)


class FaultCounter:
    """Counts the faults of M markers, block by block of a recording.

    Args:
        names: of the markers.
        links: (M,) name of each one's link.
    """

    def __init__(self, names: tuple[str, ...], links: Sequence[str]) -> None:
        self._names, self._slips = names, list[tuple[str, float]]()
        owners = np.array(links)
        self._clusters = {link: own for link in dict.fromkeys(links) if (own := owners == link).sum() >= MIN_CLUSTER}
        self._jumps, self._gaps = np.zeros((2, len(names)), int)
        self._first: float | None = None
        self._time, self._last_residuals = 0.0, np.zeros((0, len(names), 3))

    def add(self, times: np.ndarray, residuals: np.ndarray) -> None:
        """Adds the next frames.

        Args:
            times: (n,) [s].
            residuals: (n, M, 3) [m] measured minus modelled positions, world; NaN where not seen.
        """
        if self._first is None:
            self._first = float(times[0])
        else:
            times, residuals = np.append(self._time, times), np.concatenate([self._last_residuals, residuals])
        steps = np.linalg.norm(np.diff(residuals, axis=0), axis=2)
        self._jumps += (steps > np.maximum(MIN_JUMP, MAX_SKIN_SPEED * np.diff(times))[:, None]).sum(axis=0)
        self._find_slips(times, steps)
        seen = np.isfinite(residuals[:, :, 0])
        self._gaps += (seen[:-1] & ~seen[1:]).sum(axis=0)
        self._time, self._last_residuals = float(times[-1]), residuals[-1:]

    def _find_slips(self, times: np.ndarray, steps: np.ndarray) -> None:
        if not self._clusters:
            return
        steps = np.nan_to_num(steps, nan=-1.0)
        middle = np.array([np.sort(steps[:, own], axis=1)[:, -MIN_CLUSTER] for own in self._clusters.values()])
        largest = middle.argmax(axis=0)
        limit = np.maximum(MIN_SLIP, MAX_CLUSTER_SPEED * np.diff(times))
        for frame in np.flatnonzero(middle.max(axis=0) > limit):
            self._slips.append((list(self._clusters)[largest[frame]], float(times[frame + 1])))

    @property
    def faults(self) -> MarkerFaults:
        """Of all frames added."""
        limit = max(3.0, FLICKER_RATE * (self._time - (self._first or 0.0)))
        return MarkerFaults(self._list_above(self._jumps, 0.0), self._list_above(self._gaps, limit), tuple(self._slips))

    def _list_above(self, counts: np.ndarray, limit: float) -> tuple[tuple[str, int], ...]:
        return tuple((self._names[k], int(counts[k])) for k in np.argsort(-counts) if counts[k] > limit)


def warn_of_unrecorded_links(rig: Rig, attached: np.ndarray, recorded: np.ndarray) -> tuple[str, ...]:
    """Warning about links that have no recorded marker, neither themselves nor on the links below them.

    Args:
        rig: whose links.
        attached: (A,) index of the link of each marker of the body.
        recorded: (M,) of those that the recording has.
    """
    has_attached, has_recorded = (rig.descendants[:, links].any(axis=1) for links in (attached, recorded))
    is_unrecorded = has_attached & ~has_recorded
    tops = [
        rig.links[k] for k in np.flatnonzero(is_unrecorded) if rig.parents[k] < 0 or not is_unrecorded[rig.parents[k]]
    ]
    if not tops:
        return ()
    return (
        f"no attached marker on {', '.join(tops)}, or on the links below, was recorded: their pose is not determined",
    )


class UnseenLinks:
    """Finds links of which no marker is seen for long, neither on them nor on the links below, block by block.

    The position of a link is observed by markers on it or on the links below. Without any for longer than a spline may
    bridge, the pose is the one that disturbs the others least.

    Args:
        rig: whose links.
        links: (M,) index of the link of each marker.
    """

    def __init__(self, rig: Rig, links: np.ndarray) -> None:
        self._rig = rig
        self._observes = rig.descendants[:, links].T  # (M, L) True where a marker observes the position of a link
        self._last = np.full(len(rig.links), -np.inf)
        self._longest, self._since = np.zeros((2, len(rig.links)))

    def add(self, times: np.ndarray, seen: np.ndarray, usable: np.ndarray) -> None:
        """Adds the next frames.

        Args:
            times: (n,) [s].
            seen: (n, M) True where a marker is seen.
            usable: (n,) True in frames that can be tracked; the others have a warning of their own.
        """
        is_observed = (seen.astype(float) @ self._observes > 0.0) | ~usable[:, None] | ~self._observes.any(axis=0)
        self._last = np.where(np.isneginf(self._last), times[0], self._last)
        stamps = np.where(is_observed, times[:, None], -np.inf)
        last = np.maximum.accumulate(np.concatenate([self._last[None], stamps]), axis=0)[1:]
        gaps = times[:, None] - last
        frame, every = gaps.argmax(axis=0), np.arange(gaps.shape[1])
        longer = gaps[frame, every] > self._longest
        self._longest[longer], self._since[longer] = gaps[frame, every][longer], last[frame, every][longer]
        self._last = last[-1]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence about links whose parents are seen."""
        long = self._longest > LONGEST_GAP
        tops = [k for k in np.flatnonzero(long) if self._rig.parents[k] < 0 or not long[self._rig.parents[k]]]
        if not tops:
            return ()
        worst = max(tops, key=lambda k: float(self._longest[k]))
        listed = ", ".join(self._rig.links[k] for k in tops)
        return (
            f"no marker is seen on {listed}, or on the links below, for up to {self._longest[worst]:.2f} s "
            f"(after {self._since[worst]:.3f} s): their pose is not determined there",
        )


def orientation_std(kinematics: Kinematics, q: np.ndarray, links: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Standard deviation (L,) [rad] of the orientation of every link in a posture.

    Markers that move over the skin with a standard deviation s give the tangent coordinates x the covariance C = s^2
    (J'J + s^2 1)^-1, with J the seen markers' Jacobian; an unobserved coordinate has a standard deviation of one radian
    or metre. A link's orientation has the covariance A C A', with A its angular Jacobian. The result is the root of its
    largest eigenvalue.

    Args:
        kinematics: of the rig.
        q: (nq,).
        links, offsets: (M,), (M, 3) [m] of the markers that are seen, on their links.
    """
    kinematics.update_kinematics(q)
    jacobian = kinematics.point_jacobians(links, kinematics.points(links, offsets))
    jacobian = jacobian.reshape(-1, jacobian.shape[2])
    covariance = SKIN_STD**2 * np.linalg.inv(jacobian.T @ jacobian + SKIN_STD**2 * np.eye(jacobian.shape[1]))
    angular = kinematics.jacobian[3:] * kinematics.moved_by[:, None]
    return np.asarray(np.sqrt(np.linalg.eigvalsh(angular @ covariance @ angular.swapaxes(1, 2))[:, -1]))


class UndeterminedLinks:
    """Finds links whose orientation is undetermined for longer than a spline may bridge, block by block.

    Args:
        rig: whose links.
        task: the markers that are tracked.
    """

    def __init__(self, rig: Rig, task: PositionTask) -> None:
        self._rig, self._task, self._tree = rig, task, Kinematics(rig)
        self._observes = rig.descendants[:, task.links].T
        self._cached_stds: dict[bytes, np.ndarray] = {}
        self._next = -np.inf
        self._since = np.full(len(rig.links), np.nan)
        self._longest, self._worst, self._first = (np.zeros(len(rig.links)) for _ in range(3))

    def add(self, times: np.ndarray, seen: np.ndarray, usable: np.ndarray, q: np.ndarray) -> None:
        """Adds the next frames.

        Args:
            times: (n,) [s].
            seen: (n, M) True where a marker is seen.
            usable: (n,) True in frames that can be tracked; the others have a warning of their own.
            q: (n, nq) as tracked.
        """
        for time, own, good, posture in zip(times, seen, usable, q):
            if time < self._next:
                continue
            self._next = time + LONGEST_GAP / CHECKS_PER_GAP
            std = self._orientation_std(own, posture) if good else np.zeros(len(self._since))
            usual = self._orientation_std(np.ones_like(own), posture)
            is_undetermined = (
                (std > MAX_ORIENTATION_STD) & (std > MIN_STD_RATIO * usual) & (own.astype(float) @ self._observes > 0.0)
            )
            self._since = np.where(is_undetermined, np.where(np.isnan(self._since), time, self._since), np.nan)
            lasts = np.nan_to_num(time - self._since)
            self._worst = np.where(is_undetermined, np.maximum(self._worst, std), self._worst)
            longer = lasts > self._longest
            self._longest[longer], self._first[longer] = lasts[longer], self._since[longer]

    def _orientation_std(self, seen: np.ndarray, q: np.ndarray) -> np.ndarray:
        """(L,) [rad] with some of the markers (M,), in the posture in which this set was seen first."""
        seen = seen & (self._task.weights > 0.0)
        key = seen.tobytes()
        if key not in self._cached_stds:
            links, offsets = self._task.links[seen], self._task.offsets[seen]
            self._cached_stds[key] = orientation_std(self._tree, q, links, offsets)
        return self._cached_stds[key]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for all links."""
        long = np.flatnonzero(self._longest > LONGEST_GAP)
        if not len(long):
            return ()
        worst = long[np.argmax(self._longest[long])]
        listed = ", ".join(self._rig.links[k] for k in long)
        return (
            f"too few markers determine the rotation of {listed}, for up to {self._longest[worst]:.2f} s (after "
            f"{self._first[worst]:.3f} s): standard deviation up to {self._worst[long].max():.2f} rad",
        )


def estimate_size_ratio(
    kinematics: Kinematics,
    posture: Posture,
    links: np.ndarray,
    offsets: np.ndarray,
    frames: np.ndarray,
    configurations: np.ndarray,
) -> float:
    """Ratio of the recorded body's size to the rig's (1: the same), all lengths together.

    One Gauss-Newton step of a common scale factor with the pose eliminated, in each frame; the result is the median.

    Args:
        kinematics, posture: of the rig.
        links, offsets: (P,), (P, 3) [m] the markers' links and locations.
        frames: (F, P, 3) [m] world; NaN where not seen.
        configurations: (F, nq) tracked.
    """
    factors = []
    for positions, q in zip(frames, configurations):
        kinematics.update_kinematics(q)
        points = kinematics.points(links, offsets)
        seen = np.isfinite(positions[:, 0])
        if not seen.any():
            continue
        jacobian = kinematics.point_jacobians(links, points)[seen].reshape(3 * int(seen.sum()), -1)
        outwards = (points - kinematics.positions[0])[seen].reshape(-1)
        residual = (positions - points)[seen].reshape(-1)
        hessian, gradient = jacobian.T @ jacobian, jacobian.T @ residual
        posture.add(q, 1e-4, hessian, gradient)
        hessian[np.diag_indices_from(hessian)] += 1e-6
        cross = jacobian.T @ outwards
        solved = np.linalg.solve(hessian, np.column_stack([cross, gradient]))
        own = outwards @ outwards - cross @ solved[:, 0]
        if own > 0.0:
            factors.append((outwards @ residual - cross @ solved[:, 1]) / own)
    return float(1.0 + np.median(factors)) if factors else 1.0
