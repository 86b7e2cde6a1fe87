"""Any robot from a URDF file, on a free-flyer root.

Decisions, each told in the rig's notes where it applies:
- Fixed joints are merged: a link of the rig is a moving body, named after the URDF link its joint carries, and
  ``provenance["bodies"]`` lists the URDF links it holds.
- Mimic joints become independent joints. Pinocchio has mimic joints, but not in its regressors, which identification
  stands on; and the wrench at the base depends on the motion, not on what couples it. `Joint.mimic` keeps the
  coupling (source joint, multiplier, offset) for whoever makes motions.
- Links without mass stay (the three axes of a hip are often written so); their prior is zero.
- The file is read once, by checks: what a lenient reader drops without a word (a mass that is no number, an inertia
  without all six moments, a misspelt element) is an error with its place.
- Inertias that belong to no body keep the file's numbers in model and prior, so that the rig moves as the file says;
  they are named in the notes and in ``provenance["inconsistent"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import InvalidValue, UnknownLink
from ..files import Paths, as_paths
from ..inertials import InertialParameters
from ..joints import Joint, Limits, rest_poses
from ..rig import CONTRADICTING, FEET, GRAVITY, MESHES_LOST, NO_LEGS, UNLIMITED, Rig
from .mirrored_links import find_opposed_joints, pairs_by_name, split_mirrored
from .moving_bodies import MovingBodies
from .overlapping_hulls import decompose_overlapping
from .root_and_up_axis import find_root_and_up
from .soles import find_bearing_shapes, find_sole, select_feet
from .urdf_document import LIMITED_TYPES, UrdfDocument, read_urdf
from .urdf_geometry import MESH_POLICIES, Geometry, boxes_and_tips, find_arms, find_feet, read_geometry

MAX_ROTATION_LIMIT = 10.0
"""A rotation limit of this many radians or more limits nothing."""
MAX_SPEED_LIMIT = 100.0
"""[rad/s, m/s] A speed limit of this much or more limits nothing: people's joints turn at 40 rad/s at most."""
PLACEHOLDER_SPEEDS = {1.0, 10.0}
"""[rad/s] Speed limits that, stated for every joint alike, nobody measured."""
MIN_JOINTS = 3
"""Joints from which on one value for all of them is no coincidence."""
MIN_LEG_TORQUE = 0.05
"""Share of weight times height that the joints of a leg must at least bear."""
MAX_LIGHT_FRACTION = 0.01
"""Share of a robot's mass up to which what hangs on a joint, a finger say, dances without a stated torque limit."""
MIN_SECOND_MOMENT = -1e-6
"""A second moment below this share of their sum is negative, not rounded."""
MAX_EXTENT, MAX_MASS = 100.0, 10_000.0
"""A robot larger [m] or heavier [kg] than this is probably written in other units."""
MAX_SHOWN = 8


