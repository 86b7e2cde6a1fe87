"""What is near enough to touch at the samples of a trajectory: programmes look at nothing else of what may collide."""

from __future__ import annotations

import numpy as np

from ..feasibility.capsules import CapsulePairs
from ..feasibility.definition import Check
from ..feasibility.margins import Checks, Margin
from ..feasibility.situation import Situation
from ..rig import Rig


class NearItems:
    """Pairs and links near enough to touch at samples, and how far apart the former are.

    Args:
        rig: whose.
        near: checks of the samples; None: nothing is near.

    Attributes:
        true: by check, distances (N, P) [m] less the clearance of its near pairs.
    """

    def __init__(self, rig: Rig, near: Checks | None) -> None:
        self._pairs: dict[str, CapsulePairs] = {}
        self._links: dict[str, list[int]] = {}
        self.true: dict[str, np.ndarray] = {}
        for margin in () if near is None else near.margins:
            programme = margin.check.programme
            if programme is not None and programme.nearby == "pairs":
                self._take_pairs(rig, margin)
            elif programme is not None and programme.nearby == "links":
                low = margin.values.min(axis=0) < programme.scale
                self._links[margin.name] = [k for k, is_low in enumerate(low) if is_low]

    def _take_pairs(self, rig: Rig, margin: Margin) -> None:
        found = [k for k, pair in enumerate(margin.links) if len(pair) == 2]
        if not found:
            return
        wanted = [(margin.links[k][0], margin.links[k][1]) for k in found]
        capsules = CapsulePairs(rig, wanted)
        order = {frozenset(pair): k for pair, k in zip(wanted, found)}
        self._pairs[margin.name] = capsules
        self.true[margin.name] = margin.values[:, [order[frozenset(pair)] for pair in capsules.pairs]]

    def margins(self, check: Check, now: Situation) -> np.ndarray:
        """(N, k) of a check as programmes take it, of near items alone where it has many."""
        programme = check.programme
        assert programme is not None
        if programme.nearby == "pairs":
            capsules = self._pairs.get(check.name)
            return np.zeros((len(now), 0)) if capsules is None else _distances(capsules, now)
        if not check.applies(now):
            return np.full((len(now), len(check.items(now.body).names)), np.inf)
        if programme.nearby == "links" and not self._links.get(check.name):
            return np.zeros((len(now), 0))
        values = (programme.smooth or check.margins)(now)
        assert isinstance(values, np.ndarray)
        return values[:, self._links[check.name]] if programme.nearby == "links" else values


def _distances(capsules: CapsulePairs, now: Situation) -> np.ndarray:
    return capsules.distances(now.state.rotation, now.state.position)
