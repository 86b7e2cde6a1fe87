"""Cost and accuracy of posing by dragging, for `benchmarks.extension`.

Each rig is dragged at random, simulated as an animator would: 30 events move a link's origin in a straight line, every
third drag starts where the last one ended, some of them out of balance. Soles are planted, the body keeps its balance.
Measured for each event: processor time, displacement of the soles, excess over joint limits, and how much farther out
of the support polygon the centre of mass is than at the start of the drag.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver.contacts.schedule import anchors_at
from solver.contacts.support import support_polygon
from solver.dynamics import com_and_jacobian, contact_corners, link_poses
from solver.dynamics.coordinates import joint_coordinates
from solver.posing import Drag, Target
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.skeleton.rig import Rig

from .reference import to_ordinary

EVENTS_PER_DRAG, DRAGS_IN_A_ROW = 30, 3
REACH = 0.25
"""Largest component of a drag, as a fraction of the body's height."""
MUSTS = {"median": 1.0, "p99": 12.0, "slip": 0.1, "limits": 0.0, "balance": 1.0}
"""[ms], [ms], [mm], [degrees], [mm]."""
LOWERING = 0.15
"""[m] by which `lower_pelvis` moves the pelvis."""
CROUCH = (("thigh", -0.4), ("shank", 0.8), ("ankle", -0.4))


@dataclass(frozen=True, slots=True)
class DragFigures:
    """Figures of one rig.

    Attributes:
        median, p99: [ms] processor time of an event on an ordinary machine.
        slip: [mm] largest displacement of a sole's corner.
        limits: [degrees, mm] largest excess over a joint limit.
        balance: [mm] by which the centre of mass was farther out than at the start of its drag, at most.
        reached: fraction of drags whose target was reached to 1 mm.
        missed: [mm] median distance of the others.
    """

    median: float
    p99: float
    slip: float
    limits: float
    balance: float
    reached: float
    missed: float


def measure_drags(rig: Rig, q: np.ndarray, events: int, seed: int) -> DragFigures:
    """Drag a rig at random from a posture (nq,)."""
    generator = np.random.default_rng(seed)
    soles = [sole.name for sole in rig.soles]
    feet = {sole.link for sole in rig.soles}
    links = [link for link in rig.links if link not in feet]
    ground = min(float(corner[:, 2].min()) for corner in contact_corners(rig, q))
    size = float(link_poses(rig, q)[1][:, 2].max()) - ground
    times, slips, excess, farther, distances = [], [], [], [], []
    current = q
    for number in range(events // EVENTS_PER_DRAG):
        if number % DRAGS_IN_A_ROW == 0:
            current = q
        polygon = support_polygon(rig, anchors_at(rig, current, soles))
        margin = min(0.0, float(polygon.margin(com_and_jacobian(rig, current[None])[0][:, :2])[0]))
        corners = contact_corners(rig, current)
        drag = Drag(rig, current, soles, ground=ground)
        link = links[generator.integers(len(links))]
        start = link_poses(rig, current)[1][rig.index(link)]
        way = generator.uniform(-REACH, REACH, 3) * size
        has_balance = generator.random() > 0.1
        for step in range(1, EVENTS_PER_DRAG + 1):
            target = Target(link, start + way * step / EVENTS_PER_DRAG, np.zeros(3))
            begun = time.process_time()
            found = drag.move([target], balance=has_balance)
            times.append(1e3 * (time.process_time() - begun))
            pairs = zip(corners, contact_corners(rig, found.q), strict=True)
            slips.append(1e3 * max(float(np.linalg.norm(one - other, axis=1).max()) for one, other in pairs))
            coordinates = joint_coordinates(rig, found.q)
            over = np.maximum(rig.limits.lower - coordinates, coordinates - rig.limits.upper)
            excess.append(np.degrees(max(0.0, float(over.max()))))
            com = com_and_jacobian(rig, found.q[None])[0][:, :2]
            if has_balance:
                farther.append(1e3 * max(0.0, margin - float(polygon.margin(com)[0])))
        while not found.converged:
            found = drag.move([target], balance=has_balance)
        distances.append(1e3 * found.distance)
        current = found.q
    reached = np.array(distances) <= 1.0
    return DragFigures(
        to_ordinary(float(np.median(times))), to_ordinary(float(np.percentile(times, 99))), max(slips),
        round(max(excess), 9), max(farther, default=0.0), float(reached.mean()),
        float(np.median(np.array(distances)[~reached])) if not reached.all() else 0.0,
    )  # fmt: skip


def lower_pelvis(rig: Rig, q: np.ndarray) -> tuple[float, float, tuple[str, ...]]:
    """Drag the pelvis down by `LOWERING` from a posture (nq,), in balance.

    Returns:
        its distance from where it was dragged to and the largest displacement of a sole's corner [mm], and what keeps
        it from there, if anything does.
    """
    drag, corners = Drag(rig, q, [sole.name for sole in rig.soles]), contact_corners(rig, q)
    target = Target(rig.links[0], link_poses(rig, q)[1][0] - [0.0, 0.0, LOWERING], np.zeros(3))
    found = drag.move([target])
    while not found.converged:
        found = drag.move([target])
    pairs = zip(corners, contact_corners(rig, found.q), strict=True)
    slip = max(float(np.linalg.norm(one - other, axis=1).max()) for one, other in pairs)
    return 1e3 * found.distance, 1e3 * slip, found.obstacles


def postured_rigs(robots: Path | None) -> Iterator[tuple[Rig, np.ndarray]]:
    """Rigs with a standing posture: three built-in ones, and any URDF in a folder whose legs are found."""
    person, robot, small = human(1.75, 70.0, "male"), hrp2(), hoap3()
    yield person, np.array(person.provenance["standing"])
    yield robot, np.array(robot.provenance["half_sitting"])
    q = np.array(small.neutral)
    for link, angle in CROUCH:
        for side in ("right", "left"):
            q[small.q_slices[small.index(f"{side}_{link}")].start] = angle
    yield small, q
    for path in sorted(robots.rglob("*.urdf")) if robots is not None else ():
        rig = from_urdf(path)
        if len(rig.soles) >= 2:
            yield rig, np.array(rig.neutral)
