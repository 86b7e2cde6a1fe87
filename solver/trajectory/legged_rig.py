"""A rig with legs for designing dances: flat coordinates of body and feet, limits and balance.

Coordinates y (D,) are the root's position and rotation vector, joint coordinates, and the poses of the right and the
left foot (`FOOT_SIZE` each). A leg is either *solved* (its joints follow from root and foot) or moved by its own joint
coordinates, and then the foot's entries are ignored. The joint entries of a solved leg are the first guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.so3 import log
from ..contacts.schedule import Anchor, stance
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.coordinates import Curves, static_motion, to_manifold
from ..dynamics.legs import FOOT_SIZE, build_legs, coupled_coordinates
from ..dynamics.mechanics import Mechanics
from ..feasibility.contact_forces import zero_moment_point
from ..options.checks import DANCE_CHECKS, CheckOptions
from ..skeleton.rig import ROOT_NV, Rig
from ..values.person import SIDES
from .natural_posture import clear_arms, natural_posture
from .root_constraints import HOME_BEND, free_root_coordinates

COM_RATIO = 0.85
"""Displacement of the centre of mass over that of the root: first guess."""
MIN_COM_RATIO = 0.2
"""Smallest ratio that is taken from the last step (its inverse is the largest), for rigs with heavy legs."""
BALANCE_TOLERANCE = 1e-10
"""[m] Distance of the centre of mass from its goal at which a static posture is balanced."""


@dataclass(frozen=True, slots=True)
class Footing:
    """Contacts of a segment of the dance.

    Attributes:
        configuration: one of `FOOT_CONFIGURATIONS`.
        anchors: of the patches that carry load.
        solved: sides of the legs that are solved: loaded ones, and those whose foot follows a path.
        polygon: shrunk support polygon.
    """

    configuration: str
    anchors: tuple[Anchor, ...]
    solved: tuple[str, ...]
    polygon: SupportPolygon


class LeggedRig:
    """A rig with legs, with fast evaluation of batches of frames.

    Attributes:
        rig: with two legs.
        legs: right and left.
        size: D, number of coordinates.
        lower, upper, speed: (D,) limits of the coordinates; infinite for root and feet.
        trunk: (n,) columns of y of joint coordinates that belong to no leg and are not fixed.
        fixed_columns: (n,) columns of constant joint coordinates, see `fixed_coordinates`.
        root_free: (6,) True for the root's coordinates that can move; legs of five joints fix the others.
        leg_columns: columns of y by side.
        swing_leg_columns: those of them that move a leg that is not solved; coupled joints are excluded.
        foot_columns: columns of y by side.
    """

    def __init__(
        self, rig: Rig, *, shrink: float, step: float | None = None, speed: float = np.inf,
        checks: CheckOptions | None = None,
    ) -> None:  # fmt: skip
        self.rig, self.shrink, self.step = rig, shrink, step
        self._checks = DANCE_CHECKS if checks is None else checks
        self.legs = build_legs(rig)
        self.root_free = np.array(free_root_coordinates(rig))
        nv = rig.nv
        self.size = nv + 2 * FOOT_SIZE
        free = np.full(ROOT_NV, np.inf), np.full(2 * FOOT_SIZE, np.inf)
        self.lower = np.concatenate([-free[0], rig.limits.lower, -free[1]])
        self.upper = np.concatenate([free[0], rig.limits.upper, free[1]])
        self.speed = np.concatenate([free[0], np.minimum(rig.limits.speed, speed), free[1]])
        self.leg_columns = {leg.side: ROOT_NV + leg.columns for leg in self.legs}
        self.foot_columns = {
            side: np.arange(nv + FOOT_SIZE * k, nv + FOOT_SIZE * (k + 1)) for k, side in enumerate(SIDES)
        }
        in_legs = np.concatenate(list(self.leg_columns.values()))
        self.fixed_columns = ROOT_NV + np.flatnonzero(fixed_coordinates(rig))
        self.swing_leg_columns = {
            side: own[~np.isin(own, self.fixed_columns)] for side, own in self.leg_columns.items()
        }
        self.trunk = np.setdiff1d(np.arange(ROOT_NV, nv), np.concatenate([in_legs, self.fixed_columns]))
        self._mechanics = Mechanics(rig)
        self._weight = rig.weight
        self.straight_height = self._straight_height()

    def get_footing(self, configuration: str, moving: Sequence[str] = ()) -> Footing:
        """The footing of a foot configuration.

        Args:
            configuration: one of `FOOT_CONFIGURATIONS`.
            moving: sides whose legs are solved too, but not loaded.
        """
        anchors = stance(self.rig, configuration, self.step)
        sides = {patch: side for side, patch in self.rig.sides.items()}
        loaded = [sides[anchor.patch] for anchor in anchors]
        solved = tuple(side for side in SIDES if side in loaded or side in moving)
        return Footing(configuration, anchors, solved, support_polygon(self.rig, anchors, self.shrink))

    def with_feet(self, y: np.ndarray, anchors: Sequence[Anchor]) -> np.ndarray:
        """Coordinates (..., D) with the entries of the feet set to anchors."""
        y = np.array(y, float)
        sides = {patch: side for side, patch in self.rig.sides.items()}
        for anchor in anchors:
            y[..., self.foot_columns[sides[anchor.patch]]] = np.concatenate([anchor.position, log(anchor.rotation)])
        return y

    def solve_motion(
        self, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray, solved: Sequence[str]
    ) -> tuple[np.ndarray, Curves, np.ndarray]:
        """Coordinates (N, D) with solved legs, the motion of N frames, and whether each frame was solved (N,)."""
        (y, dy, ddy), good = self.solve_legs(y, dy, ddy, solved)
        nv = self.rig.nv
        return y, to_manifold(self.rig, y[:, :nv], dy[:, :nv], ddy[:, :nv]), good

    def solve_legs(
        self, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray, solved: Sequence[str]
    ) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Coordinates (N, D) and their rates with solved legs, and whether each frame was solved (N,)."""
        y, dy, ddy = (np.array(x, float) for x in (y, dy, ddy))
        good = np.ones(len(y), bool)
        for leg in self.legs:
            if leg.side not in solved:
                continue
            foot = self.foot_columns[leg.side]
            good &= leg.follow_foot((y, dy, ddy), (y[:, foot], dy[:, foot], ddy[:, foot]))
        return (y, dy, ddy), good

    def solve_static(self, y: np.ndarray, solved: Sequence[str]) -> tuple[np.ndarray, Curves, np.ndarray]:
        """`solve_motion` at rest."""
        y = np.array(y, float)
        good = np.ones(len(y), bool)
        for leg in self.legs:
            if leg.side in solved:
                good &= leg.place_static(y, y[:, self.foot_columns[leg.side]])
        return y, static_motion(self.rig, y[:, : self.rig.nv]), good

    def compute_zmp(self, curves: Curves) -> np.ndarray:
        """Zero-moment point (N, 2) [m] on the floor z = 0."""
        return zero_moment_point(self._mechanics.compute_wrenches(curves.q, curves.v, curves.a), 0.0, self._weight)

    def compute_com(self, curves: Curves) -> np.ndarray:
        """Centre of mass (N, 3) [m], world, at rest."""
        return self._mechanics.compute_coms(curves.q)

    def place_points(self, curves: Curves, link: str, points: np.ndarray) -> np.ndarray:
        """World positions (N, V, 3) [m] of points (V, 3) of a link."""
        state = self._mechanics.compute_state(curves.q, curves.v, curves.a)
        k = self.rig.index(link)
        return points @ state.rotation[:, k].swapaxes(1, 2) + state.position[:, k, None]

    def end_coms(self, start: np.ndarray, stop: np.ndarray, footing: Footing) -> tuple[np.ndarray, np.ndarray]:
        """Horizontal centres of mass (2,) [m] of two static postures (D,)."""
        _, curves, _ = self.solve_static(np.stack([start, stop]), footing.solved)
        com = self.compute_com(curves)[:, :2]
        return com[0], com[1]

    def balance(self, y: np.ndarray, goals: np.ndarray, solved: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Static postures (N, D) with the root moved so that the centre of mass is above goals (N, 2); which succeeded.

        Along the axes that the root is free to move along. Newton with the root's share of the
        motion as slope, improved by the last step (a secant per axis).
        """
        y = np.array(y, float)
        good = np.zeros(len(y), bool)
        active = np.arange(len(y))
        share = np.full((len(y), 2), COM_RATIO)
        before, step = np.full((len(y), 2), np.nan), np.ones((len(y), 2))
        for _ in range(12):
            solved_y, curves, found = self.solve_static(y[active], solved)
            y[active] = np.where(found[:, None], solved_y, y[active])
            error = (goals[active] - self.compute_com(curves)[:, :2]) * self.root_free[:2]
            done = found & (np.abs(error).max(axis=1) < BALANCE_TOLERANCE)
            good[active[done]] = True
            going = found & ~done
            active, error = active[going], error[going]
            if not len(active):
                break
            with np.errstate(invalid="ignore", divide="ignore"):
                followed = (before[active] - error) / step[active]
            plausible = (followed > MIN_COM_RATIO) & (followed < 1.0 / MIN_COM_RATIO)
            share[active] = np.where(plausible, followed, share[active])
            before[active], step[active] = error, error / share[active]
            y[active, :2] += step[active]
        return y, good

    def home_posture(self, footing: Footing) -> np.ndarray:
        """A natural posture (D,) on a footing: knees bent, trunk upright, the centre of mass above the
        middle of the support.

        Raises:
            InvalidValue: the legs do not reach the feet in it.
        """
        y = np.zeros(self.size)
        y[: self.rig.nv] = natural_posture(self.rig)
        y = self.with_feet(y, stance(self.rig, "right_forward" if footing.configuration == "right_forward" else "both",
                                     self.step))  # fmt: skip
        centre = footing.polygon.centre
        y[:ROOT_NV] = [*centre, self.straight_height - HOME_BEND * self.rig.leg_length, 0.0, 0.0, 0.0]
        for leg in self.legs:
            y[self.leg_columns[leg.side]] = leg.bent_posture
        return self.clear_arms(self._balance_on(y, footing, centre), footing, centre)

    def clear_arms(self, y: np.ndarray, footing: Footing, goal: np.ndarray) -> np.ndarray:
        """A standing posture (D,) with arms that touch nothing and the centre of mass above ``goal`` (2,).

        Raises:
            InvalidValue: the posture with these arms cannot be balanced.
        """
        nv = self.rig.nv
        toes = ROOT_NV + np.flatnonzero(_toe_coordinates(self.rig))
        fixed = np.concatenate([np.arange(ROOT_NV), *self.leg_columns.values(), toes])
        cleared = clear_arms(self.rig, self._checks, tuple(y[:nv].tolist()), tuple(fixed.tolist()))
        if np.array_equal(cleared, y[:nv]):
            return y
        result = y.copy()
        result[ROOT_NV:nv] = cleared[ROOT_NV:]
        return self._balance_on(result, footing, goal)

    def _balance_on(self, y: np.ndarray, footing: Footing, goal: np.ndarray) -> np.ndarray:
        result, good = self.balance(y[None], np.asarray(goal, float)[None], SIDES)
        if not good[0]:
            raise InvalidValue(
                f"rig {self.rig.name!r} cannot stand in configuration {footing.configuration!r}: "
                "its legs do not reach, or its centre of mass cannot be brought over the feet"
            )
        return result[0]

    def _straight_height(self) -> float:
        """[m] of the root above the floor in the neutral posture."""
        anchor = stance(self.rig, "both", self.step)[0]
        leg = next(leg for leg in self.legs if leg.patch == anchor.patch)
        return float(anchor.position[2] - leg.forward_kinematics(np.zeros((1, len(leg.columns))))[1][0, 2])


def fixed_coordinates(rig: Rig) -> np.ndarray:
    """(nv - 6,) True for joint coordinates that are constant in a dance.

    These are coupled joints, such as a gripper's fingers, and joints below a sole, such as toes, which would press on
    the floor.
    """
    return _toe_coordinates(rig) | coupled_coordinates(rig)


def _toe_coordinates(rig: Rig) -> np.ndarray:
    """(nv - 6,) True for coordinates of joints below a sole."""
    feet = [rig.index(patch.link) for patch in rig.contacts if patch.name in rig.sides.values()]
    below = rig.descendants[feet].any(axis=0)
    below[feet] = False
    return np.repeat(below[1:], [joint.nv for joint in rig.joints[1:]])
