"""Distance of a method from its targets, and of its velocities from the truth, with one setting for everything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.dynamics import difference
from solver.tracking import Targets, Tracker, TrackingOptions
from solver.tracking.kinematics import Kinematics

from ..figures.figure import Bound, Figure, at_most, missing
from ..models import HUMANS, model_file
from . import peers
from .bodies import Body, bodies, human
from .motions import SOURCES, SegmentMotion, motion, noisy, t_pose, targets

SETTLE = 50
"""Frames left out at the start, as the paper leaves out two seconds."""
TURN_NOISE, RATE_NOISE = 5e-4, 0.02
"""[rad], [rad/s] an axis, white: what a unit's filter leaves on its orientation, and its gyroscope."""
REACHABLE = 1e-6
WALKS = {"human 48": at_most(0.035), "iCub": at_most(0.06)}
"""MNTE of bodies with fewer joints than a person."""
SKIPPED = "needs the recordings, the human models, mink and DAQP"


@dataclass(frozen=True, slots=True)
class Followed:
    """Result of a method on a motion.

    Attributes:
        mnte: (16), mean over the frames.
        rate: [rad/s] root mean square error of the links' angular velocities, all three axes of a link together.
    """

    mnte: float
    rate: float


def compute_errors(body: Body, given: Targets, true_rates: np.ndarray, q: np.ndarray, v: np.ndarray) -> Followed:
    """Errors of configurations (N, nq) and velocities (N, nv) against targets and true rates (N, O, 3) [rad/s]."""
    assert given.orientations is not None
    kinematics = Kinematics(body.rig)
    columns = kinematics.moved_by[body.links].T.astype(float)
    errors, rates = [], []
    for frame in range(SETTLE, len(q)):
        kinematics.update_kinematics(q[frame])
        traces = (kinematics.rotations[body.links] * given.orientations.rotations[frame]).sum(axis=(1, 2))
        errors.append(np.mean(0.5 * (3.0 - traces)))
        omegas = (kinematics.jacobian[3:] * v[frame]) @ columns
        rates.append(np.mean(((omegas.T - true_rates[frame]) ** 2).sum(axis=1)))
    return Followed(float(np.mean(errors)), float(np.sqrt(np.mean(rates))))


