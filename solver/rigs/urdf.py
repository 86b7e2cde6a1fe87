"""Rigs from URDF files, with a free-flyer root.

Design decisions, with a note in the rig where they apply:
- Links on fixed joints are merged: a link of the rig is a moving body, named after the URDF link of its joint, and
  ``provenance["bodies"]`` lists the URDF links in it.
- Mimic joints become independent joints, because Pinocchio's regressors, which identification needs, do not support
  them, and the wrench at the base depends only on the motion. `Joint.mimic` keeps the coupling (source joint,
  multiplier, offset) for the generation of motions.
- Massless links are kept (the three axes of a hip are often written so); their prior is zero.
- The reader is strict: errors that a lenient reader would ignore (a mass that is not a number, an inertia without all
  six moments, a misspelt element) are reported with their position.
- Physically inconsistent inertias keep the file's numbers in model and prior, so that the rig moves as the file says;
  the notes and ``provenance["inconsistent"]`` list them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..base.arrays import list_names
from ..base.errors import InputError, InvalidValue, UnknownLink, checked
from ..base.files import Paths, as_paths
from ..skeleton.rig import CONTRADICTING, FEET, GRAVITY, MESHES_LOST, NO_LEGS, UNLIMITED, Rig
from ..values.inertials import ROUNDED_MOMENT, InertialParameters
from ..values.joints import Joint, Limits, rest_poses
from .convex_decomposition import decompose_overlapping
from .mirrored_links import find_opposed_joints, pairs_by_name, split_mirrored
from .moving_bodies import MovingBodies
from .robot_files import DIGEST, model_digest
from .root_and_up_axis import find_root_and_up
from .soles import find_bearing_shapes, find_sole, select_feet
from .urdf_document import LIMITED_TYPES, UrdfDocument, read_urdf
from .urdf_geometry import MESH_POLICIES, LinkGeometry, boxes_and_tips, find_arms, find_feet, read_geometry

MAX_ROTATION_LIMIT = 10.0
"""[rad] A rotation limit of this size or more is treated as none. Measured on the models of `soles.MIN_FLAT_FRACTION`:
twice the value keeps the same limits, half of it loses those of UR10e, one turn to either side."""
MAX_SPEED_LIMIT = 100.0
"""[rad/s, m/s] A speed limit of this size or more is treated as none; human joints reach 40 rad/s at most. Measured on
the models of `soles.MIN_FLAT_FRACTION`: half and twice the value keep the same limits."""
PLACEHOLDER_SPEEDS = {1.0, 10.0}
"""[rad/s] Speed limits that are placeholders if all joints have the same one."""
MIN_JOINTS = 3
"""Number of joints from which on one value for all of them is not a coincidence. Measured on the models of
`soles.MIN_FLAT_FRACTION`: half the value notes the same, twice changes a note of one."""
MIN_LEG_TORQUE = 0.05
"""Smallest plausible torque of leg joints, relative to weight times height. Measured on the models of
`soles.MIN_FLAT_FRACTION`: twice the value notes the same, half of it changes a note of one."""
MAX_LIGHT_FRACTION = 0.01
"""Largest mass beyond a joint, relative to the robot's mass, for which a missing torque limit is ignored: fingers.
Measured on the models of `soles.MIN_FLAT_FRACTION`: half and twice the value note the same."""
MAX_EXTENT, MAX_MASS = 100.0, 10_000.0
"""[m], [kg] A larger or heavier robot is probably in other units."""
MAX_GYRATION = 2.0
"""Largest radius of gyration of a link relative to the robot's size. Measured on 85 public models: only placeholders of
kg m^2 in fingers are above it."""


@checked
def from_urdf(
    path: str | Path,
    packages: Paths = (),
    *,
    meshes: str = "found",
    feet: Sequence[str] | None = None,
    base_link: str | None = None,
    up: str = "auto",
) -> Rig:
    """Rig of a URDF file with a free flyer above its root link, or above the link that carries both legs.

    Args:
        path: the URDF.
        packages: a folder or several in which ``package://name/...`` is searched, before the file's parent folders.
        meshes: ``"found"`` reads existing meshes and notes missing ones, ``"required"`` requires all of them,
        ``"none"``
            reads none. Meshes become convex hulls, or convex pieces if links overlap the hulls of others.
        feet: URDF links that touch the ground; by default those named foot, sole, toe (or ankle) that are lowest with
            every joint at zero, or else the lowest ends. Their soles are the flat areas at their bottom.
        base_link: link at which wrenches are expressed, stored in the provenance; the root by default.
        up: axis of the file that points up, ``"z"`` or ``"y"``; by default the axis from feet to root.

    Returns:
        Rig; its joints are in Pinocchio's order (depth first, siblings by name).

    Raises:
        InputError: the file is missing, malformed, hostile, not a tree, or has implausible numbers.
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> robot = Path(tempfile.mkdtemp()) / "robot.urdf"
        >>> body = '<inertial><mass value="2.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        >>> _ = robot.write_text(f'<robot name="block"><link name="body">{body}</link></robot>')
        >>> rig = solver.from_urdf(robot)
        >>> rig.links, f"{rig.prior.total_mass:.1f} kg"
        (('body',), '2.5 kg')
    """
    if meshes not in MESH_POLICIES:
        raise InvalidValue(f"meshes = {meshes!r} is none of {', '.join(MESH_POLICIES)}")
    document = read_urdf(path)
    folders = as_paths(packages)
    source = {"kind": "urdf", "path": str(document.path), "packages": [str(f) for f in folders], "meshes": meshes}
    source[DIGEST] = model_digest(path)

    def geometry(bodies: MovingBodies) -> LinkGeometry:
        return read_geometry(document, bodies, folders, meshes)

    return build_robot(document, geometry, feet, base_link, up, source)


def build_robot(
    document: UrdfDocument,
    geometry: Callable[[MovingBodies], LinkGeometry],
    feet: Sequence[str] | None,
    base_link: str | None,
    up: str,
    source: Mapping[str, object],
) -> Rig:
    """Rig of a robot's document, with the link that carries all feet as root.

    The feet are specified, or found by their names, or else by their shapes.

    Args:
        document: links and joints.
        geometry: reads the shapes of moving bodies.
        feet, base_link, source: as for `assemble_rig`.
        up: as for `find_root_and_up`, and added to the source.

    Raises:
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.
        InputError: an axis, size or position that no robot has.
    """
    try:
        bodies, up, notes = find_root_and_up(document, up, feet)
        rig = assemble_rig(document, bodies, geometry(bodies), feet, base_link, {**source, "up": up})
        shown = [str(link) for link in rig.provenance[FEET]]  # type: ignore[attr-defined]
        if len(shown) > 1:
            below, up, findings = find_root_and_up(document, up, shown)
            if below.links[0] != bodies.links[0]:
                rig, notes = (
                    assemble_rig(document, below, geometry(below), feet, base_link, {**source, "up": up}),
                    findings,
                )
    except InvalidValue as error:
        raise InputError(document.path, str(error)) from error
    return replace(rig, notes=(*rig.notes, *notes)) if notes else rig


def assemble_rig(
    document: UrdfDocument,
    bodies: MovingBodies,
    geometry: LinkGeometry,
    feet: Sequence[str] | None,
    base_link: str | None,
    source: Mapping[str, object],
) -> Rig:
    """Rig of moving bodies: with plausible limits, convex pieces, feet, soles and left and right pairs.

    Args:
        document: links and joints.
        bodies: the moving bodies.
        geometry: their shapes.
        feet: names of links that touch the ground; detected if None.
        base_link: link at which wrenches are expressed.
        source: kind and path of the file and how it was read, for the provenance.

    Raises:
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.
    """
    links, joints, prior, merged = bodies.links, bodies.joints, bodies.prior, bodies.bodies_by_link
    rest = rest_poses(joints)
    kept = find_bearing_shapes(geometry.shapes)
    specks = list(dict.fromkeys(shape.link for shape, own in zip(geometry.shapes, kept) if not own))
    solid = [shape for shape, own in zip(geometry.shapes, kept) if own]
    sources = [source for source, own in zip(geometry.sources, kept) if own]
    shapes = decompose_overlapping(solid, sources, joints, links, rest)
    boxes, tips = boxes_and_tips(joints, rest[1], shapes, prior)
    limits, limit_notes = _build_limits(document, joints)
    alike = _shared_torque(limits.torque)
    weak = alike is not None and alike < MIN_LEG_TORQUE * GRAVITY * prior.total_mass * float(np.ptp(rest[1][:, 2]))
    if alike is not None:
        reason = "too small to bend a knee, so treated as none" if weak else "probably placeholders"
        limit_notes.append(f"every joint has effort limit {alike:g}: {reason}; specify torques if they are known")
    if weak:
        limits = replace(limits, torque=np.full(len(limits.torque), np.inf))
    free = links[1:] if weak else _light_ends(joints, prior, limits.torque)
    if free and not weak:
        limit_notes.append(f"joints of light links have no torque limit, so none is checked: {list_names(free)}")
    pairs, apart = split_mirrored(pairs_by_name(links), dict(zip(links, rest[1])))
    mirrored = {link for pair in pairs for link in pair}
    if odd := find_opposed_joints(pairs, joints, links, rest, limits):
        limit_notes.append(f"{CONTRADICTING}, an axis may have the wrong sign: {list_names(odd)}")
    named = None if feet is None else _moving_links(feet, merged)
    standing = find_feet(joints, rest, merged, shapes, mirrored) if named is None else named
    soles = [find_sole(link, rest[0][links.index(link)], shapes) for link in standing]
    if named is None:
        bearing = select_feet(standing, soles, rest, links, [_descendants(joints, links, link) for link in standing])
        soles = [sole for link, sole in zip(standing, soles) if link in bearing]
        standing = bearing
    contacts = tuple(sole for sole in soles if sole is not None)
    if base_link is not None:
        base_link = _moving_links([base_link], merged)[0]
    inconsistent = _inconsistent_links(document)
    notes = [f"read from {document.path.name}", *document.notes, *_body_notes(bodies, inconsistent), *limit_notes]
    notes += _geometry_notes(geometry, standing, apart)
    if specks:
        notes.append(f"tiny shapes that are only marks, left out: {list_names(specks)}")
    if round_ := [link for link, sole in zip(standing, soles) if sole is None]:
        notes.append(f"no flat sole to stand on: {list_names(round_)}; specify soles if they exist")
    notes += _size_notes(rest[1], boxes, prior)
    if mimic := [joint.name for joint in joints if joint.mimic is not None]:
        notes.append(f"{len(mimic)} mimic joint(s) move independently: {list_names(mimic)}")
    rig = Rig(
        name=document.name,
        links=links,
        joints=joints,
        prior=prior,
        boxes=boxes,
        limits=limits,
        contacts=contacts,
        pairs=tuple(pairs),
        shapes=shapes,
        tips=tips,
        notes=tuple(notes),
        provenance={
            **source,
            "feet": None if feet is None else list(feet),
            "base_link": base_link or links[0],
            "bodies": {link: list(names) for link, names in merged.items()},
            "inconsistent": list(inconsistent),
            FEET: list(standing),
            UNLIMITED: list(free),
        },
    )
    if not contacts and set(rig.feet) <= find_arms(joints, links, merged):
        note = f"{NO_LEGS}: {list_names(rig.feet)} belong to arms (use python -m solver excite for a fixed base)"
        return replace(rig, notes=(*rig.notes, note))
    return rig


def _descendants(joints: Sequence[Joint], links: Sequence[str], link: str) -> set[str]:
    """Links below a link in the tree."""
    found: set[int] = set()
    for k, joint in enumerate(joints):
        if joint.parent == links.index(link) or joint.parent in found:
            found.add(k)
    return {links[k] for k in found}


def _moving_links(names: Sequence[str], bodies: dict[str, tuple[str, ...]]) -> list[str]:
    carrier = {body: link for link, merged in bodies.items() for body in merged}
    for name in names:
        if name not in carrier:
            raise UnknownLink(name, carrier)
    return list(dict.fromkeys(carrier[name] for name in names))


def _build_limits(document: UrdfDocument, joints: Sequence[Joint]) -> tuple[Limits, list[str]]:
    parts: dict[str, list[float]] = {"lower": [], "upper": [], "speed": [], "torque": []}
    absurd, endless, still, open_ended = [], [], [], []
    whole = [(document.joints[moving.name], moving.nv) for moving in joints[1:]]
    for joint, count in [(part, nv // len(own.parts)) for own, nv in whole for part in own.parts]:
        lower, upper = -np.inf, np.inf
        if joint.kind in LIMITED_TYPES:
            lower = -np.inf if joint.lower is None else joint.lower
            upper = np.inf if joint.upper is None else joint.upper
            open_ended += [joint.name] * (joint.lower is None or joint.upper is None)
        else:
            endless += [joint.name] * (joint.lower is not None or joint.upper is not None)
        still += [joint.name] * (joint.speed == 0.0 or joint.effort == 0.0)
        if joint.kind == "revolute" and any(np.isfinite(x) and abs(x) >= MAX_ROTATION_LIMIT for x in (lower, upper)):
            absurd.append(joint.name)
            lower = lower if abs(lower) < MAX_ROTATION_LIMIT else -np.inf
            upper = upper if abs(upper) < MAX_ROTATION_LIMIT else np.inf
        parts["lower"] += [lower] * count
        parts["upper"] += [upper] * count
        parts["speed"] += [joint.speed or np.inf] * count
        parts["torque"] += [joint.effort or np.inf] * count
    findings = (
        (f"limits of {MAX_ROTATION_LIMIT:g} rad and more treated as none (degrees? URDF has radians)", absurd),
        ("missing lower or upper limits treated as none", open_ended),
        ("velocity and effort limits of 0 treated as none", still),
        ("lower and upper limits of joint types without limits ignored", endless),
    )
    notes = [f"{what}: {list_names(names)}" for what, names in findings if names]
    parts["speed"], speed_notes = _remove_placeholder_speeds(parts["speed"])
    notes += speed_notes
    limits = Limits(*(np.array(parts[name]) for name in ("lower", "upper", "speed", "torque")))
    alike = {(low, high) for low, high in zip(limits.lower, limits.upper) if np.isfinite([low, high]).all()}
    if len(limits.lower) > MIN_JOINTS and len(alike) == 1:
        low, high = alike.pop()
        notes.append(f"every joint has the range {low:g} to {high:g}: probably placeholders; dances use the full range")
    return limits, notes


def _shared_torque(torques: np.ndarray) -> float | None:
    """The effort limit that all joints share, a sign of placeholders; None if they differ."""
    alike = len(torques) > MIN_JOINTS and np.isfinite(torques[0]) and bool((torques == torques[0]).all())
    return float(torques[0]) if alike else None


def _light_ends(joints: Sequence[Joint], prior: InertialParameters, torques: np.ndarray) -> list[str]:
    """Links whose joints have no torque limit and carry little mass, while other joints have limits: mostly fingers."""
    if not np.isfinite(torques).any():
        return []
    carried_mass = np.array(prior.masses)
    for k in range(len(joints) - 1, 0, -1):
        carried_mass[joints[k].parent] += carried_mass[k]
    first, result = 0, []
    for joint, link, mass in zip(joints[1:], prior.links[1:], carried_mass[1:]):
        unknown = np.isinf(torques[first : first + joint.nv]).any()
        result += [link] * bool(unknown and mass <= MAX_LIGHT_FRACTION * prior.total_mass)
        first += joint.nv
    return result


def _remove_placeholder_speeds(speeds: list[float]) -> tuple[list[float], list[str]]:
    """Speed limits without placeholders, which would slow a body without reason."""
    stated = {speed for speed in speeds if np.isfinite(speed)}
    if len(speeds) >= MIN_JOINTS and len(stated) == 1 and stated <= PLACEHOLDER_SPEEDS:
        note = f"every joint has speed limit {min(stated):g}: a placeholder, treated as none"
        return [np.inf] * len(speeds), [note]
    if not (fast := [speed for speed in stated if speed >= MAX_SPEED_LIMIT]):
        return speeds, []
    note = f"speed limits of {MAX_SPEED_LIMIT:g} rad/s (m/s) and more treated as none, for example {min(fast):g}"
    return [np.inf if speed in fast else speed for speed in speeds], [note]


def _inconsistent_links(document: UrdfDocument) -> list[str]:
    """URDF links whose inertia is physically inconsistent."""
    moments = np.linalg.eigvalsh(np.array([link.inertia for link in document.links.values()]))
    least, largest = 0.5 * moments.sum(axis=1) - moments[:, -1], np.abs(moments).max(axis=1)
    masses = np.array([link.mass for link in document.links.values()])
    wrong = (least < -ROUNDED_MOMENT * largest) | ((masses == 0.0) & (largest > 0.0))
    return [name for name, bad in zip(document.links, wrong) if bad]


def _body_notes(bodies: MovingBodies, inconsistent: Sequence[str]) -> list[str]:
    notes = []
    prior, merged = bodies.prior, [body for names in bodies.bodies_by_link.values() for body in names[1:]]
    if merged:
        notes.append(f"{len(merged)} link(s) on fixed joints merged into their carriers: {list_names(merged)}")
    if light := [link for link, mass in zip(prior.links, prior.masses) if mass == 0.0]:
        notes.append(f"{len(light)} moving link(s) without mass: {list_names(light)}")
    points = (prior.masses > 0.0) & ~prior.inertias_at_com.any(axis=(1, 2))
    if points.any():
        names = [link for link, point in zip(prior.links, points) if point]
        notes.append(f"{len(names)} moving link(s) with mass but no inertia (point masses): {list_names(names)}")
    if inconsistent:
        what = "link(s) with physically inconsistent inertia, used as in the file"
        notes.append(f"{len(inconsistent)} {what}: {list_names(inconsistent)}")
    return notes


def _size_notes(origins: np.ndarray, boxes: np.ndarray, prior: InertialParameters) -> list[str]:
    """Notes on a robot so large or heavy that its file is probably in millimetres or grams, and on inertias of bodies
    far larger than the robot."""
    extent, notes = float(np.linalg.norm(np.ptp(origins, axis=0))), []
    if extent > MAX_EXTENT or prior.total_mass > MAX_MASS:
        size = f"the robot is {extent:.3g} m large and weighs {prior.total_mass:.3g} kg"
        notes.append(f"{size}: URDF uses metres and kilograms")
    masses = prior.masses
    squares = 0.5 * np.trace(prior.inertias_at_com, axis1=1, axis2=2) / np.where(masses > 0.0, masses, np.inf)
    radii = np.sqrt(np.maximum(squares, 0.0))
    largest = max(extent, float(np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1).max()))
    far = [link for link, radius in zip(prior.links, radii) if radius > MAX_GYRATION * largest]
    if far and extent > 0.0:
        radius = float(radii.max())
        cause = "the inertia is in another unit than kg m² (kg mm²?), or a placeholder"
        notes.append(f"radius of gyration {radius:.3g} m in a robot of {largest:.2g} m, {cause}: {list_names(far)}")
    return notes


def _geometry_notes(geometry: LinkGeometry, feet: Sequence[str], apart: Sequence[tuple[str, str]]) -> list[str]:
    notes = []
    if geometry.missing_meshes:
        uris = list(dict.fromkeys(uri for _, uri in geometry.missing_meshes))
        notes.append(f"{len(uris)} {MESHES_LOST} (name their folders with --packages): {list_names(uris)}")
    notes += geometry.unreadable_meshes
    if geometry.without_shape:
        notes.append(f"shapes without size or of an unknown kind left out: {list_names(geometry.without_shape)}")
    if not feet:
        notes.append("no feet found: name them (--feet) or specify their soles (--soles) if contacts are needed")
    if apart:
        notes.append(f"named left and right but not mirror images, so not paired: {list_names([a for a, _ in apart])}")
    return notes


__all__ = ["from_urdf"]
