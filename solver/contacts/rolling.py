"""Soles that roll without slipping: on the heel's edge, flat, on the ball of the foot, or on the edge of the toes.

A flat sole that rolls over its own edges touches the floor in parts of the area on which it lies flat. So one flat
pose says where a stance is, its pitch over time says which part touches, and what touches does not move. Where toes
bend, they stay on the floor while the heel rises; beyond `TOE_BEND` the foot rolls over their edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue
from ..base.so3 import exp
from ..skeleton.rig import Rig

SOLE, HEEL, BALL, TOES = PARTS = ("sole", "heel", "ball", "toes")
"""Part of a sole that touches: all of it, the edge of the heel, ball and toes, or the edge of the toes."""
BALL_POSITION = 0.7
"""Position of the ball's line, where toes bend, as a fraction of the sole's length from the heel. Chosen on the
built-in person's sole, whose ball has corners at .70 and .80; no other value was tried."""
TOE_BEND, BEND_SOFTNESS = np.radians(30.0), np.radians(3.0)
"""[rad] Bend of the toes from which the foot rolls over their edge, and width of the transition."""
TOUCHING_HEIGHT = 0.0015
"""[m] Height below which a part of a sole touches, less than the slip that checks of retargeted motions allow.
Chosen on six walks that the built-in person follows (cmu_walk, xia_strutting, xia_catwalk, walking1 and walkingTI1 of
subject_a, walk of subject_c); no other value was tried."""
EDGE_HALF_WIDTH = 0.004
"""[m] Half the width on which an edge touches: soles and floors are soft, and an edge without width has no area.
Chosen on the walks of `TOUCHING_HEIGHT`; no other value was tried."""
HEEL_WIDTH = 0.02
"""[m] ahead of a person's heel's edge that touches with it: at a pitch of 20 degrees the heel pad gives way by 7 mm,
less than half of its 16 mm (doi:10.1186/s12891-022-05197-w). Heels of robots are rigid."""
EDGE_FRACTION = 0.05
"""Distance from the end of a sole at which the width of its edge is measured, as a fraction of its length.
Chosen on the walks of `TOUCHING_HEIGHT`; no other value was tried."""