def follow_with_ours(
    body: Body, given: Targets, options: TrackingOptions | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations and velocities by our tracker; its velocity is that of the step, or of the second solve."""
    tracker = Tracker(body.rig, given.tasks, options)
    steps = [tracker.step(given.sample(frame), 0.01) for frame in range(len(given))]
    return np.array([step.q for step in steps]), np.array([step.v for step in steps])


def follow_with_mink(body: Body, given: Targets, damping: float, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Configurations and velocities by mink; its velocity is that of the step."""
    found = peers.follow(body, given, start, damping, limits=bool(np.isfinite(body.rig.limits.lower).any()))
    steps = difference(body.rig, found.q[:-1], found.q[1:]) / 0.01
    return found.q, np.vstack([steps[:1], steps])


def true_rates_of_links(body: Body, seen: SegmentMotion) -> np.ndarray:
    """(N, O, 3) [rad/s] true angular velocities of the links that follow."""
    return seen.omegas[:, [seen.names.index(name) for name in body.segments]]


def accuracy_figures(data: Path, quick: bool) -> list[Figure]:
    """Orientations alone, then with measured velocities."""
    figures = []
    names = ("run",) if quick else tuple(SOURCES)
    dampings = (1e-3,) if quick else peers.DAMPINGS
    for body in bodies()[:1] if quick else bodies():
        figures.append(_exact_row(body))
        for name in names:
            seen = motion(data, name)
            if seen is None or not peers.available():
                figures += missing(_rows(body, name, None, []), SKIPPED)
                continue
            given, true = targets(body, seen), true_rates_of_links(body, seen)
            q, v = follow_with_ours(body, given, TrackingOptions.one_pass())
            found = compute_errors(body, given, true, q, v)
            peer = [
                compute_errors(body, given, true, *follow_with_mink(body, given, damping, q[0])) for damping in dampings
            ]
            figures += _rows(body, name, found, peer)
    if model_file(HUMANS[66]) is None:
        return figures
    for name in ("run",) if quick else ("walk", "run"):
        seen = motion(data, name)
        figures += _measured_rates(seen, name) if seen is not None else missing(_rate_rows(name, None, ""), SKIPPED)
    return figures


def _exact_row(body: Body) -> Figure:
    still = t_pose(body.segments)
    given = targets(body, still)
    found = compute_errors(body, given, still.omegas, *follow_with_ours(body, given))
    return Figure(f"{body.name}: MNTE to an exact T-pose", "simulated", found.mnte, "", at_most(1e-9))


def _rows(body: Body, name: str, found: Followed | None, peer: list[Followed]) -> list[Figure]:
    data = "simulated, on real standing" if name == "standing" else f"simulated, on a real {name}"
    reached = found is not None and body.name == "human 66"
    best = min((p.mnte for p in peer), default=float("nan"))
    good = [p.rate for p in peer if p.mnte <= (REACHABLE if body.name == "human 66" else 1.02 * best)]
    nearest = [p.rate for p in peer if p.mnte == best]
    rate = min(good or nearest, default=float("nan"))
    what = f"{body.name}: MNTE to the targets" + ("" if body.name == "human 66" else " over the best peer's")
    value = None if found is None else found.mnte if reached else found.mnte / best
    must, aim = (at_most(REACHABLE), at_most(1e-7)) if body.name == "human 66" else (at_most(1.02), at_most(1.0))
    note = "" if found is None else f"ours {found.mnte:.2e}, mink's best {best:.2e} over damping {_span(peer)}"
    share = None if found is None else found.rate / rate
    rates = (
        ""
        if found is None
        else f"ours {found.rate:.3f}, mink's best {'so near' if good else 'at its nearest'} {rate:.3f} rad/s"
    )
    bound: Bound | None = at_most(1.03) if share is not None and np.isfinite(share) else None
    absolute = []
    if found is not None and name == "walk" and body.name in WALKS:
        absolute.append(
            Figure(f"{body.name}: MNTE to the targets", data, found.mnte, "", WALKS[body.name], at_most(0.02))
        )
    return [
        Figure(what, data, value, "", must, aim, note), *absolute,
        Figure(f"{body.name}: angular velocity error over the peer's", data, share, "", bound, at_most(1.0), rates),
    ]  # fmt: skip


def _span(peer: list[Followed]) -> str:
    return ", ".join(f"{p.mnte:.1e}" for p in peer)


def _measured_rates(seen: SegmentMotion, name: str) -> list[Figure]:
    body = human(66)
    given, true = targets(body, noisy(seen, TURN_NOISE, RATE_NOISE), velocities=True), true_rates_of_links(body, seen)
    q, v = follow_with_ours(body, given, TrackingOptions.one_pass())
    found = compute_errors(body, given, true, q, v)
    note = f"input noise {np.sqrt(3.0) * RATE_NOISE:.3f} rad/s and {TURN_NOISE:g} rad an axis"
    if peers.available():
        blind = compute_errors(body, given, true, *follow_with_mink(body, given, 1e-6, q[0]))
        note += f"; mink, which takes no velocities, {blind.rate:.2f} rad/s"
    return _rate_rows(name, found, note)


def _rate_rows(name: str, found: Followed | None, note: str) -> list[Figure]:
    data = f"simulated, on a real {name}"
    rate, mnte = (None, None) if found is None else (found.rate, found.mnte)
    return [
        Figure("66 DoF, measured velocities: error of the links' rates", data, rate, "rad/s", at_most(0.06),
               at_most(0.042), note),
        Figure("the same: MNTE to the targets", data, mnte, "", at_most(1e-5), None),
    ]  # fmt: skip
