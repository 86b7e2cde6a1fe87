"""Measures of a performance: slip of feet, agreement of plates with the plan, tracking error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solver.contacts.schedule import Anchor, Schedule
from solver.dynamics import link_motions
from solver.identification.comparison import WrenchFit, fit_wrenches
from solver.signals import PRESETS, low_pass
from solver.skeleton.rig import Rig

from .performance import Performance, Plan

LOADED = 0.05
"""Share of the weight from which a foot counts as standing."""
PLATE_FILTER = "bonnet_hoap3"
"""Low-pass of plates and plan before they are compared, the paper's own."""
SAME_PLACE = 1e-6
"""[m] Anchors nearer than this are one standing."""


@dataclass(frozen=True, slots=True)
class Stance:
    """One foot from the time it is planted to the time it leaves.

    Attributes:
        patch: the sole.
        start, stop: [s].
        slip: [m] farthest horizontal way of any corner from where it first bore load, while it bore load.
    """

    patch: str
    start: float
    stop: float
    slip: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """A performance against its plan.

    Attributes:
        fell: [s] or None.
        stances: every stance of every foot.
        angle: [rad] largest tracking error of a joint coordinate.
        saturated: largest share of the time a joint spent at its torque limit.
        total: fit of the plan's total wrench to the plates', world axes about the world origin.
        span: (6,) standard deviation of the plates' total, to compare the total's RMSE with.
    """

    fell: float | None

    stances: tuple[Stance, ...]
    angle: float
    saturated: float
    total: WrenchFit
    span: np.ndarray

    @property
    def slip(self) -> float:
        """[m] worst of all standings."""
        return max((stand.slip for stand in self.stances), default=float("nan"))


def measure(rig: Rig, intended: Plan, performance: Performance) -> Measurement:
    """Compare a performance with its plan at the sensors' times."""
    times = performance.motion.times
    weight = rig.weight
    planned = _interpolate(intended.motion.times, intended.wrenches, times)
    plates = performance.plates.values
    if len(times) > 10:
        preset = PRESETS[PLATE_FILTER]
        planned, plates = (
            low_pass(values.reshape(len(times), -1), performance.motion.rate, preset).reshape(plates.shape)
            for values in (planned, plates)
        )
    total = plates.sum(axis=1)
    return Measurement(
        fell=performance.fell,
        stances=tuple(_measure_stances(rig, intended.schedule, performance, LOADED * weight)),
        angle=_tracking(rig, intended, performance),
        saturated=float(performance.saturated.max(initial=0.0)),
        total=fit_wrenches(total, planned.sum(axis=1)),
        span=total.std(axis=0),
    )


def _measure_stances(rig: Rig, schedule: Schedule, performance: Performance, least: float) -> Iterator[Stance]:
    links = link_motions(rig, performance.motion)
    times = performance.motion.times
    for column, name in enumerate(performance.plates.frames):
        patch = rig.patch(name)
        index = rig.index(patch.link)
        rotation = np.moveaxis(links.rotation[:, :, index], -1, 0)
        corners = np.einsum("nij,vj->nvi", rotation, patch.vertices) + links.position[:, index].T[:, None]
        bears = performance.plates.values[:, column, 2] > least
        for start, stop in stance_intervals(schedule, name):
            frames = np.flatnonzero((times >= start) & (times < stop) & bears)
            if not len(frames):
                continue
            way = corners[frames, :, :2] - corners[frames[0], :, :2]
            yield Stance(name, start, stop, float(np.linalg.norm(way, axis=2).max()))


def stance_intervals(schedule: Schedule, patch: str) -> list[tuple[float, float]]:
    """(start, stop) [s] of every interval in which a patch stays planted, over as many phases as that lasts."""
    result: list[tuple[float, float]] = []
    before: Anchor | None = None
    for phase in schedule.phases:
        anchor = next((a for a in phase.anchors if a.patch == patch), None)
        if anchor is not None:
            stays = before is not None and np.abs(before.position - anchor.position).max() < SAME_PLACE
            start = result.pop()[0] if stays else phase.start
            result.append((start, phase.stop))
        before = anchor
    return result


def _tracking(rig: Rig, intended: Plan, performance: Performance) -> float:
    """[rad] largest error of a joint's own coordinates, taken at frames the plan has."""
    times = intended.motion.times
    place = np.searchsorted(times, performance.motion.times - 1e-6).clip(0, len(times) - 1)
    same = np.abs(times[place] - performance.motion.times) < 1e-6
    wanted, reached = intended.motion.q[place[same]], performance.motion.q[same]
    worst = 0.0
    for joint, span in list(zip(rig.joints, rig.q_slices))[1:]:
        if joint.nq == joint.nv:
            errors = np.abs(wanted[:, span] - reached[:, span])
        else:
            cosine = np.abs(np.einsum("ni,ni->n", wanted[:, span], reached[:, span]))
            errors = 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))
        worst = max(worst, float(errors.max(initial=0.0)))
    return worst


def _interpolate(times: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Values (N, ...) at other times, straight between frames."""
    place = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    share = ((wanted - times[place]) / (times[place + 1] - times[place])).clip(0.0, 1.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return (1.0 - share) * values[place] + share * values[place + 1]
