"""Contacts of a recording, so that it can be checked and repaired like any dance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contacts.recorded_contacts import find_recorded_contacts
from ...scene.labels import format_length
from ...scene.motion import scene_motion
from ...scene.motion_record import MotionRecord

FLOOR_TOLERANCE = 0.01
"""[m] A larger distance of the soles from the plates, or from the recording's floor, is noted."""


@dataclass(frozen=True, slots=True, repr=False)
class RecordingWithContacts:
    """A recording with the contacts that were found in it.

    Attributes:
        record: with its contacts; relative to a treadmill's belt.
        measured_wrench: (N, 6) measured wrench [N, N m], world axes about the world origin; NaN in frames with
            other, unmeasured contacts; None without forces.
        notes: what was found, assumed or done, a sentence each.
    """

    record: MotionRecord
    measured_wrench: np.ndarray | None
    notes: tuple[str, ...]


def find_contacts(record: MotionRecord) -> RecordingWithContacts:
    """Find the contacts of a recording.

    Args:
        record: without contacts.

    Raises:
        InvalidValue: a rig without two soles, or a single frame.
    """
    found = find_recorded_contacts(record.rig, record.motion, record.wrenches, record.counted)
    moved = found.motion is not record.motion
    drawn = scene_motion(record.rig, found.motion) if moved else record.scene
    whole = replace(record, motion=found.motion, scene=drawn, wrenches=found.wrenches, schedule=found.schedule)
    pushed = None
    if found.wrenches is not None and record.counted is not None:
        complete = record.counted & np.asarray(found.wrenches.measured).all(axis=1)
        pushed = np.where(complete[:, None], found.wrenches.total, np.nan)
    return RecordingWithContacts(whole, pushed, (*_contact_notes(record, found.schedule.ground), *found.notes))


def _contact_notes(record: MotionRecord, ground: float) -> list[str]:
    by = "its motion" if record.wrenches is None else "its motion and forces"
    said = [f"the contacts were found from {by}"]
    if abs(ground) > FLOOR_TOLERANCE:
        where = "above" if ground > 0.0 else "below"
        said.append(
            f"soles are {format_length(abs(ground))} {where} the recording's floor, and are assumed to be on it"
        )
    return said
