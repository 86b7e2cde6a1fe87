"""What a contact phase asks of balance and feet, prepared once and applied to many frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..check_options import CheckOptions
from ..contacts.schedule import Phase
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics.mechanics import State
from ..rig import Rig
from . import feet
from .balance import foot_wrenches, friction_margins, joint_torques, shares, surface_axes, zero_moment_point
from .twist import half_lengths, twist_margins


@dataclass(frozen=True, slots=True)
class PlantedPhase:
    """A contact phase on a rig.

    Attributes:
        phase: the contacts.
        columns: (F,) where the planted patches stand among the rig's patches.
        links: (F,) that carry them.
        centres: (F, 3) [m] centres of the planted patches, world.
        axes: (F, 2, 2) their horizontal axes.
        halves: (F, 2) [m] half lengths of the patches along these.
        polygon: of support; None while airborne.
    """

    phase: Phase
    columns: np.ndarray
    links: tuple[str, ...]
    centres: np.ndarray
    axes: np.ndarray
    halves: np.ndarray
    polygon: SupportPolygon | None

    @staticmethod
    def of(rig: Rig, phase: Phase, options: CheckOptions) -> PlantedPhase:
        """Prepare a phase.

        Raises:
            InvalidValue: a patch the rig does not have, or a support polygon without area.
        """
        names = rig.patches
        corners = [anchor.points(rig) for anchor in phase.anchors]
        links = tuple(rig.patch(name).link for name in phase.loaded)
        polygon = support_polygon(rig, phase.anchors, options.shrink) if phase.anchors else None
        soles = [support_polygon(rig, (anchor,)) for anchor in phase.anchors]
        centres = [np.append(sole.centre, each[:, 2].mean()) for sole, each in zip(soles, corners)]
        axes = np.array([surface_axes(c, a.rotation) for c, a in zip(corners, phase.anchors)]).reshape(-1, 2, 2)
        return PlantedPhase(
            phase,
            np.array([names.index(name) for name in phase.loaded], int),
            links,
            np.array(centres).reshape(-1, 3),
            axes,
            np.array([half_lengths(each, own) for each, own in zip(corners, axes)]).reshape(-1, 2),
            polygon,
        )


@dataclass(frozen=True, slots=True)
class GroundMargins:
    """Balance and feet of N frames of one phase; margins as in `check_motion`, patches F of the rig.

    Attributes:
        torques: (N, nv - 6) [N m].
        loads: (N, F, 6) wrenches under the patches; zero where not planted.
        zmp: (N, 2) [m]; NaN while airborne.
        balance, placement, flight: (N,).
        friction, twist, unilateral, slip: (N, F).
    """

    torques: np.ndarray
    loads: np.ndarray
    zmp: np.ndarray
    balance: np.ndarray
    placement: np.ndarray
    flight: np.ndarray
    friction: np.ndarray
    twist: np.ndarray
    unilateral: np.ndarray
    slip: np.ndarray


def ground_margins(
    rig: Rig,
    state: State,
    planted_phase: PlantedPhase,
    options: CheckOptions,
    ground: float,
    weight: float,
    size: float,
) -> GroundMargins:
    """Judge N frames of one phase.

    Args:
        rig: with F contact patches.
        state: of the N frames.
        planted_phase: their phase.
        options: friction, load distribution and allowances.
        ground: [m] height of the floor.
        weight: [N] of the rig.
        size: [m] of the rig, which makes a moment comparable with its weight.
    """
    frames, patches = len(state), len(rig.contacts)
    free = np.full(frames, np.inf)
    friction, twist, unilateral, slip = (np.full((frames, patches), np.inf) for _ in range(4))
    loads = np.zeros((frames, patches, 6))
    if planted_phase.polygon is None:
        force = state.wrench[:, :3]
        moment = state.wrench[:, 3:] - np.cross(state.com, force)
        missing = np.maximum(np.linalg.norm(force, axis=1), np.linalg.norm(moment, axis=1) / size) / weight
        torques = joint_torques(rig, state, (), loads)
        zmp = np.full((frames, 2), np.nan)
        falling = options.flight - missing
        return GroundMargins(torques, loads, zmp, free, free, falling, friction, twist, unilateral, slip)
    anchors, columns = planted_phase.phase.anchors, planted_phase.columns
    zmp = zero_moment_point(state.wrench, ground, weight)
    share = shares(zmp, planted_phase.centres[:, :2], options.distribution)
    planted = foot_wrenches(state.wrench, share, planted_phase.centres)
    loads[:, columns] = planted
    friction[:, columns] = friction_margins(planted, planted_phase.axes, options.friction, weight)
    twist[:, columns] = twist_margins(
        planted, planted_phase.centres, planted_phase.axes, planted_phase.halves, options.friction, weight
    )
    unilateral[:, columns] = planted[:, :, 2] / weight
    slip[:, columns] = options.allowed_slip - feet.slip(rig, state.rotation, state.position, anchors)
    placement = free
    if len(anchors) > 1:
        placement = options.allowed_slip - feet.placement(rig, state.rotation, state.position, anchors)
    torques = joint_torques(rig, state, planted_phase.links, planted)
    balance = planted_phase.polygon.margin(zmp)
    return GroundMargins(torques, loads, zmp, balance, placement, free, friction, twist, unilateral, slip)