@dataclass(frozen=True, slots=True)
class RollingSole(ArrayValue):
    """Geometry of a sole that rolls. Its foot axes point forward, left and up; origin is the link's.

    Attributes:
        patch: name of the contact patch.
        axes: (3, 3) foot axes in link axes, one per column.
        corners: (V, 3) [m] of the sole, foot axes.
        bends: whether toes bend.
    """

    patch: str
    axes: Annotated[np.ndarray, Array(3, 3)]
    corners: Annotated[np.ndarray, Array("V", 3)]
    bends: bool

    @staticmethod
    @lru_cache(maxsize=8)
    def of(rig: Rig, patch: str) -> RollingSole:
        """Sole of a rig's contact patch; checks ask for those of one rig again and again."""
        contact = rig.patch(patch)
        up = -contact.outward
        forward = rig.rest[0][rig.index(contact.link)].T @ rig.forward
        forward = forward - (forward @ up) * up
        forward /= np.linalg.norm(forward)
        axes = np.column_stack([forward, np.cross(up, forward), up])
        return RollingSole(patch, axes, contact.vertices @ axes, contact.toes)

    @property
    def length(self) -> float:
        """[m]."""
        return float(np.ptp(self.corners[:, 0]))

    def line(self, part: str) -> np.ndarray:
        """Ends (2, 3) [m] of the line about which a part rolls, foot axes, sole flat."""
        rear, front = float(self.corners[:, 0].min()), float(self.corners[:, 0].max())
        at, place = {
            HEEL: (EDGE_FRACTION, rear),
            BALL: (BALL_POSITION, rear + BALL_POSITION * self.length),
            TOES: (1.0 - EDGE_FRACTION, front),
        }[part]
        right, left = _lateral_extent(self.corners[:, :2], rear + at * self.length)
        height = float(self.corners[:, 2].mean())
        return np.array([[place, right, height], [place, left, height]])

    def outline(self, part: str) -> np.ndarray:
        """Corners (V, 3) [m] of the area on which a part touches, link axes, sole flat."""
        if part == SOLE:
            return self.corners @ self.axes.T
        line, wide = self.line(part), np.array([EDGE_HALF_WIDTH, 0.0, 0.0])
        wider = np.array([HEEL_WIDTH, 0.0, 0.0]) if self.bends and part == HEEL else wide
        ahead = self.corners[self.corners[:, 0] > line[0, 0]] if part == BALL else line + wider
        return np.concatenate([line - wide, ahead]) @ self.axes.T

    def pitch(self, rotations: np.ndarray) -> np.ndarray:
        """Pitch (N,) [rad] of the sole, toes up, for link rotations (N, 3, 3)."""
        return np.asarray(np.arcsin(np.clip((rotations @ self.axes[:, 0])[:, 2], -1.0, 1.0)))

    def roll(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (N, 3, 3) and displacements (N, 3) [m] of the foot from its flat pose, flat foot axes, at pitch
        (N,) [rad], toes up.
        """
        toes_up, bend, rest = np.maximum(pitch, 0.0), *self._heel_rise(pitch)
        turned, moved = _rotate_about(self.line(HEEL)[0], toes_up)
        for part, angle in ((BALL, -bend), (TOES, -rest)):
            further, shift = _rotate_about(self.line(part)[0], angle)
            turned, moved = further @ turned, (further @ moved[:, :, None])[..., 0] + shift
        return turned, moved

    def parts(self, pitch: np.ndarray) -> np.ndarray:
        """Index (N,) in `PARTS` of the part that touches at pitch (N,) [rad]."""
        bend, rest = self._heel_rise(pitch)
        behind = BALL_POSITION * self.length if self.bends else self.length
        result = np.full(len(pitch), PARTS.index(SOLE))
        result[behind * np.sin(bend) > TOUCHING_HEIGHT] = PARTS.index(BALL)
        result[(self.length - behind if self.bends else behind) * np.sin(rest) > TOUCHING_HEIGHT] = PARTS.index(TOES)
        result[self.length * np.sin(np.maximum(pitch, 0.0)) > TOUCHING_HEIGHT] = PARTS.index(HEEL)
        return result

    def touching_points(self, part: str, rotations: np.ndarray, origins: np.ndarray) -> np.ndarray:
        """Points (N, P, 3) [m] of a part that touch, world, for link rotations (N, 3, 3) and origins (N, 3)."""
        if part == SOLE:
            own = np.tile(self.corners, (len(rotations), 1, 1))
        elif part == TOES:
            own = self.toe_edge(self.pitch(rotations))
        else:
            own = np.tile(self.line(part), (len(rotations), 1, 1))
        return self._to_world(own, rotations, origins)

    def toe_edge(self, pitch: np.ndarray) -> np.ndarray:
        """Ends (N, 2, 3) [m] of the edge of the toes, foot axes, at pitch (N,) [rad]: toes bend upwards."""
        hinge, tip = self.line(BALL)[0] * [1.0, 0.0, 1.0], self.line(TOES)
        turned = pitch_rotations(self._heel_rise(pitch)[0])
        return np.asarray(hinge + (tip - hinge) @ turned.swapaxes(1, 2))

    def lowest_points(self, rotations: np.ndarray, origins: np.ndarray) -> np.ndarray:
        """Points (N, P, 3) [m] of the underside with bent toes, world, for link rotations and origins (N, 3)."""
        own = np.tile(self.corners, (len(rotations), 1, 1))
        if self.bends:
            behind = np.tile(np.concatenate([self.line(HEEL), self.line(BALL)]), (len(rotations), 1, 1))
            own = np.concatenate([behind, self.toe_edge(self.pitch(rotations))], axis=1)
        return self._to_world(own, rotations, origins)

    def _to_world(self, points: np.ndarray, rotations: np.ndarray, origins: np.ndarray) -> np.ndarray:
        return np.asarray(points @ (rotations @ self.axes).swapaxes(1, 2) + origins[:, None])

    def _heel_rise(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bend (N,) [rad] of the toes, and further rise of the heel (N,) [rad] about their edge."""
        rise = np.maximum(-pitch, 0.0)
        if not self.bends:
            return np.zeros_like(rise), rise
        soft, none = (np.logaddexp(0.0, (angle - TOE_BEND) / BEND_SOFTNESS) for angle in (rise, 0.0))
        further = BEND_SOFTNESS * (soft - none)
        return rise - further, further


def _lateral_extent(outline: np.ndarray, place: float) -> tuple[float, float]:
    """Smallest and largest second coordinate of a convex outline (V, 2) on the line with this first coordinate."""
    after = np.roll(outline, -1, axis=0)
    crossing = (outline[:, 0] - place) * (after[:, 0] - place) <= 0.0
    first, second = outline[crossing], after[crossing]
    share = (place - first[:, 0]) / np.where(second[:, 0] == first[:, 0], 1.0, second[:, 0] - first[:, 0])
    across = first[:, 1] + share * (second[:, 1] - first[:, 1])
    return float(across.min()), float(across.max())


def pitch_rotations(angles: np.ndarray) -> np.ndarray:
    """Rotations (N, 3, 3) about the left axis that raise the forward axis by angles (N,) [rad]."""
    return exp(angles[:, None] * [0.0, -1.0, 0.0])


def _rotate_about(point: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (N, 3, 3) and displacements (N, 3) [m] of a pitch by angles (N,) [rad] about a line through a point."""
    turned, fixed = pitch_rotations(angle), point * [1.0, 0.0, 1.0]
    return turned, fixed - turned @ fixed
