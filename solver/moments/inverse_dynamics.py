"""Joint moments by inverse dynamics: each link's Newton-Euler equations, summed over the links that a joint carries.

A joint's wrench is what all links beyond it require, minus the external wrenches on them; its moment is the power of
that wrench per unit rate of the coordinate. It is linear in the inertial parameters, which gives its uncertainty.

Coordinates of joints and the motions that they cause: of a rig, of a person's anatomical angles, and of an OpenSim
model with moving axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue, checked
from ..contacts.gait_cycles import find_gait_cycles
from ..dynamics import link_motions
from ..dynamics.anatomical_angles import joint_angles
from ..dynamics.coordinates import coordinate_lengths
from ..dynamics.kinematics import LinkMotions, motion_pieces
from ..dynamics.regressor import newton_euler_columns
from ..engine import FrameDynamics
from ..formats.joint_coordinates import coordinate_names
from ..identification.comparison import PLATE_ERROR
from ..rigs.opensim.document import GROUND
from ..rigs.opensim.joint_poses import find_coordinates, unit_motion
from ..rigs.opensim.rig import body_placements, is_opensim, model_of
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..values.inertials import GRAVITY, GRAVITY_VECTOR, PER_LINK, InertialParameters
from ..values.joints import ROOT_NV
from ..values.motion import Motion
from ..values.wrenches import Wrenches
from .contact_links import SHARED, UNKNOWN, ContactLinks, assign_wrenches
from .values import INERTIALS, PLATES, JointMoments

CHUNK_FRAMES = 64
"""Frames whose regressors are computed at once: 34 coordinates of 15 links take 20 MB."""
PARTLY = 0.01
"""Share of the frames from which a note says why moments are missing."""


@checked
def compute_moments(
    rig: Rig,
    trial: Trial,
    parameters: InertialParameters | None = None,
    *,
    covariance_root: np.ndarray | None = None,
    motions: Iterable[tuple[str, Rig, Motion]] = (),
    contacts: ContactLinks | None = None,
) -> JointMoments:
    """Joint moments of one trial.

    Args:
        rig: that moves.
        trial: filtered motion and wrenches; frames that do not count have no moments.
        parameters: of every link; the rig's prior by default.
        covariance_root: (M, L, 10) square root of the covariance of the parameters, for the standard deviations; None:
            no standard deviations.
        motions: draws of the error of rig and motion by cause; the first one is without error.
        contacts: links on which the wrenches act; found by `assign_wrenches` by default.

    Raises:
        InvalidValue: parameters of another rig, wrenches without moments, no frame that counts, or no feet.

    Example:
        >>> import solver
        >>> from solver.moments import compute_moments
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> found = compute_moments(robot.rig, study.trials[0], study.identification.parameters)
        >>> found.values.shape == (len(found.times), robot.rig.nv - 6)
        True
    """
    parameters = rig.prior if parameters is None else parameters
    if parameters.links != rig.links:
        raise InvalidValue(f"the inertial parameters name other links than rig {rig.name!r}")
    wrenches = trial.wrenches
    assert wrenches.measured is not None
    if not wrenches.measured.all():
        raise InvalidValue(
            f"trial {trial.name!r} has forces without moments or centres of pressure: joint moments need both"
        )
    if not trial.counted.any():
        raise InvalidValue(f"trial {trial.name!r} has no frame in which every contact is measured")
    motion = trial.motion
    contacts = assign_wrenches(rig, motion, wrenches) if contacts is None else contacts
    axes = coordinate_axes(rig, motion)
    known = _determined(rig, axes, contacts) & trial.counted[:, None]
    values = -_external_powers(rig, axes, contacts, wrenches.values)
    residual = -wrenches.about(motion.q[:, :3])
    std = np.empty(values.shape)
    places = np.empty((len(motion), len(rig.links), 3))
    for own, moving, forces in _parameter_wrenches(rig, motion):
        places[own] = moving.position.transpose(2, 1, 0)
        required = np.einsum("nlpi,lp->nli", forces, parameters.values)
        residual[own] += required.sum(axis=1)
        values[own] += _link_powers(rig, axes, own, required[:, :, None], motion.q[own, :3]).sum(axis=2)
        if covariance_root is not None:
            regressor = _link_powers(rig, axes, own, forces, motion.q[own, :3])
            std[own] = np.linalg.norm(regressor @ covariance_root.reshape(len(covariance_root), -1).T, axis=2)
    by_source = {}
    if covariance_root is not None:
        plates = _plate_std(rig, axes, contacts, wrenches, PLATE_ERROR * parameters.total_mass * GRAVITY)
        by_source = {INERTIALS: std, PLATES: plates, **_motion_std(motions, wrenches, parameters, contacts)}
    values = np.where(known, values, np.nan)
    moved, vectors = _moment_vectors(axes, values)
    return JointMoments(
        trial.name,
        motion.times,
        axes.names,
        axes.lengths,
        values,
        np.where(trial.counted[:, None], residual, np.nan),
        parameters.total_mass,
        {source: np.where(known, own, np.nan) for source, own in by_source.items()},
        (*axes.notes, *_note_missing(trial, contacts)),
        tuple(rig.links[link] for link in moved),
        vectors,
        places[:, moved],
        find_gait_cycles(rig, motion, wrenches, trial.counted),
    )


def _moment_vectors(axes: CoordinateAxes, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Links (K,) that angles move, and moments (N, K, 3) [N m] at their joints; see `JointMoments.vectors`."""
    angles = ~np.array(axes.lengths, bool)
    moved = np.unique(axes.links[angles])
    vectors = np.empty((len(values), len(moved), 3))
    for k, link in enumerate(moved):
        own = np.flatnonzero(angles & (axes.links == link))
        vectors[:, k] = np.einsum("nic,nc->ni", np.linalg.pinv(axes.twists[:, own, 3:]), values[:, own])
    return moved, vectors


