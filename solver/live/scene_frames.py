"""Results of the checks frame by frame, as plain values for a scene to draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..feasibility import CheckOptions, Checks, Margin, support_polygon, zero_moment_point
from ..feasibility.contact_forces import MIN_LOAD
from ..scene.checked_frame import SceneFoot, SceneFrame, SceneMargin
from ..skeleton.rig import Rig

DIGITS = 6
"""Decimals in SI units. Derived: a micrometre, which is far below every tolerance."""
FORCE_DIGITS = 3
NEAR_COMFORT = 0.5
"""Comfort below which a link is shown as near a limit. The straight elbow of a standing person, 5 degrees from its
limit, has .87 (chosen on this posture)."""
DESCRIBED_MARGINS = 3
"""Margins of a frame that are described in words in addition to failed ones: the worst of the notable ones."""


def scene_frames(rig: Rig, checks: Checks, options: CheckOptions) -> tuple[SceneFrame, ...]:
    """All frames (N,) of the checks, numbered from zero.

    Args:
        rig: that was checked.
        checks: of its motion.
        options: of the checks.
    """
    margins = [
        _scene_margins(margin, described) for margin, described in zip(checks.margins, _select_described(checks).T)
    ]
    failing = _links_where(checks, rig, _is_failed)
    near = _links_where(checks, rig, lambda m: (m.values + m.tolerance) / m.scale < NEAR_COMFORT, "joints")
    colliding = _links_where(checks, rig, _is_failed, "touch")
    balance = [margin.failed for margin in checks.margins if margin.check.category == "balance"]
    balanced = ~np.any(balance, axis=0) if balance else np.ones(len(checks), bool)
    phases = checks.schedule.index_at(checks.times)
    polygons = {}
    for number in np.unique(phases).tolist():
        anchors = checks.schedule.phases[number].anchors
        polygon = support_polygon(rig, anchors, options.shrink).vertices if anchors else np.zeros((0, 2))
        polygons[number] = np.round(polygon, DIGITS)
    feet = _scene_feet(rig, checks)
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
            bool(balanced[frame]),
            (com[frame][0], com[frame][1], com[frame][2]),
            (float(zmp[frame, 0]), float(zmp[frame, 1])) if np.isfinite(zmp[frame]).all() else None,
            polygons[int(phases[frame])],
            feet[frame],
        )
        for frame, time in enumerate(checks.times)
    )


def _select_described(checks: Checks) -> np.ndarray:
    """(N, C) True for the failed checks of each frame, and for its worst notable ones."""
    comfort = np.full((len(checks), len(checks.margins)), np.inf)
    failed = np.zeros(comfort.shape, bool)
    for place, margin in enumerate(checks.margins):
        failed[:, place] = margin.failed
        measured = margin.smallest < margin.far_margin
        news = failed[:, place] | (measured & (margin.smallest <= margin.check.report_below))
        comfort[:, place] = np.where(news, margin.relative_margin, np.inf)
    if comfort.shape[1] <= DESCRIBED_MARGINS:
        return np.isfinite(comfort)
    return failed | (np.isfinite(comfort) & (comfort <= np.sort(comfort, axis=1)[:, [DESCRIBED_MARGINS - 1]]))


def _scene_margins(margin: Margin, described: np.ndarray) -> list[SceneMargin | None]:
    """The worst item of one check in each frame; None where the check does not apply."""
    check, smallest, failed = margin.check, margin.smallest, margin.failed.tolist()
    culprits = [margin.items[item] for item in margin.worst_items.tolist()]
    if np.isfinite(margin.far_margin):  # so that none of them is the worst
        far = (smallest >= margin.far_margin).tolist()
        culprits = [check.no_items_label if beyond else item for beyond, item in zip(far, culprits)]
    values, comforts = np.round(smallest, DIGITS).tolist(), np.round(margin.relative_margin, DIGITS).tolist()
    said = [
        check.describe(item, value, fails) if says else ""
        for item, value, fails, says in zip(culprits, values, failed, described.tolist())
    ]
    finite = np.isfinite(smallest).tolist()
    return [
        SceneMargin(check.name, item, value, check.unit, ease, fails, words) if known else None
        for known, item, value, ease, fails, words in zip(finite, culprits, values, comforts, failed, said)
    ]


def _is_failed(margin: Margin) -> np.ndarray:
    return margin.values < -margin.tolerance


def _links_where(
    checks: Checks, rig: Rig, chosen: Callable[[Margin], np.ndarray], about: str | None = None
) -> np.ndarray:
    """(N, L) True for links of the items chosen by a margin's values, in all checks or those about something."""
    result = np.zeros((len(checks), len(rig.links)), bool)
    for margin in checks.margins:
        if about not in (None, margin.check.category):
            continue
        hit = chosen(margin)
        for column in np.flatnonzero(hit.any(axis=0)):
            for link in margin.links[column]:
                result[:, rig.index(link)] |= hit[:, column]
    return result


def _scene_feet(rig: Rig, checks: Checks) -> list[tuple[SceneFoot, ...]]:
    weight = rig.weight
    ground = checks.schedule.ground
    loads = checks.foot_wrenches
    forces = np.round(loads[:, :, :3], FORCE_DIGITS).tolist()
    centres = [np.round(zero_moment_point(loads[:, k], ground, weight), DIGITS).tolist() for k in range(loads.shape[1])]
    carries = (loads[:, :, 2] > MIN_LOAD * weight).tolist()
    result = []
    for frame, loaded in enumerate(checks.loaded.tolist()):
        feet = []
        for k in (k for k, stands in enumerate(loaded) if stands):
            force, (x, y) = forces[frame][k], centres[k][frame]
            centre = (x, y, float(ground)) if carries[frame][k] else None
            feet.append(SceneFoot(checks.patches[k], (force[0], force[1], force[2]), centre))
        result.append(tuple(feet))
    return result
