"""How much of a motion is believed at which frequency, judged by the plates.

The noise of a tracked motion is not white: skin that swings and a skeleton that does not quite fit put strong false
accelerations between 3 and 10 Hz into it, where the body itself hardly moves. The motion alone cannot tell them from
the truth; the plates, whose noise is smaller by far, can. The markers of a trunk swing otherwise than those of a shank,
sideways otherwise than up: the gain of each band is learnt by region of the body and by axis, on the trials that the
parameters were fitted to, and then holds for any other. Gains never grow with frequency, so that a mixture of
low-passes makes what is believed, and the likeliest mixture is a convex programme. What is measured keeps its band, so
that nothing is gained by hiding it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..errors import BackendError
from ..inertials import InertialParameters
from ..qp import Problem, Rows, Status, solve
from ..rig import Rig
from ..signals import is_still, rate_of_grid
from ..trial import Trial
from .blocks import AXES
from .equations import measured_wrench, moved_here, shares_of_links, up_to
from .giving import likeliest, tells, wrenches_of_shares
from .parts import Part, parts_of
from .regions import regions
from .trust import HALF, Trust

SHARES = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Cut-offs that are tried, of the trial's own; besides, none at all."""
EXACT = 1e-6
"""Share of what was measured below which an error of the reconstruction is rounding."""
DOUBT = 0.003
"""What the square of a gain's distance from 1 costs, in shares of what a wholly believed motion leaves unexplained.
Chosen on runs of two recordings, on which .001 and .01 explain unseen wrenches 1 to 2 % worse."""
LEFT = 1e-3
"""Share of the error of a wholly believed motion below which what gains leave is taken for rounding."""
TOLERANCE = 1e-9
NEGLIGIBLE = 1e-4
"""A gain this near to 0 or 1 is that, but for the solver's tolerance."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """What several bodies leave unexplained of several trials, whatever is believed of each region of the body.

    The error is the wrench measured less one share of each region, each through filters of its own: a square of
    what is filtered, so that a Gram matrix tells it for every mixture.

    Attributes:
        links: L, the number of links.
        regions: places of the links of each, R of them.
        tried: of each trial (C,) [Hz] cut-offs, the last infinite; none of a trial that tells nothing.
        grams: of each trial (K, 6, R C + 1 + E, R C + 1 + E) mean products, of K bodies, of what the regions need
            through each cut-off (the cut-off varying fastest), of what was measured, and of what E = 3 L shares of the
            links' own markers add (`giving`; E = 0 where no markers tell), over the error of the last cut-offs.
        counts: of each trial, how many independent numbers its frames are.
    """

    links: int
    regions: tuple[np.ndarray, ...]
    tried: tuple[np.ndarray, ...]
    grams: tuple[np.ndarray, ...]
    counts: tuple[float, ...]

    @staticmethod
    def of(rig: Rig, trials: Sequence[Trial], bodies: Sequence[InertialParameters], base: int | str = 0) -> Doubts:
        """Each trial's motion is gone through once, for all bodies and cut-offs.

        Args:
            rig: that moved.
            trials: to learn from.
            bodies: parameters of the rig's links.
            base: base link, about whose origin the moments are taken.
        """
        parts = tuple(regions(rig).values())
        found = [_left(rig, trial, bodies, parts, base) for trial in trials]
        counts = tuple(_independent(trial) for trial in trials)
        return Doubts(len(rig.links), parts, tuple(cutoffs for cutoffs, _ in found), tuple(g for _, g in found), counts)

    def gains(self, body: int = 0, trials: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Bands (C,) [Hz], and the gains (L, 6, C) by link, axis and band of what its motion needs, that explain best.

        Every trial weighs alike, still ones nothing; the whole band of the trials' own filter is believed where
        nothing tells. As `Trust` has them.

        Args:
            body: which of the bodies.
            trials: places of the trials to learn from, those that the body was fitted to; all by default.
        """
        chosen = self._alike(trials)
        if not chosen:
            return np.array([np.inf]), np.ones((self.links, AXES, 1))
        bands, size = self.tried[chosen[0]], self._size(chosen[0])
        result = np.ones((self.links, AXES, len(bands)))
        grams = np.sum([self.grams[k][body][:, :size, :size] for k in chosen], axis=0)
        whole = self._rest(bands, Trust(bands, result), 0)
        for axis in np.flatnonzero(np.isfinite(grams).all(axis=(1, 2))):
            if whole @ grams[axis] @ whole < HALF * len(chosen):
                continue  # what is left is rounding
            found = likeliest_gains(grams[axis], len(self.regions), DOUBT * len(chosen))
            for links, gains in zip(self.regions, found):
                result[links, axis] = gains
        return bands, result

    def trust(self, body: int = 0, trials: Sequence[int] | None = None) -> Trust:
        """`gains`, then the `shares` that go with them."""
        bands, gains = self.gains(body, trials)
        return Trust(bands, gains, self.shares(Trust(bands, gains), body, trials))

    def shares(self, believed: Trust, body: int = 0, trials: Sequence[int] | None = None) -> np.ndarray | None:
        """Shares (L, 3) of what a link's own markers do that explain best what such a trust leaves (`giving`).

        Every trial weighs alike, and as all of them do together. None where no markers tell.

        Args:
            believed: in the bands that were tried, alike in each region, as `gains` found it.
            body: which of the bodies.
            trials: places of the trials to learn from; all by default.
        """
        told = [k for k in self._alike(trials) if self.grams[k].shape[-1] > self._size(k)]
        if not told:
            return None
        weight = float(np.mean([self.counts[k] for k in told]))
        own = against = np.zeros(())
        for k in told:
            size = self._size(k)
            for axis in np.flatnonzero(np.isfinite(self.grams[k][body]).all(axis=(1, 2))):
                gram = self.grams[k][body, axis]
                rest = self._rest(self.tried[k], believed, axis)
                error = max(float(rest @ gram[:size, :size] @ rest), LEFT)
                own = own + weight / error * gram[size:, size:]
                against = against + weight / error * gram[size:, :size] @ rest
        return likeliest(own, against).reshape(self.links, -1) if own.ndim else None

    def _alike(self, trials: Sequence[int] | None) -> list[int]:
        """Places of those trials that tell something; none if their bands differ, with no cut-off in common."""
        chosen = [k for k in (range(len(self.tried)) if trials is None else trials) if len(self.tried[k])]
        return chosen if all(np.array_equal(self.tried[k], self.tried[chosen[0]]) for k in chosen) else []

    def _size(self, trial: int) -> int:
        return len(self.regions) * len(self.tried[trial]) + 1

    def _rest(self, tried: np.ndarray, believed: Trust, axis: int) -> np.ndarray:
        """(R C + 1,) by which a Gram matrix's parts make the error that a trust leaves on an axis."""
        result = np.zeros((len(self.regions), len(tried)))
        places = np.searchsorted(tried, believed.bands)
        for region, links in enumerate(self.regions):
            result[region, places] = -believed.weights[links[0], axis]
        return np.append(result.reshape(-1), 1.0)