def _parameter_wrenches(rig: Rig, motion: Motion) -> Iterator[tuple[slice, LinkMotions, np.ndarray]]:
    """Frames, motions of the links, and wrench (n, L, 10, 6) about the root that each parameter requires per unit."""
    for own, moving in motion_pieces(rig, motion, CHUNK_FRAMES):
        columns = newton_euler_columns(moving, GRAVITY_VECTOR, 0, "world")
        forces = np.zeros((own.stop - own.start, len(rig.links), PER_LINK, 6))
        forces[:, :, : columns.force.shape[1], :3] = columns.force.transpose(3, 2, 1, 0)
        forces[..., 3:] = columns.moment.transpose(3, 2, 1, 0)
        yield own, moving, forces


def _motion_std(
    motions: Iterable[tuple[str, Rig, Motion]],
    wrenches: Wrenches,
    parameters: InertialParameters,
    contacts: ContactLinks,
) -> dict[str, np.ndarray]:
    """Standard deviations (N, C) by cause: root mean square change of the moments from those of the first motion."""
    first: np.ndarray | None = None
    squares: dict[str, list[np.ndarray]] = {}
    for cause, rig, motion in motions:
        axes = coordinate_axes(rig, motion)
        found = -_external_powers(rig, axes, contacts, wrenches.values)
        for own, _, forces in _parameter_wrenches(rig, motion):
            required = np.einsum("nlpi,lp->nli", forces, parameters.values)[:, :, None]
            found[own] += _link_powers(rig, axes, own, required, motion.q[own, :3]).sum(axis=2)
        if first is None:
            first = found
        else:
            squares.setdefault(cause, []).append((found - first) ** 2)
    return {cause: np.sqrt(np.mean(own, axis=0)) for cause, own in squares.items()}


