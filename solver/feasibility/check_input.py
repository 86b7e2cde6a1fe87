"""Input of every check: a body, a contact phase, and N frames with inverse dynamics and contact loads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..contacts.rolling import SOLE
from ..contacts.schedule import Phase
from ..contacts.support import SupportPolygon, support_polygon
from ..dynamics import Momentum, centroidal_momentum
from ..dynamics.coordinates import Curves
from ..dynamics.mechanics import DynamicState, Mechanics
from ..options.checks import CheckOptions
from ..skeleton.rig import ROOT_NV, Rig
from ..values.motion import Motion
from .collisions import CollisionDetector
from .contact_forces import foot_wrenches, half_lengths, joint_torques, load_shares, surface_axes, zero_moment_point
from .load_distribution import LoadDistribution

RAISED_HEIGHT = 0.02
"""[m] Feet planted higher above the ground stand on an object."""
RULE_SOLES = 2
"""Up to this number of soles, a rule distributes the load."""


class CheckedBody:
    """A rig with its dynamics and collision models, and sizes that checks need.

    Args:
        rig: L links, F contact patches.
        options: of the checks.

    Attributes:
        weight: [N].
        size: [m] diagonal of the box around the joint centres of the neutral posture.
        sole_length: [m] longest side of the soles.
        mechanics, detector: of dynamics and collisions.
    """

    def __init__(self, rig: Rig, options: CheckOptions) -> None:
        self.rig, self.options = rig, options
        self.mechanics = Mechanics(rig)
        self.detector = CollisionDetector(rig, options)
        self.weight = rig.weight
        self.size = float(np.linalg.norm(np.ptp(rig.rest[1], axis=0))) or 1.0
        self.sole_length = max((float(np.ptp(patch.vertices, axis=0).max()) for patch in rig.soles), default=0.0)


@dataclass(frozen=True, slots=True)
class PlantedPhase:
    """A contact phase of a rig.

    Attributes:
        phase: the contacts.
        patch_indices: (P,) of the planted patches among the rig's patches.
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
        """[m] Height of the support: the ground, or the patches' mean height if all of them are higher."""
        raised = self.centres[:, 2] - ground
        return ground + (float(raised.mean()) if len(raised) and raised.min() > RAISED_HEIGHT else 0.0)

    @staticmethod
    def from_phase(rig: Rig, phase: Phase, options: CheckOptions) -> PlantedPhase:
        """From a phase of a contact schedule.

        Raises:
            InvalidValue: the rig does not have one of the patches, or the support polygon has no area.
        """
        names = rig.patches
        corners = [anchor.points(rig) for anchor in phase.anchors]
        links = tuple(rig.patch(name).link for name in phase.loaded)
        polygon = support_polygon(rig, phase.anchors, options.shrink) if phase.anchors else None
        soles = [support_polygon(rig, (anchor,)) for anchor in phase.anchors]
        centres = [np.append(sole.centre, each[:, 2].mean()) for sole, each in zip(soles, corners)]
        axes = np.array([surface_axes(c, a.rotation) for c, a in zip(corners, phase.anchors)]).reshape(-1, 2, 2)
        halves = np.array([half_lengths(each, own) for each, own in zip(corners, axes)]).reshape(-1, 2)
        by_rule = len(phase.loaded) < 2 or (
            len(phase.loaded) <= RULE_SOLES and all(rig.patch(a.patch).sole and a.part == SOLE for a in phase.anchors)
        )
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
        planted: contact phase.
        ground: [m] height of the floor.
        curves: q (N, nq), v and a (N, nv).
        state: poses, inverse dynamics and the required external wrench.
        zmp: (N, 2) [m] zero-moment point at the height of the support; NaN while airborne.
        loads: (N, P, 6) wrenches under the planted patches, world axes, about the world origin.
        torques: (N, nv - 6) [N m].
        times: (N,) [s]; None in an optimisation, whose frames have none yet: `motion` then numbers them.
    """

    body: CheckedBody
    planted: PlantedPhase
    ground: float
    curves: Curves
    state: DynamicState
    zmp: np.ndarray
    loads: np.ndarray
    torques: np.ndarray
    times: np.ndarray | None = None

    @property
    def motion(self) -> Motion:
        """The frames as a motion, for what `dynamics` computes of motions."""
        times = np.arange(float(len(self))) if self.times is None else self.times
        return Motion(times, self.curves.q, self.curves.v, self.curves.a)

    @property
    def momentum(self) -> Momentum:
        """Momentum [kg m/s], [kg m^2/s] about the centre of mass and its rate, by the rig's prior."""
        return centroidal_momentum(self.body.rig, self.motion, self.body.rig.prior)

    @staticmethod
    def from_motion(
        body: CheckedBody,
        planted: PlantedPhase,
        ground: float,
        curves: Curves,
        measured_wrench: np.ndarray | None = None,
    ) -> CheckInput:
        """From a motion in one phase, with the wrench that it requires or a measured one (N, 6)."""
        state = body.mechanics.compute_state(curves.q, curves.v, curves.a)
        if measured_wrench is not None:
            state = replace(state, wrench=measured_wrench)
        return CheckInput.from_state(body, planted, ground, curves, state)

    @staticmethod
    def from_state(
        body: CheckedBody,
        planted: PlantedPhase,
        ground: float,
        curves: Curves,
        state: DynamicState,
        *,
        forces: bool = True,
    ) -> CheckInput:
        """From a known state of the curves. Without forces, ZMP, loads and torques are NaN: for checks of postures."""
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
        """No patch is planted."""
        return self.planted.polygon is None

    def expand_to_patches(self, values: np.ndarray) -> np.ndarray:
        """Values (N, F) of all patches from values (N, P) of the planted ones; infinite for the others."""
        result = np.full((len(self), len(self.body.rig.contacts)), np.inf)
        result[:, self.planted.patch_indices] = values
        return result
