"""Soft joints: segments that give way a little to their own markers.

A rig's joints are rigid, a body's are not: the skin of thighs, the sliding of shoulders and a spine of one pivot enter
pelvis and trunk, which carry most of the mass, through the joints. For the equations of motion, not for the animation,
these are therefore shifted towards their own markers, as far as their joints, worth some markers themselves, let them.
Limbs are not: what is left to the markers of thighs is their skin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..identification.regions import TRUNK, regions
from ..rig import Rig
from .values import TrialRecord


def softened(rig: Rig, records: Sequence[TrialRecord], stiffness: float | None) -> tuple[TrialRecord, ...]:
    """The records with the shifts of their segments; those without markers, or with shifts, as they are.

    Args:
        rig: that was tracked.
        records: tracked or not.
        stiffness: a number of markers: what joints are worth against a segment's own; None: they are rigid.
    """
    if stiffness is None:
        return tuple(records)
    each = np.full(len(rig.links), np.inf)
    for region in (rig.links[0], TRUNK):
        each[regions(rig).get(region, [])] = stiffness
    return tuple(_softened(record, each) for record in records)


def _softened(record: TrialRecord, stiffness: np.ndarray) -> TrialRecord:
    tracked = record.tracked
    if record.shifts is not None or tracked is None:
        return record
    if tracked.shifts is not None:  # a smoother of soft links has found them
        return replace(record, shifts=tracked.shifts)
    return record if tracked.pulls is None else replace(record, shifts=tracked.pulls.shifts(stiffness))


def distances(rig: Rig, records: Sequence[TrialRecord]) -> Mapping[str, float]:
    """Root mean square distance [m] by which each shifted link moved in the frames that count; empty where none did."""
    found = [
        np.sum(record.trial.motion.shifts.values[record.trial.counted] ** 2, axis=2)
        for record in records
        if record.trial is not None and record.trial.motion.shifts is not None
    ]
    if not found or not sum(len(part) for part in found):
        return {}
    sizes = np.sqrt(np.concatenate(found).mean(axis=0))
    return {link: float(size) for link, size in zip(rig.links, sizes) if size > 0.0}
