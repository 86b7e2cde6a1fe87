"""What is near enough to touch at the samples of a trajectory: programmes look at nothing else of what may collide."""

from __future__ import annotations

import numpy as np

from ..feasibility.capsules import CapsulePairs
from ..feasibility.check_definition import Check
from ..feasibility.check_input import CheckInput
from ..feasibility.check_results import Checks, Margin
from ..rig import Rig


class NearItems:
    """Pairs and links near enough to touch at samples, and how far apart the former are.

    Args:
        rig: whose.
        near: checks of the samples; None: nothing is near.

    Attributes:
        exact_distances: by check, distances (N, P) [m] less the clearance of its near pairs.
    """

    def __init__(self, rig: Rig, near: Checks | None) -> None:
        self._pairs: dict[str, CapsulePairs] = {}
        self._links: dict[str, list[int]] = {}
        self.exact_distances: dict[str, np.ndarray] = {}
        for margin in () if near is None else near.margins:
            programme = margin.check.smooth_limit
            if programme is not None and programme.near_only == "pairs":
                self._add_pairs(rig, margin)
            elif programme is not None and programme.near_only == "links":
                low = margin.values.min(axis=0) < programme.scale
                self._links[margin.name] = [k for k, is_low in enumerate(low) if is_low]

    def _add_pairs(self, rig: Rig, margin: Margin) -> None:
        found = [k for k, pair in enumerate(margin.links) if len(pair) == 2]
        if not found:
            return
        wanted = [(margin.links[k][0], margin.links[k][1]) for k in found]
        capsules = CapsulePairs(rig, wanted)
        order = {frozenset(pair): k for pair, k in zip(wanted, found)}
        self._pairs[margin.name] = capsules
        self.exact_distances[margin.name] = margin.values[:, [order[frozenset(pair)] for pair in capsules.pairs]]

    def smooth_margins(self, check: Check, inputs: CheckInput) -> np.ndarray:
        """(N, k) of a check as programmes take it, of near items alone where it has many."""
        programme = check.smooth_limit
        assert programme is not None
        if programme.near_only == "pairs":
            capsules = self._pairs.get(check.name)
            return np.zeros((len(inputs), 0)) if capsules is None else _distances(capsules, inputs)
        if not check.applies_to(inputs):
            return np.full((len(inputs), len(check.items(inputs.body).names)), np.inf)
        if programme.near_only == "links" and not self._links.get(check.name):
            return np.zeros((len(inputs), 0))
        values = (programme.smooth_margins or check.margins)(inputs)
        assert isinstance(values, np.ndarray)
        return values[:, self._links[check.name]] if programme.near_only == "links" else values


def _distances(capsules: CapsulePairs, inputs: CheckInput) -> np.ndarray:
    return capsules.distances(inputs.state.rotation, inputs.state.position)
