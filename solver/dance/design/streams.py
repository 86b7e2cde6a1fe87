"""Which links a foot configuration excites, by which coordinates: bonnet2016 Table I, and without its division."""

from __future__ import annotations

import numpy as np

from ...identification.base_parameters import BaseParameters
from ...identification.excitation.gram_matrices import LinkGrams
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Dancer

STREAMS = (("both", "right_forward"), ("right", "left"))
"""Configurations whose transitions share a history."""


def excited_links(dancer: Dancer, configuration: str) -> tuple[str, ...]:
    """Links whose inertias a configuration excites, Table I: all but the legs, or the free leg."""
    rig = dancer.rig
    chains: dict[str, set[str]] = {}
    for leg in dancer.legs:
        joint, chain = rig.joint(leg.link), set()
        while joint > 1:
            chain.add(rig.links[joint - 1])
            joint = int(rig.model.parents[joint])
        chains[leg.side] = chain
    if configuration in chains:
        free = next(side for side in chains if side != configuration)
        return tuple(link for link in rig.links if link in chains[free])
    return tuple(link for link in rig.links if not any(link in chain for chain in chains.values()))


def excited_columns(dancer: Dancer, configuration: str) -> np.ndarray:
    """Columns of y that excite, Table I, and on two feet also the root's height and rotation."""
    if configuration in dancer.leg_columns:
        return dancer.leg_columns[next(side for side in dancer.leg_columns if side != configuration)]
    return np.concatenate([np.arange(2, ROOT_NV), dancer.trunk])


def free_columns(dancer: Dancer, configuration: str) -> np.ndarray:
    """Columns of y that may excite when all are asked: the root's height and rotation, and all but loaded legs."""
    loaded = (configuration,) if configuration in dancer.leg_columns else tuple(dancer.leg_columns)
    legs = [columns for side, columns in dancer.leg_columns.items() if side not in loaded]
    return np.concatenate([np.arange(2, ROOT_NV), dancer.trunk, *legs])


def meter_of(dancer: Dancer, structure: BaseParameters, weights: np.ndarray, configuration: str) -> LinkGrams:
    """Criterion of a configuration, over Gram matrices of all links that its stream excites."""
    stream = next(s for s in STREAMS if configuration in s)
    links = [link for name in stream for link in excited_links(dancer, name)]
    counted = np.isin(dancer.rig.links, excited_links(dancer, configuration))
    return LinkGrams(structure, weights * counted, "dynamic", dict.fromkeys(links))
