"""Which segments the markers show: how a segment turns about its joint must move its markers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..rig import Rig
from ..tracking.kinematics import Kinematics
from ..tracking.targets import Attachment

MIN_LEVER = 0.03
"""[m] Root of the summed squares of the markers' levers about the axis they show least: a turn of 10 degrees moves such
markers by 5 mm, as much as skin does. Two markers on the styloids end below it, as do all that lie in one line."""


def find_unobserved_links(rig: Rig, attachments: Sequence[Attachment]) -> tuple[str, ...]:
    """Links that turn about their joints, or about one axis of them, without any marker moving, in the rig's order.

    Markers on links further out count: a forearm's show how the upper arm turns.

    Args:
        rig: judged standing, where it can stand.
        attachments: markers on it.
    """
    if not attachments:
        return ()
    kinematics = Kinematics(rig)
    kinematics.update_kinematics(np.array(rig.provenance.get("standing", rig.neutral), float))
    links = np.array([rig.index(attachment.link) for attachment in attachments])
    points = kinematics.points(links, np.array([attachment.position for attachment in attachments]))
    levers = kinematics.point_jacobians(links, points).reshape(3 * len(links), -1)
    result = []
    for index, link in enumerate(rig.links):
        own = np.flatnonzero(kinematics.link_of_column == index)
        if rig.parents[index] >= 0 and len(own):
            least = np.linalg.svd(levers[:, own], compute_uv=False)[-1]
            result += [link] if least < MIN_LEVER else []
    return tuple(result)
