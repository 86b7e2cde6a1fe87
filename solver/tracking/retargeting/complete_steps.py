"""Completes the steps in the middle of which a recording begins or ends.

A robot starts from rest and comes to rest, which is impossible on one foot in the middle of a step. So the swinging
foot is put down beside the other one, or ahead of it where it already was, while the body slows down until it stands
over both feet with upright legs. Before a recording the same is done backwards. Flight at either end is removed,
because its landing is unknown. A foot held still in the air is not a step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...base.so3 import exp, log, rotation_between
from ...contacts.contact_detection import LOWEST, STILL
from ...values.motion import SegmentPoses
from ...values.person import SIDES
from ..anatomy import LEG, ROOT
from .interpolation import smooth_step
from .performer import Performer

BEGINS, ENDS = "begins", "ends"
"""The two ends of a recording."""
SLOWING_TIME, STANDING_TIME = 0.4, 0.3
"""[s] in which a moving body comes to rest, and for which it then stands on both feet."""
AVERAGING_TIME = 0.04
"""[s] over which its velocity at the end of the recording is computed."""
HORIZONTAL, UP = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


def complete_steps(performer: Performer) -> Performer:
    """Completes the steps in the middle of which a recording on a floor at rest begins and ends; says what was done."""
    in_stance = performer.stances()
    grounded = np.flatnonzero(np.any(list(in_stance.values()), axis=0))
    if not len(grounded):
        return performer
    first, last = int(grounded[0]), int(grounded[-1])
    times, notes = performer.times, []
    for where, left_out in ((BEGINS, times[first] - times[0]), (ENDS, times[-1] - times[last])):
        if left_out > 0.0:
            notes.append(f"the recording {where} in flight: {left_out:.2f} s are removed")
    result = performer.select_frames(slice(first, last + 1)) if notes else performer
    for where in (ENDS, BEGINS):
        in_stance = result.stances()
        if swinging := [side for side in SIDES if _is_mid_step(result, side, in_stance[side], where)]:
            result = _extend(result, swinging, where)
            more = f"{SLOWING_TIME + STANDING_TIME:g} s more"
            notes.append(f"the recording {where} in the middle of a step, which is completed on both feet: {more}")
    return replace(result, notes=(*result.notes, *notes))


def _is_mid_step(performer: Performer, side: str, in_stance: np.ndarray, end: str) -> bool:
    """Whether a foot moves through the air in the first or last frame."""
    frame, beside = (-1, -2) if end == ENDS else (0, 1)
    if in_stance[frame]:
        return False
    sole = performer.sole_points(side)[[frame, beside]]
    speed = np.linalg.norm(sole[0] - sole[1], axis=1) / abs(performer.times[frame] - performer.times[beside])
    return bool(speed.max() > STILL)


def _extend(performer: Performer, swinging: list[str], end: str) -> Performer:
    """The performer with both feet in stance after its last frame, or before its first one."""
    recording = performer.recording
    assert recording.positions is not None
    step = float(np.median(np.diff(recording.times)))
    way = slice(None) if end == ENDS else slice(None, None, -1)
    rotations, positions = recording.rotations[way], recording.positions[way]
    back = max(1, round(AVERAGING_TIME / step))
    added_times = step * np.arange(1, round((SLOWING_TIME + STANDING_TIME) / step) + 1)
    share = np.clip(added_times / SLOWING_TIME, 0.0, 1.0)
    distance, blend = SLOWING_TIME / (back * step) * _slow_down(share), smooth_step(share)
    shifts = _standing_shifts(performer, swinging, positions, back)
    added_positions = positions[-1] + distance[:, None, None] * (positions[-1] - positions[-1 - back])
    added_positions = added_positions + blend[:, None, None] * shifts
    rotation = log(rotations[-1 - back].swapaxes(1, 2) @ rotations[-1])
    added_rotations = rotations[-1] @ exp(distance[:, None, None] * rotation)
    for column, straight in _upright_legs(performer, rotations[-1]):
        own = added_rotations[:, column]
        added_rotations[:, column] = own @ exp(blend[:, None] * log(own.swapaxes(1, 2) @ straight))
    for side in swinging:
        foot, sole = _foot_column(performer, side), performer.sole_points(side)[:, :, 2].min(axis=1)
        corners = added_positions[:, foot, None] + performer.soles[side] @ added_rotations[:, foot].swapaxes(1, 2)
        added_positions[:, foot, 2] -= blend * (corners[:, :, 2].min(axis=1) - float(np.quantile(sole, LOWEST)))
    both = np.concatenate([rotations, added_rotations])[way], np.concatenate([positions, added_positions])[way]
    more = recording.times[-1] + added_times if end == ENDS else recording.times[0] - added_times[::-1]
    ends = (recording.times, more) if end == ENDS else (more, recording.times)
    longer = SegmentPoses(np.concatenate(ends), recording.names, *both, recording.rest)
    contacts = performer.contacts
    if contacts is not None:
        standing = {side: (share >= 1.0) | (side not in swinging) for side in contacts}
        contacts = {side: np.concatenate([known[way], standing[side]])[way] for side, known in contacts.items()}
    return replace(performer, recording=longer, contacts=contacts)


def _standing_shifts(performer: Performer, swinging: list[str], positions: np.ndarray, back: int) -> np.ndarray:
    """Displacement (B, 3) [m] of segments until both feet stand: a swinging foot stays at least as far ahead as it is.

    Sideways the feet are as far apart as the hips, because the legs may be spread in the rest pose. The rest of the
    body moves over the middle between the feet.
    """
    feet = {side: _foot_column(performer, side) for side in SIDES}
    hips = {side: performer.recording.names.index(performer.parts[f"{side}_{LEG[0]}"]) for side in SIDES}
    body = positions[:, list(hips.values())].mean(axis=1)
    left = (positions[-1, hips["left"]] - positions[-1, hips["right"]]) * HORIZONTAL
    left = left / max(float(np.linalg.norm(left)), 1e-9)
    forwards = np.cross(left, UP)
    forwards = forwards * np.sign((body[-1] - body[-1 - back]) @ forwards)
    rest = performer.recording.rest
    assert rest is not None
    hip_width = float(np.linalg.norm((rest.heads[hips["left"]] - rest.heads[hips["right"]]) * HORIZONTAL))
    shifts = np.zeros(positions.shape[1:])
    for side in swinging:
        own, other = (positions[-1, feet[each]] for each in (side, next(each for each in SIDES if each != side)))
        ahead = max(0.0, float((own - other) @ forwards))
        target = other + ahead * forwards + (hip_width if side == "left" else -hip_width) * left
        shifts[feet[side]] = (target - own) * HORIZONTAL
    middle = np.mean([positions[-1, foot] + shifts[foot] for foot in feet.values()], axis=0)
    body_alone = [column for column in range(positions.shape[1]) if column not in feet.values()]
    shifts[body_alone] = (middle - body[-1]) * HORIZONTAL
    return shifts


def _upright_legs(performer: Performer, rotations: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Segments of the legs, and their axes (3, 3) when they stand upright under a pelvis with axes among (B, 3, 3).

    Thighs and shanks point straight down, whatever the rest pose; feet are flat as in the rest pose.
    """
    names, rest = performer.recording.names, performer.recording.rest
    assert rest is not None
    legs = [[performer.parts.get(f"{side}_{name}") for name in LEG] for side in SIDES]
    hips = [names.index(performer.parts[f"{side}_{LEG[0]}"]) for side in SIDES]
    root = names.index(performer.parts[ROOT]) if ROOT in performer.parts else hips[0]
    across = (rest.heads[hips[1]] - rest.heads[hips[0]]) * HORIZONTAL
    now = (rotations[root] @ rest.rotations[root].T @ across) * HORIZONTAL
    heading, result = rotation_between(across, now), []
    for leg in legs:
        columns = [names.index(part) for part in leg if part is not None]
        for column, below in zip(columns, [*columns[1:], None]):
            down = np.eye(3) if below is None else rotation_between(rest.heads[below] - rest.heads[column], -UP)
            result.append((column, heading @ down @ rest.rotations[column]))
    return result


def _foot_column(performer: Performer, side: str) -> int:
    """Index of a foot's segment."""
    return performer.recording.names.index(performer.parts[f"{side}_{LEG[-1]}"])


def _slow_down(share: np.ndarray) -> np.ndarray:
    """Distance of a point that moves with speed one at 0 and is at rest at 1, with continuous acceleration."""
    return np.asarray(share - share**3 * (6.0 - share * (8.0 - 3.0 * share)))
