"""What every check looks at: a prepared body, a contact phase, and N frames of it with what the floor has to push."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..check_options import CheckOptions
from ..contacts.schedule import Phase
from ..contacts.support import SupportPolygon, support_polygon
from ..coordinates import Curves
from ..dynamics.mechanics import DynamicState, Mechanics
from ..rig import ROOT_NV, Rig
from .collisions import CollisionDetector
from .contact_forces import foot_wrenches, joint_torques, load_shares, surface_axes, zero_moment_point
from .load_distribution import LoadDistribution
from .yaw_friction import half_lengths

RAISED_HEIGHT = 0.02
"""[m] over the ground from which feet stand on something else."""
RULE_SOLES = 2
"""Soles between which a rule shares the load."""


class Body:
    """A rig with everything prepared that its checks need, whatever the motion.

    Args:
        rig: L links, F contact patches.
        options: of the checks.

    Attributes:
        weight: [N].
        size: [m] diagonal of the box around the joint centres of the neutral posture.
        sole_length: [m] longest side of the soles.
        mechanics, detector: workspaces.
    """

    def __init__(self, rig: Rig, options: CheckOptions) -> None:
        self.rig, self.options = rig, options
        self.mechanics = Mechanics(rig)
        self.detector = CollisionDetector(rig, options)
        self.weight = rig.weight
        self.size = _body_size(rig)
        self.sole_length = max((float(np.ptp(patch.vertices, axis=0).max()) for patch in rig.soles), default=0.0)


@dataclass(frozen=True, slots=True)
class PlantedPhase:
    """A contact phase on a rig.

    Attributes:
        phase: the contacts.
        patch_indices: (P,) where the planted patches stand among the rig's patches.
        links: (P,) that carry them.
        centres: (P, 3) [m] centres of the planted patches, world.
        axes: (P, 2, 2) their horizontal axes.
        half_lengths: (P, 2) [m] half lengths of the patches along these.
        polygon: of support; None while airborne.
        outlines: (P,) outlines of the patches, shrunk as the polygon is.
        load_distribution: how the load spreads over more than two patches, or over others than soles; None: the
            feet's rule holds.
    """

    phase: Phase
    patch_indices: np.ndarray
    links: tuple[str, ...]
    centres: np.ndarray
    axes: np.ndarray
    half_lengths: np.ndarray
    polygon: SupportPolygon | None
    outlines: tuple[SupportPolygon, ...]
    load_distribution: LoadDistribution | None = None

    def support_height(self, ground: float) -> float:
        """[m] Height of what the patches stand on: the ground, or where all are higher, in the middle between them."""
        raised = self.centres[:, 2] - ground
        return ground + (float(raised.mean()) if len(raised) and raised.min() > RAISED_HEIGHT else 0.0)

    @staticmethod
    def from_phase(rig: Rig, phase: Phase, options: CheckOptions) -> PlantedPhase:
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
        halves = np.array([half_lengths(each, own) for each, own in zip(corners, axes)]).reshape(-1, 2)
        by_rule = len(phase.loaded) <= RULE_SOLES and all(rig.patch(name).sole for name in phase.loaded)
        return PlantedPhase(
            phase,
            np.array([names.index(name) for name in phase.loaded], int),
            links,
            np.array(centres).reshape(-1, 3),
            axes,
            halves,
            polygon,
            tuple(support_polygon(rig, (anchor,), options.shrink) for anchor in phase.anchors),
            None
            if by_rule
            else LoadDistribution.from_patches(np.array(centres), soles, axes, halves, options.friction),
        )


@dataclass(frozen=True, slots=True)
class CheckInput:
    """N frames of one contact phase.

    Attributes:
        body: that moves.
        planted: what stands.
        ground: [m] height of the floor.
        curves: q (N, nq), v and a (N, nv).
        state: poses, inverse dynamics and the external wrench.
        zmp: (N, 2) [m] zero-moment point on what the feet stand on; NaN while airborne.
        loads: (N, P, 6) wrenches under the planted patches, world axes, about the world origin.
        torques: (N, nv - 6) [N m].
    """

    body: Body
    planted: PlantedPhase
    ground: float
    curves: Curves
    state: DynamicState
    zmp: np.ndarray
    loads: np.ndarray
    torques: np.ndarray

    @staticmethod
    def from_motion(
        body: Body, planted: PlantedPhase, ground: float, curves: Curves, measured_wrench: np.ndarray | None = None
    ) -> CheckInput:
        """What a motion of one phase needs of the floor and of its joints; or what ``measured`` (N, 6) asks of them."""
        state = body.mechanics.compute_state(curves.q, curves.v, curves.a)
        if measured_wrench is not None:
            state = replace(state, wrench=measured_wrench)
        return CheckInput.from_state(body, planted, ground, curves, state)

    @staticmethod
    def from_state(
        body: Body, planted: PlantedPhase, ground: float, curves: Curves, state: DynamicState, *, forces: bool = True
    ) -> CheckInput:
        """The same where the state of the curves is known; without forces for checks of postures alone."""
        if not forces:
            count = len(planted.patch_indices)
            unknown = [np.full((len(state), n), np.nan) for n in (2, 6 * count, body.rig.nv - ROOT_NV)]
            loads = unknown[1].reshape(len(state), count, 6)
            return CheckInput(body, planted, ground, curves, state, unknown[0], loads, unknown[2])
        if planted.polygon is None:
            zmp, loads = np.full((len(state), 2), np.nan), np.zeros((len(state), 0, 6))
        else:
            zmp = zero_moment_point(state.wrench, planted.support_height(ground), body.weight, planted.polygon.centre)
            if planted.load_distribution is None:
                share = load_shares(zmp, planted.centres[:, :2], body.options.distribution, planted.outlines)
                sizes = np.linalg.norm(planted.half_lengths, axis=1)
                loads = foot_wrenches(state.wrench, share, planted.centres, sizes)
            else:
                loads = planted.load_distribution.distribute(state.wrench, body.weight)
        torques = joint_torques(body.rig, state, planted.links, loads)
        return CheckInput(body, planted, ground, curves, state, zmp, loads, torques)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def airborne(self) -> bool:
        """Nothing stands."""
        return self.planted.polygon is None

    def expand_to_patches(self, values: np.ndarray) -> np.ndarray:
        """Values (N, P) of planted patches among all F patches of the rig, infinite for the others: (N, F)."""
        result = np.full((len(self), len(self.body.rig.contacts)), np.inf)
        result[:, self.planted.patch_indices] = values
        return result


def _body_size(rig: Rig) -> float:
    return float(np.linalg.norm(np.ptp(rig.rest[1], axis=0))) or 1.0
