"""What the checks found, frame by frame, as plain values for a scene to draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..feasibility import CheckOptions, Checks, Margin, support_polygon, zero_moment_point
from ..feasibility.balance import LEAST_LOAD
from ..rig import Rig
from ..scene.frame import SceneFoot, SceneFrame, SceneMargin

DIGITS = 6
"""After the point, in SI units: a micrometre, far below every tolerance."""
FORCE_DIGITS = 3
JOINTS = ("joint angle", "joint speed", "joint torque")
TOUCHING = ("self-collision", "floor")
FAR = "no pair within reach"


def scene_frames(rig: Rig, checks: Checks, options: CheckOptions) -> tuple[SceneFrame, ...]:
    """Every frame of the checks (N,), numbered from zero.

    Args:
        rig: that was checked.
        checks: of its motion.
        options: with which they were made.
    """
    margins = [_margins(margin, options) for margin in checks.margins]
    failing = _links(checks, rig, lambda m: m.values < -m.tolerance)
    near = _links(checks, rig, lambda m: (m.values + m.tolerance) / m.scale < 1.0, JOINTS)
    colliding = _links(checks, rig, lambda m: m.values < -m.tolerance, TOUCHING)
    phases = checks.schedule.index_at(checks.times)
    polygons = {}
    for number in np.unique(phases).tolist():
        anchors = checks.schedule.phases[number].anchors
        polygon = support_polygon(rig, anchors, options.shrink).vertices if anchors else np.zeros((0, 2))
        polygons[number] = np.round(polygon, DIGITS)
    feet = _feet(rig, checks)
    com, zmp = np.round(checks.com, DIGITS).tolist(), np.round(checks.zmp, DIGITS)
    links = np.array(rig.links)
    return tuple(
        SceneFrame(
            frame,
            float(time),
            tuple(column[frame] for column in margins if column[frame] is not None),  # type: ignore[misc]
            tuple(links[failing[frame]].tolist()),
            tuple(links[near[frame] & ~failing[frame]].tolist()),
            tuple(links[colliding[frame]].tolist()),
            (com[frame][0], com[frame][1], com[frame][2]),
            (float(zmp[frame, 0]), float(zmp[frame, 1])) if np.isfinite(zmp[frame]).all() else None,
            polygons[int(phases[frame])],
            feet[frame],
        )
        for frame, time in enumerate(checks.times)
    )


def _margins(margin: Margin, options: CheckOptions) -> list[SceneMargin | None]:
    """The worst item of one check in each frame; None where the check does not apply."""
    smallest, culprits, failed = margin.smallest, margin.culprit.tolist(), margin.failed.tolist()
    comfort = (smallest + margin.tolerance) / margin.scale
    finite = np.isfinite(smallest).tolist()
    # a pair beyond the reach is not measured, so that none of them is the worst
    far = (smallest >= options.reach - options.clearance) & (margin.name == "self-collision")
    values, comforts = np.round(smallest, DIGITS).tolist(), np.round(comfort, DIGITS).tolist()
    return [
        SceneMargin(margin.name, FAR if beyond else margin.items[item], value, margin.unit, ease, fails)
        if known
        else None
        for known, beyond, item, value, ease, fails in zip(finite, far.tolist(), culprits, values, comforts, failed)
    ]


def _links(
    checks: Checks, rig: Rig, chosen: Callable[[Margin], np.ndarray], names: tuple[str, ...] | None = None
) -> np.ndarray:
    """(N, L) True for links of the items chosen by a margin's values, in all checks or those named."""
    result = np.zeros((len(checks), len(rig.links)), bool)
    for margin in checks.margins:
        if names is not None and margin.name not in names:
            continue
        hit = chosen(margin)
        for column in np.flatnonzero(hit.any(axis=0)):
            for link in margin.links[column]:
                result[:, rig.index(link)] |= hit[:, column]
    return result


def _feet(rig: Rig, checks: Checks) -> list[tuple[SceneFoot, ...]]:
    weight = rig.prior.total_mass * float(np.linalg.norm(rig.model.gravity.linear))
    ground = checks.schedule.ground
    loads = checks.foot_wrenches
    forces = np.round(loads[:, :, :3], FORCE_DIGITS).tolist()
    centres = [np.round(zero_moment_point(loads[:, k], ground, weight), DIGITS).tolist() for k in range(loads.shape[1])]
    carries = (loads[:, :, 2] > LEAST_LOAD * weight).tolist()
    result = []
    for frame, loaded in enumerate(checks.loaded.tolist()):
        feet = []
        for k in (k for k, stands in enumerate(loaded) if stands):
            force, (x, y) = forces[frame][k], centres[k][frame]
            centre = (x, y, float(ground)) if carries[frame][k] else None
            feet.append(SceneFoot(checks.patches[k], (force[0], force[1], force[2]), centre))
        result.append(tuple(feet))
    return result


__all__ = ["scene_frames"]