def from_urdf(
    path: str | Path,
    packages: Paths = (),
    *,
    meshes: str = "found",
    feet: Sequence[str] | None = None,
    base_link: str | None = None,
    up: str = "auto",
) -> Rig:
    """Rig of a URDF file with a free flyer above its root link, or above the link from which both legs part.

    Args:
        path: the URDF.
        packages: a folder or several in which ``package://name/...`` is looked for, before the folders above the file.
        meshes: ``"found"`` reads the meshes that exist and notes those that do not, ``"required"`` insists on all,
            ``"none"`` reads none. Meshes become convex hulls, in pieces where links lie in the hulls of others.
        feet: URDF links that touch the ground; by default those named foot, sole, toe (or ankle) that are lowest with
            every joint at zero, or else the lowest ends. Their soles are what is flat at their bottom.
        base_link: link at which wrenches are to be expressed, kept in the provenance; the root by default.
        up: axis of the file that points up, ``"z"`` or ``"y"``; by default that from feet to root.

    Returns:
        Rig; its joints are in Pinocchio's order (depth first, siblings by name).

    Raises:
        InputError: the file is missing, malformed, hostile, not a tree, or holds numbers no robot has.
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
        raise InvalidValue(f"meshes is {meshes!r}, none of {', '.join(MESH_POLICIES)}")
    document = read_urdf(path)
    folders = as_paths(packages)
    source = {"kind": "urdf", "path": str(document.path), "packages": [str(f) for f in folders], "meshes": meshes}

    def geometry(bodies: MovingBodies) -> Geometry:
        return read_geometry(document, bodies, folders, meshes)

    return build_robot(document, geometry, feet, base_link, up, source)


def build_robot(
    document: UrdfDocument,
    geometry: Callable[[MovingBodies], Geometry],
    feet: Sequence[str] | None,
    base_link: str | None,
    up: str,
    source: Mapping[str, object],
) -> Rig:
    """Rig of what any robot's file says, `assembled` below the link from which its feet part.

    These are the stated feet or those called so; where a file calls none so, those that its shapes show.

    Args:
        document: links and joints.
        geometry: reads the shapes of what moves.
        feet, base_link, source: as for `assembled`.
        up: as for `find_root_and_up`, and added to the source.

    Raises:
        UnknownLink: a name in ``feet`` or ``base_link`` that is not in the file.
    """
    bodies, up, notes = find_root_and_up(document, up, feet)
    rig = assemble_rig(document, bodies, geometry(bodies), feet, base_link, {**source, "up": up})
    shown = [str(link) for link in rig.provenance[FEET]]  # type: ignore[attr-defined]
    if len(shown) > 1:
        below, up, told = find_root_and_up(document, up, shown)
        if below.links[0] != bodies.links[0]:
            rig, notes = assemble_rig(document, below, geometry(below), feet, base_link, {**source, "up": up}), told
    return replace(rig, notes=(*rig.notes, *notes)) if notes else rig


def assemble_rig(
    document: UrdfDocument,
    bodies: MovingBodies,
    geometry: Geometry,
    feet: Sequence[str] | None,
    base_link: str | None,
    source: Mapping[str, object],
) -> Rig:
    """Rig of what any robot's file says: limits weighed, pieces, feet, soles and mirrored pairs found.

    Args:
        document: links and joints.
        bodies: those that move.
        geometry: their shapes.
        feet: names of links that touch the ground; found if None.
        base_link: at which wrenches are to be expressed.
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
        told = "too little to bend a knee, so taken as none; state" if weak else "these look like placeholders: state"
        limit_notes.append(f"every joint has effort limit {alike:g}: {told} torques where they are known")
    if weak:
        limits = replace(limits, torque=np.full(len(limits.torque), np.inf))
    free = links[1:] if weak else _light_ends(joints, prior, limits.torque)
    if free and not weak:
        limit_notes.append(
            f"no torque limit of what is light, so its joints are not held to one: {_format_names(free)}"
        )
    pairs, apart = split_mirrored(pairs_by_name(links), dict(zip(links, rest[1])))
    mirrored = {link for pair in pairs for link in pair}
    if odd := find_opposed_joints(pairs, joints, links, rest, limits):
        limit_notes.append(f"{CONTRADICTING}, an axis may have the wrong sign: {_format_names(odd)}")
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
    notes += _geometry_notes(geometry, contacts, apart)
    if specks:
        notes.append(f"shapes too small to be more than marks left out: {_format_names(specks)}")
    if round_ := [link for link, sole in zip(standing, soles) if sole is None]:
        notes.append(f"no flat sole, so nothing to stand on: {_format_names(round_)}; state soles if it has them")
    if size := _size_note(rest[1], prior):
        notes.append(size)
    if mimic := [joint.name for joint in joints if joint.mimic is not None]:
        notes.append(f"{len(mimic)} mimic joint(s) move independently: {_format_names(mimic)}")
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
        told = f"{NO_LEGS}: {_format_names(rig.feet)} are of arms (python -m solver excite moves an arm on a bench)"
        return replace(rig, notes=(*rig.notes, told))
    return rig


def _descendants(joints: Sequence[Joint], links: Sequence[str], link: str) -> set[str]:
    """Links that hang on one."""
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
    for moving in joints[1:]:
        joint = document.joints[moving.name]
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
        parts["lower"] += [lower] * moving.nv
        parts["upper"] += [upper] * moving.nv
        parts["speed"] += [joint.speed or np.inf] * moving.nv
        parts["torque"] += [joint.effort or np.inf] * moving.nv
    told = (
        (f"limits of {MAX_ROTATION_LIMIT:g} rad and more taken as none", absurd),
        ("missing lower or upper limits taken as none", open_ended),
        ("velocity and effort limits of 0 taken as none", still),
        ("lower and upper limits of joints that have none left out", endless),
    )
    notes = [f"{what}: {_format_names(names)}" for what, names in told if names]
    parts["speed"], speed_notes = _remove_placeholder_speeds(parts["speed"])
    notes += speed_notes
    limits = Limits(*(np.array(parts[name]) for name in ("lower", "upper", "speed", "torque")))
    alike = {(low, high) for low, high in zip(limits.lower, limits.upper) if np.isfinite([low, high]).all()}
    if len(limits.lower) > MIN_JOINTS and len(alike) == 1:
        low, high = alike.pop()
        notes.append(
            f"every joint turns from {low:g} to {high:g}: these look like placeholders; a dance is as wide as they are"
        )
    return limits, notes


def _shared_torque(torques: np.ndarray) -> float | None:
    """The one effort limit that a file gives all joints alike: few robots' fingers are as strong as their hips."""
    alike = len(torques) > MIN_JOINTS and np.isfinite(torques[0]) and bool((torques == torques[0]).all())
    return float(torques[0]) if alike else None


