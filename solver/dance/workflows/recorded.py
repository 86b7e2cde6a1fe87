"""A recording as a dance: its contacts are found, so that it can be checked like any dance, and repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contacts.recorded import stood
from ...scene.motion import scene_motion
from ...scene.motion_record import MotionRecord
from ...scene.words import length

APART = 0.01
"""[m] of the soles from the plates, or from the recording's floor, that is worth a word."""


@dataclass(frozen=True, slots=True, repr=False)
class Recorded:
    """A recording with the contacts that were found in it.

    Attributes:
        record: with its contacts; off a treadmill's belt.
        pushed: (N, 6) measured wrench [N, N m], world axes about the world origin; NaN in frames in which something
            else pushed as well, None without forces.
        told: what was found, assumed or done, a sentence each.
    """

    record: MotionRecord
    pushed: np.ndarray | None
    told: tuple[str, ...]


def with_contacts(record: MotionRecord) -> Recorded:
    """Find where a recording's feet stand.

    Args:
        record: that does not tell.

    Raises:
        InvalidValue: a rig without two soles, or a single frame.
    """
    found = stood(record.rig, record.motion, record.wrenches, record.counted)
    moved = found.motion is not record.motion
    drawn = scene_motion(record.rig, found.motion) if moved else record.drawn
    whole = replace(record, motion=found.motion, drawn=drawn, wrenches=found.wrenches, schedule=found.schedule)
    pushed = None
    if found.wrenches is not None and record.counted is not None:
        complete = record.counted & np.asarray(found.wrenches.measured).all(axis=1)
        pushed = np.where(complete[:, None], found.wrenches.total, np.nan)
    return Recorded(whole, pushed, (*_words(record, found.schedule.ground), *found.told))


def _words(record: MotionRecord, ground: float) -> list[str]:
    by = "its motion" if record.wrenches is None else "its motion and forces"
    said = [f"which foot stands when was found from {by}"]
    if abs(ground) > APART:
        where = "above" if ground > 0.0 else "below"
        said.append(f"soles stand {length(abs(ground))} {where} the recording's floor, and are taken to be on it")
    return said
