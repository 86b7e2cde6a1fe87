"""Postures between two keyed ones with the soles in place: interpolated joint angles would let them slide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..base.so3 import exp, log
from ..dynamics import link_poses
from ..options.checks import CheckOptions
from ..skeleton.rig import Rig
from .drag import Drag
from .values import DragResult


def inbetween_postures(
    rig: Rig, q: np.ndarray, planted: Sequence[str], *, checks: CheckOptions
) -> Iterator[tuple[DragResult, tuple[np.ndarray, np.ndarray]]]:
    """Fit the postures between the first and the last to soles that move evenly between their poses in those two.

    Soles in the same place at both ends stay there. Joint limits hold, and the body keeps its balance, as far as the
    first posture does.

    Args:
        rig: that is posed.
        q: (N, nq) interpolated postures, of which the first and the last are kept.
        planted: names of contact patches on the floor from the first to the last.
        checks: that the motion should pass.

    Yields:
        posture, and axes (L, 3, 3) and origins (L, 3) [m] of its links, of each of the N - 2 postures between.

    Raises:
        InvalidValue: a posture has a wrong size, or the rig has no such patch.
    """
    links = {rig.index(rig.patch(name).link) for name in planted}
    drag = Drag(rig, q[0], planted, checks=checks)
    start, stop = drag.link_poses(), link_poses(rig, q[-1])
    turns = {link: log(stop[0][link] @ start[0][link].T) for link in links}
    for number, posture in enumerate(q[1:-1], start=1):
        part = number / (len(q) - 1)
        poses = {
            link: (
                exp(part * turns[link]) @ start[0][link],
                (1.0 - part) * start[1][link] + part * stop[1][link],
            )
            for link in links
        }
        yield drag.fit(posture, poses), drag.link_poses()