def _plate_std(
    rig: Rig, axes: CoordinateAxes, contacts: ContactLinks, wrenches: Wrenches, force_error: float
) -> np.ndarray:
    """Standard deviations (N, C) caused by errors of loaded plates, independent of each other.

    Each plate errs by ``force_error`` [N] in every axis of its force, by `PLATE_ERROR` [m] in both axes of its centre
    of pressure and by `PLATE_ERROR` [m] times its vertical force in its free moment.
    """
    variances = np.zeros(axes.twists.shape[:2])
    centres, loaded = wrenches.centres_of_pressure(), wrenches.loaded
    linear, angular = axes.twists[..., :3], axes.twists[..., 3:]
    for k in range(len(wrenches.frames)):
        force, centre = wrenches.values[:, k, None, :3], np.nan_to_num(centres[:, k, None])
        of_force = force_error * (linear + np.cross(angular, centre))
        of_centre = PLATE_ERROR * np.cross(force, angular)[..., :2]
        of_couple = PLATE_ERROR * force[..., 2] * angular[..., 2]
        squares = (of_force**2).sum(axis=2) + (of_centre**2).sum(axis=2) + of_couple**2
        variances += np.where(_loads(rig, axes, contacts, k) & loaded[:, k, None], squares, 0.0)
    return np.sqrt(variances)


