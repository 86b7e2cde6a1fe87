"""Style of a dance: beats and phrases, mirrored motifs, durations by stance, and the dancer's skill."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...coordinates import joint_slices
from ...dynamics import link_poses
from ...errors import InvalidValue, UnknownPreset
from ...rig import ROOT_NV
from ...scene.dance_counts import FASTEST_BEAT, PHRASE, PICK_UP_COUNTS, SLOWEST_BEAT, is_tempo
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import DanceSegment, hold_posture

DURATION_FACTORS = {"both": 1.25, "right_forward": 1.1, "left": 1.0, "right": 1.0}
"""Factors on the least duration of transitions by foot configuration, in the order of the dance."""
SIDEWAYS_FRACTION = 0.5
"""Least sideways component of a joint axis whose rotation counts as bending forward or backward."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Limits for a dancer's skill.

    Attributes:
        range_fraction: of the way from home to the limits of the joints.
        max_speed: [rad/s] speed limit of every joint.
        max_backward_bend: [rad] limit of backward bending of the root and of each joint of trunk and head.
        allows_one_leg: whether there are postures on one foot.
    """

    range_fraction: float
    max_speed: float
    max_backward_bend: float
    allows_one_leg: bool


SKILLS = {
    "beginner": Skill(0.6, 2.5, 0.05, allows_one_leg=False),
    "intermediate": Skill(0.8, 3.5, 0.2, allows_one_leg=True),
    "expert": Skill(1.0, np.inf, np.inf, allows_one_leg=True),
}
"""Comfortable ranges by skill; an expert uses the anatomical ranges."""


@dataclass(frozen=True, slots=True)
class Style:
    """Style of a dance.

    Attributes:
        bpm: beats a minute; transitions end on beats, and a phrase has eight beats.
        skill: one of `SKILLS`.
        mirrored: motifs are repeated as mirror images, so that left and right are alike.
    """

    bpm: float = 120.0
    skill: str = "expert"
    mirrored: bool = True

    def __post_init__(self) -> None:
        if not is_tempo(self.bpm):
            raise InvalidValue(
                f"the tempo must be between {SLOWEST_BEAT:g} and {FASTEST_BEAT:g} beats a minute, not {self.bpm!r}"
            )
        if self.skill not in SKILLS:
            raise UnknownPreset(self.skill, SKILLS)

    @property
    def beat_duration(self) -> float:
        """[s]."""
        return 60.0 / self.bpm

    @property
    def skill_limits(self) -> Skill:
        """Limits for the dancer's skill."""
        return SKILLS[self.skill]

    def require_feasible_tempo(self, quickest: float) -> None:
        """Refuse a tempo at which no transition fits into a phrase.

        Args:
            quickest: [s] least duration of a transition with its hold, or of a step.

        Raises:
            InvalidValue: the tempo is too fast; names the fastest one that is possible.
        """
        if quickest > PHRASE * self.beat_duration:
            raise InvalidValue(
                f"at {self.bpm:g} beats a minute a phrase of {PHRASE} beats lasts "
                f"{PHRASE * self.beat_duration:.2f} s, but no "
                f"transition can be shorter than {quickest:.2f} s; choose at most "
                f"{math.floor(60.0 * PHRASE / quickest)} beats a minute"
            )


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
    legs = np.concatenate(list(legged.leg_columns.values()))
    moved = np.concatenate([legged.trunk, legs])
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
        length = segment.duration + (0.0 if waiting is None else waiting.duration)
        counts = round(length / beat)
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