def _light_ends(joints: Sequence[Joint], prior: InertialParameters, torques: np.ndarray) -> list[str]:
    """Links whose joints have no torque limit and bear little, where others state theirs: fingers, mostly."""
    if not np.isfinite(torques).any():
        return []
    borne = np.array(prior.masses)
    for k in range(len(joints) - 1, 0, -1):
        borne[joints[k].parent] += borne[k]
    first, result = 0, []
    for joint, link, mass in zip(joints[1:], prior.links[1:], borne[1:]):
        unknown = np.isinf(torques[first : first + joint.nv]).any()
        result += [link] * bool(unknown and mass <= MAX_LIGHT_FRACTION * prior.total_mass)
        first += joint.nv
    return result


def _remove_placeholder_speeds(speeds: list[float]) -> tuple[list[float], list[str]]:
    """Speed limits without placeholders, which would hold a body back where its file says nothing about it."""
    stated = {speed for speed in speeds if np.isfinite(speed)}
    if len(speeds) >= MIN_JOINTS and len(stated) == 1 and stated <= PLACEHOLDER_SPEEDS:
        told = f"every joint has speed limit {min(stated):g}: a placeholder, taken as none"
        return [np.inf] * len(speeds), [told]
    fast = [speed for speed in stated if speed >= MAX_SPEED_LIMIT]
    if not fast:
        return speeds, []
    told = f"speed limits of {MAX_SPEED_LIMIT:g} rad/s (m/s) and more taken as none, {min(fast):g} for one"
    return [np.inf if speed in fast else speed for speed in speeds], [told]


def _inconsistent_links(document: UrdfDocument) -> list[str]:
    """URDF links whose inertia belongs to no body."""
    moments = np.linalg.eigvalsh(np.array([link.inertia for link in document.links.values()]))
    least, largest = 0.5 * moments.sum(axis=1) - moments[:, -1], np.abs(moments).max(axis=1)
    masses = np.array([link.mass for link in document.links.values()])
    wrong = (least < MIN_SECOND_MOMENT * largest) | ((masses == 0.0) & (largest > 0.0))
    return [name for name, bad in zip(document.links, wrong) if bad]


def _body_notes(bodies: MovingBodies, inconsistent: Sequence[str]) -> list[str]:
    notes = []
    prior, merged = bodies.prior, [body for names in bodies.bodies_by_link.values() for body in names[1:]]
    if merged:
        notes.append(f"{len(merged)} link(s) on fixed joints merged into their carriers: {_format_names(merged)}")
    light = [link for link, mass in zip(prior.links, prior.masses) if mass == 0.0]
    if light:
        notes.append(f"{len(light)} moving link(s) without mass: {_format_names(light)}")
    points = (prior.masses > 0.0) & ~prior.inertias_at_com.any(axis=(1, 2))
    if points.any():
        names = [link for link, point in zip(prior.links, points) if point]
        notes.append(f"{len(names)} moving link(s) with mass and no inertia, points: {_format_names(names)}")
    if inconsistent:
        what = "link(s) whose inertia belongs to no body, kept as the file has it"
        notes.append(f"{len(inconsistent)} {what}: {_format_names(inconsistent)}")
    return notes


def _size_note(origins: np.ndarray, prior: InertialParameters) -> str | None:
    """What to say of a robot so large or heavy that its file counts millimetres or grams."""
    extent = float(np.linalg.norm(np.ptp(origins, axis=0)))
    if extent <= MAX_EXTENT and prior.total_mass <= MAX_MASS:
        return None
    return (
        f"the robot measures {extent:.3g} m and weighs {prior.total_mass:.3g} kg: URDF counts in metres and kilograms"
    )


def _geometry_notes(geometry: Geometry, contacts: Sequence[object], apart: Sequence[tuple[str, str]]) -> list[str]:
    notes = []
    if geometry.missing_meshes:
        uris = list(dict.fromkeys(uri for _, uri in geometry.missing_meshes))
        notes.append(
            f"{len(uris)} {MESHES_LOST} (name the folders in which they lie: --packages): {_format_names(uris)}"
        )
    notes += geometry.unreadable_meshes
    if geometry.without_shape:
        notes.append(
            f"shapes without size or of a kind that is not known left out: {_format_names(geometry.without_shape)}"
        )
    if not contacts:
        notes.append("no feet found: name them (--feet) or state their soles (--soles) if contacts are needed")
    if apart:
        notes.append(f"named left and right but not mirrored, so not paired: {_format_names([a for a, _ in apart])}")
    return notes


def _format_names(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:MAX_SHOWN]) + (f" and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else "")


__all__ = ["from_urdf"]
