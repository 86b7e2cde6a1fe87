"""Links that a foot configuration excites, and the coordinates that excite them: bonnet2016 Table I, or all of them."""

from __future__ import annotations

import numpy as np

from ...identification.base_parameters import BaseParameters
from ...identification.excitation.gram_matrices import GramMatrices
from ...trajectory.legged_rig import LeggedRig

EXCITATION_GROUPS = (("both", "right_forward"), ("left", "right"))
"""Foot configurations whose transitions share a history."""


def excited_links(legged: LeggedRig, configuration: str) -> tuple[str, ...]:
    """Links whose inertias a foot configuration excites, Table I: all except the legs, or the free leg."""
    rig = legged.rig
    chains: dict[str, set[str]] = {}
    for leg in legged.legs:
        chains[leg.side] = {rig.links[link] for link in rig.path(rig.index(leg.link))}
    if configuration in chains:
        free = next(side for side in chains if side != configuration)
        return tuple(link for link in rig.links if link in chains[free])
    return tuple(link for link in rig.links if not any(link in chain for chain in chains.values()))


def excited_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of the flat coordinates y that excite: Table I, and on two feet also the root's height and rotation."""
    if configuration in legged.leg_columns:
        return legged.swing_leg_columns[next(side for side in legged.leg_columns if side != configuration)]
    return np.concatenate([_root_columns(legged), legged.trunk])


def free_columns(legged: LeggedRig, configuration: str) -> np.ndarray:
    """Columns of y that may excite without Table I: the root's height and rotation, and all except loaded legs."""
    loaded = (configuration,) if configuration in legged.leg_columns else tuple(legged.leg_columns)
    legs = [columns for side, columns in legged.swing_leg_columns.items() if side not in loaded]
    return np.concatenate([_root_columns(legged), legged.trunk, *legs])


def _root_columns(legged: LeggedRig) -> np.ndarray:
    """Columns of the root's height and rotation that may move."""
    return 2 + np.flatnonzero(legged.root_free[2:])


def build_criterion(
    legged: LeggedRig, structure: BaseParameters, weights: np.ndarray, configuration: str
) -> GramMatrices:
    """The criterion of a foot configuration, over Gram matrices of all links that its excitation group excites."""
    group = next(s for s in EXCITATION_GROUPS if configuration in s)
    links = [link for name in group for link in excited_links(legged, name)]
    counted = np.isin(legged.rig.links, excited_links(legged, configuration))
    return GramMatrices(structure, weights * counted, "dynamic", dict.fromkeys(links))