def _independent(trial: Trial) -> float:
    """How many independent numbers the frames that count are on each axis: two for each period of the cut-off."""
    if trial.preset is None:
        return float(trial.counted.sum())
    return float(trial.counted.sum()) * min(1.0, 2.0 * trial.preset.cutoff / rate_of_grid(trial.motion.times))


def told(rig: Rig, believed: Trust) -> str:
    """Frequencies up to which half of the motion is believed, in words, region by region; empty where all of it is."""
    names = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    said = []
    for name, links in regions(rig).items():
        cutoffs = believed.cutoffs[links[0]]
        doubted = [f"{axis} {cutoff:.2g} Hz" for axis, cutoff in zip(names, cutoffs) if np.isfinite(cutoff)]
        said += [f"{name} {', '.join(doubted)}"] if doubted else []
    return "; ".join(said)


def likeliest_gains(gram: np.ndarray, count: int, doubt: float) -> np.ndarray:
    """Gains (R, C) in [0, 1], never growing with frequency and 1 in the lowest band, that leave the least error.

    Every gain is drawn towards 1 by ``doubt`` times the square of what it lacks.

    Args:
        gram: (R C + 1, R C + 1) of one axis, as `Doubts.grams`.
        count: R regions.
        doubt: see there.
    """
    bands = (len(gram) - 1) // count
    free = bands - 1
    # low-passes weigh by differences of gains: weights = lowest + lift @ gains above the lowest band
    lift = np.kron(np.eye(count), np.eye(bands, free, -1) - np.eye(bands, free))
    lowest = np.tile(np.eye(bands)[0], count)
    own, against = gram[:-1, :-1], gram[:-1, -1]
    hessian = lift.T @ own @ lift + doubt * np.eye(count * free)
    gradient = lift.T @ (own @ lowest - against) - doubt
    falling = np.kron(np.eye(count), np.eye(free - 1, free) - np.eye(free - 1, free, 1))
    open_ended, names = np.full(len(falling), np.inf), ("no more in a higher band",) * len(falling)
    rows = Rows(sparse.csr_array(falling), np.zeros(len(falling)), open_ended, names)
    none, all_of_it = np.zeros(count * free), np.ones(count * free)
    problem = Problem.quadratic(0.5 * (hessian + hessian.T), gradient, rows=rows, lower=none, upper=all_of_it)
    solution = solve(problem, "clarabel", tolerance=TOLERANCE)
    if solution.status not in (Status.OPTIMAL, Status.INACCURATE):
        raise BackendError(
            f"{solution.backend}: {solution.message}; nothing tells how far the motion is to be believed"
        )
    gains = np.minimum.accumulate(solution.x.reshape(count, free).clip(0.0, 1.0), axis=1)
    gains[gains > 1.0 - NEGLIGIBLE], gains[gains < NEGLIGIBLE] = 1.0, 0.0
    return np.column_stack([np.ones(count), gains])


