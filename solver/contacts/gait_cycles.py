"""Gait cycles of a recording."""

from __future__ import annotations

import numpy as np

from ..skeleton.rig import Rig
from ..values.motion import Motion
from ..values.person import SIDES
from ..values.wrenches import Wrenches
from .recorded_contacts import find_recorded_contacts
from .schedule import join_spans

LONGEST = 2.0
"""[s] Longest gait cycle; slower steps are no gait. Measured on a walk and three runs of two people: .63 to 1.19 s."""


def find_gait_cycles(
    rig: Rig, motion: Motion, wrenches: Wrenches | None = None, counted: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Start and stop (K, 2) [s] of each side's gait cycles: from a contact of the foot with the floor to its next one.

    The other foot comes to the floor once in the middle half of a cycle. Sides without cycles are left out.

    Args:
        rig, motion, wrenches, counted: see `find_recorded_contacts`.
    """
    if not rig.is_person or len(rig.soles) != len(SIDES) or len(motion) < 2:
        return {}
    phases = find_recorded_contacts(rig, motion, wrenches, counted).schedule.phases
    starts = {}
    for side, sole in rig.sides.items():
        spans = join_spans(phase for phase in phases if sole in phase.loaded)
        starts[side] = np.array([start for start, _ in spans if start > phases[0].start])
    found: dict[str, np.ndarray] = {}
    for side, other in (SIDES, SIDES[::-1]):
        cycles = np.column_stack([starts[side][:-1], starts[side][1:]])
        length = cycles[:, 1] - cycles[:, 0]
        from_middle = np.abs(starts[other] - cycles.mean(axis=1, keepdims=True))
        own = cycles[(length < LONGEST) & ((from_middle < 0.25 * length[:, None]).sum(axis=1) == 1)]
        found |= {side: own} if len(own) else {}
    return found
