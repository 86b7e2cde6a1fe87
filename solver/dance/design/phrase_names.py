"""Names of phrases that say what is done: ``"twist with arms out, left"``."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...base.so3 import log
from ...dynamics import link_motions
from ...feasibility.checks.hand_speed import hand_links
from ...trajectory.legged_rig import LeggedRig
from ...trajectory.segment import DanceSegment
from ...values.motion import Motion
from ...values.person import SIDES
from .body_parts import body_parts

RATE = 25.0
"""[1/s] at which a phrase is looked at."""
LARGE_TURN, LARGE_DROP, LARGE_REACH = 0.3, 0.08, 0.25
"""[rad] Turn of the chest, drop of the root and reach of a limb over its length, from which a name mentions them."""
DIRECTIONS = (("forward", "back"), ("out", "across"), ("up", "down"))
"""Of a limb: along x, away from the middle, and along z, positive and negative."""


class PhraseNames:
    """Names phrases of one rig, each differently.

    Args:
        legged: the rig.
    """

    def __init__(self, legged: LeggedRig) -> None:
        self._legged, self._used = legged, Counter[str]()
        rig, parts = legged.rig, body_parts(legged.rig)
        self._arms = {}
        for side in SIDES:
            arm = parts.get(f"{side}_arm", ())
            if hands := [link for link in hand_links(rig) if link in arm]:
                self._arms[side] = rig.index(arm[0]), rig.index(hands[0])
        self._chest = next((rig.parents[first] for first, _ in self._arms.values()), 0)

    def find(self, segment: DanceSegment, title: str = "") -> str:
        """The name of a phrase: ``title`` if there is one, otherwise what body, arms and a free leg do."""
        name = title or self._describe(segment)
        self._used[name] += 1
        return name if self._used[name] == 1 else f"{name}, {self._used[name]}"

    def _describe(self, segment: DanceSegment) -> str:
        legged, rig = self._legged, self._legged.rig
        curves = segment.evaluate(legged, segment.spline_space.samples(RATE))[1]
        moved = link_motions(rig, Motion(np.arange(float(len(curves.q))), curves.q, curves.v, curves.a))
        turns, places = (np.moveaxis(own, -1, 0) for own in (moved.rotation, moved.position))  # (N, 3, [3,] L)
        turned = log(turns[:, :, :, self._chest] @ turns[0, :, :, self._chest].T)
        drop = (places[0, 2, 0] - places[:, 2, 0]) / rig.leg_length
        sizes = {
            "tilt": np.abs(turned[:, 0]).max() / LARGE_TURN, "bow": turned[:, 1].max() / LARGE_TURN,
            "arch": -turned[:, 1].min() / LARGE_TURN, "twist": np.abs(turned[:, 2]).max() / LARGE_TURN,
            "squat": drop.max() / LARGE_DROP,
        }  # fmt: skip
        most, side = max(sizes, key=lambda name: sizes[name]), ""
        words = [most if sizes[most] >= 1.0 else "reach"]
        if most in ("tilt", "twist"):
            column, sign = (0, -1.0) if most == "tilt" else (2, 1.0)
            peak = turned[np.argmax(np.abs(turned[:, column])), column]
            side = "left" if sign * peak > 0.0 else "right"
        arms = {
            own: _direction(places[:, :, hand] - places[:, :, shoulder], own)
            for own, (shoulder, hand) in self._arms.items()
        }
        if len(set(arms.values())) == 1 and len(arms) > 1:
            words += [f"with arms {way}" for way in {*arms.values()} if way]
        elif ways := [f"{own} arm {way}" for own, way in arms.items() if way]:
            words.append(f"with {', '.join(ways)}")
            side = ""  # the arms say it
        free = [leg for leg in legged.legs if leg.side not in segment.solved]
        if free:
            foot, hip = rig.index(free[0].link), rig.path(rig.index(free[0].link))[0]
            way = _direction(places[:, :, foot] - places[:, :, hip], free[0].side) or "bent"
            return " ".join([f"{free[0].side} leg {way},", *words])
        return f"{' '.join(words)}{', ' * bool(side)}{side}"


def _direction(lever: np.ndarray, side: str) -> str:
    """Direction in which the end of a limb (N, 3) [m] points where it is farthest from its start; empty if it stays."""
    away = np.linalg.norm(lever - lever[0], axis=1)
    frame = int(np.argmax(away))
    if away[frame] < LARGE_REACH * np.linalg.norm(lever, axis=1).max():
        return ""
    way = lever[frame] * np.array([1.0, 1.0 if side == "left" else -1.0, 1.0])
    across = np.abs(way[:2])
    if way[2] < 0.0:  # a limb that hangs is up if it bends; one that is nearly level is not
        way[2] = way[2] - lever[0, 2] if way[2] < -np.linalg.norm(across) else 0.0
    axis = 2 if abs(way[2]) > np.linalg.norm(across) else int(np.argmax(across))
    return DIRECTIONS[axis][int(way[axis] < 0.0)]
