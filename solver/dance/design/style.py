"""How a style shapes a dance: transitions on beats and phrases, and comfortable ranges for the dancer's skill."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...coordinates import joint_slices
from ...dynamics import link_poses
from ...options.dances import PHRASE, Skill, Style
from ...rig import ROOT_NV
from ...scene.dance_counts import PICK_UP_COUNTS
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import DanceSegment, hold_posture

SIDEWAYS_FRACTION = 0.5
"""Least sideways component of a joint axis whose rotation counts as bending forward or backward."""


def round_to_counts(seconds: float, beat: float, lead: float = 0.0) -> float:
    """[s] Shortest duration of at least ``seconds`` that, with a hold of ``lead`` [s], fills 1, 2, 4, 8 ... beats."""
    counts = math.ceil((seconds + lead) / beat - 1e-9)
    whole = 1 << max(counts - 1, 0).bit_length() if counts <= PHRASE else PHRASE * math.ceil(counts / PHRASE)
    return whole * beat - lead


def comfort_limits(legged: LeggedRig, home: np.ndarray, skill: Skill) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (D,) of the flat coordinates for a dancer's skill.

    Args:
        legged: with the anatomical limits.
        home: (D,) about which the ranges shrink.
        skill: of the dancer.
    """
    lower, upper = np.array(legged.lower), np.array(legged.upper)
    moved = np.concatenate([legged.trunk, np.concatenate(list(legged.leg_columns.values()))])
    lower[moved] = np.maximum(lower[moved], home[moved] - skill.range_fraction * (home[moved] - lower[moved]))
    upper[moved] = np.minimum(upper[moved], home[moved] + skill.range_fraction * (upper[moved] - home[moved]))
    if np.isfinite(skill.max_backward_bend):
        lower[4] = max(lower[4], -skill.max_backward_bend)  # the root's rotation about y: forward is positive
        for column, sign in bending_columns(legged):
            if sign > 0.0:
                lower[column] = max(lower[column], min(home[column], 0.0) - skill.max_backward_bend)
            else:
                upper[column] = min(upper[column], max(home[column], 0.0) + skill.max_backward_bend)
    return lower, upper


def bending_columns(legged: LeggedRig) -> list[tuple[int, float]]:
    """Columns in which trunk and head bend, with the sign of bending forward."""
    rig = legged.rig
    paired = {link for pair in rig.pairs for link in pair}
    turns = link_poses(rig, rig.neutral)[0]
    result = []
    for number, (joint, _, span) in enumerate(joint_slices(rig)):
        if span.start < ROOT_NV or rig.links[number] in paired or joint.kind == "prismatic":
            continue
        axes = joint.axes if len(joint.axes) else np.eye(3)
        for axis, column in zip(axes, range(span.start, span.stop)):
            sideways = float((turns[number] @ axis)[1])
            if column in legged.trunk and abs(sideways) > SIDEWAYS_FRACTION:
                result.append((column, float(np.sign(sideways))))
    return result


def align_to_beats(segments: Sequence[DanceSegment], style: Style) -> tuple[list[DanceSegment], np.ndarray]:
    """Insert waits before segments that would cross a phrase; returns the segments and the new index (S,) of each.

    A hold and the transition after it are one unit that ends on a beat. The first segment is the pick-up.
    """
    beat, count = style.beat_duration, 0.0
    first = segments[0]
    result = [hold_posture(first.name, first.start, PICK_UP_COUNTS * beat, first.solved, first.anchors)]
    places = [0]
    waiting: DanceSegment | None = None
    for segment in segments[1:]:
        if segment.kind == "hold":
            waiting = segment
            places.append(len(result))
            result.append(segment)
            continue
        counts = round((segment.duration + (0.0 if waiting is None else waiting.duration)) / beat)
        wait = 0.0
        if count % PHRASE and (count % PHRASE) + counts > PHRASE:
            wait = (PHRASE - count % PHRASE) * beat
            count += PHRASE - count % PHRASE
        if wait and waiting is not None:
            result[-1] = replace(waiting, duration=waiting.duration + wait)
        elif wait:
            last = result[-1]
            result.append(hold_posture("wait", last.stop, wait, last.solved, last.anchors))
        count += counts
        places.append(len(result))
        result.append(segment)
        waiting = None
    return result, np.array(places)
