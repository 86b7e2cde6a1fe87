"""Why fewer than 42 base parameters of HOAP-3 are known better than 10 % (IV.D): the paper's assumptions, one by one.

Counted are the parameters whose predicted standard deviation is below a tenth of their value, at the paper's tempo,
500 frames/s and white noise as large as Table II's residuals. Varied are the bodies (22 links, or 12 bodies as in Fig.
2, with the links between the axes of a joint merged), stepwise elimination of the least known parameter as in Gautier
and Venture 2013, parts of the regressor alone, the size of the noise, and the tempo.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solver.dance.design.dance import Dance
from solver.identification.base_estimation import WELL_KNOWN
from solver.identification.base_parameters import base_parameters, independent_columns
from solver.identification.excitation.excitation import Excitation
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, symmetric_entries
from solver.values.motion import Motion

from .bonnet2016_criterion import RATE, ROBOT_RATE
from .bonnet2016_tables import IDENTIFIED, TABLE_II
from .rows import Row

MERGED = {
    "upper_arm": ("shoulder",),
    "forearm": ("elbow_yaw",),
    "thigh": ("hip_yaw", "hip_roll"),
    "foot": ("ankle",),
}
"""Body of the paper's model, and the links of the same side and origin that are merged into it."""
STATIC = 4
"""Parameters of a link that act without motion: mass and first moment."""
MIXED_ROWS = 4
"""Rows per base parameter by which the independent ones of the merged bodies are found."""
QUIETER, FASTER = (0.5, 0.2, 0.1), (2.0, 5.0)
"""Factors on the noise, and on the speed."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Base parameters of a body, and what a motion shows of them.

    Attributes:
        factor: (k, B) rows of W_b, each divided by the noise of its axis.
        values: (B,) of the base parameters.
        columns: (B,) the independent column of phi of each.
    """

    factor: np.ndarray
    values: np.ndarray
    columns: np.ndarray

    def known(self, chosen: np.ndarray | None = None) -> int:
        """How many are known, if only those of a mask (B,) are to be found."""
        chosen = np.ones(len(self.values), bool) if chosen is None else chosen
        return int((self._relative(np.flatnonzero(chosen)) <= WELL_KNOWN).sum())

    def known_after_elimination(self) -> int:
        """How many remain if the least known one is left out until all others are known."""
        kept = np.arange(len(self.values))
        while len(kept):
            relative = self._relative(kept)
            if relative.max() <= WELL_KNOWN:
                break
            kept = np.delete(kept, relative.argmax())
        return len(kept)

    def _relative(self, kept: np.ndarray) -> np.ndarray:
        inverse = np.linalg.inv(np.linalg.qr(self.factor[:, kept], mode="r"))
        with np.errstate(divide="ignore"):
            return np.asarray(np.linalg.norm(inverse, axis=1) / np.abs(self.values[kept]))


def count(rig: Rig, motion: Motion, merged: bool) -> Counted:
    """A motion at `RATE`, weighed as `ROBOT_RATE` frames a second."""
    structure = base_parameters(rig)
    noise = TABLE_II["HOAP-3"]["identified"][0] * np.sqrt(RATE / ROBOT_RATE)
    factor = Excitation.before_motion(structure, noise).with_motion(rig, motion).factor
    if not merged:
        return Counted(factor, structure.project(rig.prior), structure.independent)
    phi, bodies = merge_links(rig)
    columns = (PER_LINK * bodies[:, None] + np.arange(PER_LINK)).ravel()
    regrouping = structure.regrouping[:, columns]
    # rows in general position: in the sparse regrouping itself a dependent column would take a row from a later one
    mixed = np.random.default_rng(0).standard_normal((MIXED_ROWS * len(structure), len(structure))) @ regrouping
    independent = independent_columns(np.asarray(np.linalg.qr(mixed, mode="r")))
    own = np.linalg.lstsq(regrouping[:, independent], regrouping, rcond=None)[0]
    return Counted(factor @ regrouping[:, independent], own @ phi[bodies].ravel(), columns[independent])


def merge_links(rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    """Parameters (L, 10) with the links of `MERGED` moved into their bodies at zero angles; indices of the bodies."""
    phi, axes = np.array(rig.prior.values), rig.rest[0]
    removed = []
    for side in ("right", "left"):
        for body, links in MERGED.items():
            into = rig.index(f"{side}_{body}")
            for link in (rig.index(f"{side}_{name}") for name in links):
                turn = axes[into].T @ axes[link]
                inertia = turn @ rig.prior.inertias[link] @ turn.T
                phi[into] += [phi[link, 0], *(turn @ phi[link, 1:4]), *symmetric_entries(inertia[None])[0]]
                phi[link] = 0.0
                removed.append(link)
    return phi, np.setdiff1d(np.arange(len(rig.links)), removed)


def count_rows(dance: Dance, rig: Rig, wanted: int, quick: bool) -> list[Row]:
    """The counts, with the paper's 42 beside each; the quick ones without other noise and tempo."""
    motion = dance.sample(rig, RATE)
    data = f"predicted, HOAP-3, {wanted} postures"
    rows = []
    for merged in (False, True):
        found = count(rig, motion, merged)
        static = found.columns % PER_LINK < STATIC
        words = f"of {len(found.values)} base parameters ({'12 bodies' if merged else '22 links'}), sigma < 10 %"
        rows += [
            _row(f"{words} (paper's program)", data, found.known()),
            _row("  the same, least known ones left out step by step (paper's program)", data,
                 found.known_after_elimination()),
            _row(f"  the same, {static.sum()} of masses and first moments alone", data, found.known(static)),
            _row(f"  the same, {(~static).sum()} of inertias alone", data, found.known(~static)),
        ]  # fmt: skip
        if quick:
            continue
        for share in QUIETER:
            less = replace(found, factor=found.factor / share)
            words = f"  left out step by step, {share:g} of Table II's residuals"
            rows.append(_row(words, data, less.known_after_elimination()))
        for factor in FASTER:
            faster = Motion(motion.times / factor, motion.q, motion.v * factor, motion.a * factor**2)
            kept = replace(count(rig, faster, merged), values=found.values)
            less = replace(kept, factor=kept.factor / np.sqrt(factor))  # fewer frames
            rows.append(
                _row(f"  left out step by step, {factor:g} times the speed", data, less.known_after_elimination())
            )
    return rows


def _row(what: str, data: str, value: int) -> Row:
    return Row(what, data, float(value), float(IDENTIFIED))