def _left(
    rig: Rig, trial: Trial, bodies: Sequence[InertialParameters], parts: Sequence[np.ndarray], base: int | str
) -> tuple[np.ndarray, np.ndarray]:
    """Cut-offs that are tried on a trial, and their Gram matrices; see `Doubts`."""
    if trial.preset is None or not trial.counted.any() or is_still(rig, trial.motion.q[trial.counted]):
        return np.zeros(0), np.zeros((len(bodies), AXES, 0, 0))
    tried = np.append(np.array(SHARES) * trial.preset.cutoff, np.inf)
    pieces = (
        _products(rig, part, bodies, parts, tried, base)
        for part in parts_of(trial, tried)
        if trial.counted[part.place].any()
    )
    products, errors = (sum(found) / trial.counted.sum() for found in zip(*pieces))
    size = len(parts) * len(tried)
    least = EXACT**2 * products[:, :, size, size] + np.finfo(float).tiny
    return tried, products / np.maximum(errors, least)[:, :, None, None]


def _products(
    rig: Rig,
    part: Part,
    bodies: Sequence[InertialParameters],
    parts: Sequence[np.ndarray],
    tried: np.ndarray,
    base: int | str,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over a part's own frames that count: the products of `Doubts.grams`, and the squares that they are over."""
    trial, counted = part.trial, np.zeros(len(part.trial.motion), bool)
    counted[part.own] = trial.counted[part.own]
    measured, whole = measured_wrench(rig, trial, base)[counted], shares_of_links(rig, trial, bodies, parts, base)
    size = len(parts) * len(tried) + 1
    added = np.zeros((len(measured), 0, AXES))
    if tells(trial):
        added = moved_here(rig, trial, wrenches_of_shares(rig, trial), base)[counted]
    products = np.empty((len(bodies), AXES, size + added.shape[1], size + added.shape[1]))
    errors = np.empty((len(bodies), AXES))
    rows = np.empty((size, len(measured)))
    for axis in range(AXES):
        shares, rows[-1] = np.ascontiguousarray(added[:, :, axis].T), measured[:, axis]
        own = shares @ shares.T
        for body in range(len(bodies)):
            for place, cutoff in enumerate(tried):
                rows[place : -1 : len(tried)] = up_to(trial, whole[:, body, :, axis], cutoff)[counted].T
            errors[body, axis] = np.sum((rows[-1] - rows[len(tried) - 1 : -1 : len(tried)].sum(axis=0)) ** 2)
            across = shares @ rows.T
            products[body, axis] = np.block([[rows @ rows.T, across.T], [across, own]])
    return products, errors