def _link_powers(rig: Rig, axes: CoordinateAxes, frames: slice, forces: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Powers (n, C, L P) per unit rate of the coordinates of P wrenches (n, L, P, 6) of each link, about the root."""
    twists = np.array(axes.twists[frames])
    twists[..., :3] += np.cross(twists[..., 3:], root[:, None])  # velocity of the root's origin as a point of the link
    count, links = len(twists), len(rig.links)
    powers = (twists @ forces.reshape(count, -1, 6).swapaxes(1, 2)).reshape(count, -1, links, forces.shape[2])
    powers *= rig.descendants[axes.links][:, :, None]
    return powers.reshape(count, powers.shape[1], -1)


def _external_powers(rig: Rig, axes: CoordinateAxes, contacts: ContactLinks, wrenches: np.ndarray) -> np.ndarray:
    """(N, C) powers per unit rate of the coordinates of wrenches (N, K, 6) on the links that they carry."""
    result = np.zeros(axes.twists.shape[:2])
    for k in range(wrenches.shape[1]):
        # frames n, coordinates c, axes i
        result += np.where(_loads(rig, axes, contacts, k), np.einsum("nci,ni->nc", axes.twists, wrenches[:, k]), 0.0)
    return result


def _loads(rig: Rig, axes: CoordinateAxes, contacts: ContactLinks, sensor: int) -> np.ndarray:
    """(N, C) True where the wrench of a sensor acts on links that the coordinate carries."""
    carries, links = rig.descendants[axes.links], contacts.links[:, sensor]
    return np.where(links >= 0, carries[:, np.maximum(links, 0)], _carries_all(carries, contacts)[:, None]).T


def _carries_all(carries: np.ndarray, contacts: ContactLinks) -> np.ndarray:
    """(C,) True for coordinates that carry every foot, so that it does not matter which one a plate loads."""
    return np.asarray(carries[:, list(contacts.feet)].all(axis=1) if contacts.feet else np.zeros(len(carries), bool))


def _determined(rig: Rig, axes: CoordinateAxes, contacts: ContactLinks) -> np.ndarray:
    """(N, C) True where the links on which the wrenches act are known as far as the coordinate depends on them."""
    carried = rig.descendants[axes.links][:, list(contacts.feet)]
    depends = carried.any(axis=1) & ~carried.all(axis=1)
    shared, unknown = ((contacts.links == kind).any(axis=1) for kind in (SHARED, UNKNOWN))
    return ~(unknown[:, None] | (shared[:, None] & depends))


def _note_missing(trial: Trial, contacts: ContactLinks) -> tuple[str, ...]:
    reasons = (
        (SHARED, "a plate carries both feet: the moments between them are not determined"),
        (UNKNOWN, "a plate carries something that is no foot: no moment is determined"),
    )
    notes = []
    for kind, text in reasons:
        share = float((contacts.links[trial.counted] == kind).any(axis=1).mean())
        if share > PARTLY:
            notes.append(f"in {100.0 * share:.0f} % of the frames {text}")
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class CoordinateAxes:
    """Motion of a link, relative to its parent, per unit of each coordinate.

    Attributes:
        names: C coordinates.
        lengths: C; True for a length.
        links: (C,) index of the link that the coordinate moves with all links that it carries.
        twists: (N, C, 6) linear velocity of the world origin as a point of the link, then angular, world axes.
        notes: in plain sentences.
    """

    names: tuple[str, ...]
    lengths: tuple[bool, ...]
    links: np.ndarray
    twists: np.ndarray
    notes: tuple[str, ...] = ()


def coordinate_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    """Axes of the model's own coordinates for an OpenSim model, of anatomical angles for a person, or of the rig's.

    Raises:
        InputError: the model's file is missing or has changed.
        InvalidValue: poses that the model's joints cannot have.
    """
    if is_opensim(rig):
        return _opensim_axes(rig, motion)
    return _person_axes(rig, motion) if rig.is_person else _rig_axes(rig, motion)


def _person_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    """Axes of anatomical angles, and of the joints between two segments that they join, such as a clavicle's."""
    own, angles = _rig_axes(rig, motion), joint_angles(rig, motion)
    between = np.flatnonzero(~np.isin(own.links, angles.links))
    origins = link_motions(rig, motion).position.transpose(2, 1, 0)[:, angles.links]
    twists = np.concatenate([np.cross(origins, angles.axes), angles.axes], axis=2)
    return CoordinateAxes(
        (*angles.names, *(own.names[k] for k in between)),
        (*(False for _ in angles.names), *(own.lengths[k] for k in between)),
        np.concatenate([angles.links, own.links[between]]),
        np.concatenate([twists, own.twists[:, between]], axis=1),
    )


def _rig_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    links = np.repeat(np.arange(len(rig.links)), [joint.nv for joint in rig.joints])[ROOT_NV:]
    _, twists = FrameDynamics(rig.model).jacobians(motion.q)
    lengths = tuple(map(bool, coordinate_lengths(rig)))
    return CoordinateAxes(coordinate_names(rig)[ROOT_NV:], lengths, links, twists[:, ROOT_NV:])


def _opensim_axes(rig: Rig, motion: Motion) -> CoordinateAxes:
    model, placements = model_of(rig), body_placements(rig)
    found = link_motions(rig, motion)
    turns, origins = found.rotation.transpose(3, 2, 0, 1), found.position.transpose(2, 1, 0)
    names: list[str] = []
    lengths: list[bool] = []
    links: list[int] = []
    twists: list[np.ndarray] = []
    worst, culprit = 0.0, ""
    for joint in model.joints:
        child = placements[joint.child.body]
        if not joint.coordinates or joint.parent.body == GROUND or child.carrier == 0:
            continue
        parent = placements[joint.parent.body]
        rotation, position = turns[:, parent.carrier] @ parent.rotation, turns[:, child.carrier] @ child.rotation
        base = origins[:, parent.carrier] + turns[:, parent.carrier] @ parent.position
        end = origins[:, child.carrier] + turns[:, child.carrier] @ child.position
        back = rotation.swapaxes(1, 2)
        # frames n, axes i of the parent body, axes j of the world
        values, error = find_coordinates(joint, back @ position, np.einsum("nij,nj->ni", back, end - base))
        if error > worst:
            worst, culprit = error, joint.name
        for coordinate in joint.coordinates:
            omega, speed = unit_motion(joint, values, coordinate.name)
            omega, speed = (np.einsum("nij,nj->ni", rotation, each) for each in (omega, speed))
            twists.append(np.concatenate([speed - np.cross(omega, end), omega], axis=1))
            names.append(coordinate.name)
            lengths.append(not any(coordinate.name in axis.coordinates for axis in joint.rotations))
            links.append(child.carrier)
    if not names:
        raise InvalidValue(f"model {model.path.name} has no coordinate besides those of its root")
    notes = (
        f"filtered poses of the bodies differ from those of the model's joints by up to {1e3 * worst:.1f} mm or mrad "
        f"({culprit})",
    ) * bool(worst > 1e-3)
    return CoordinateAxes(tuple(names), tuple(lengths), np.array(links), np.stack(twists, axis=1), notes)
