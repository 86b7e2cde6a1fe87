"""The equations of a trial as far as its motion is believed: noise that plates contradict no longer enters Y.

What is not believed of a motion is an error of Y, which draws parameters aside whatever it is that moves. The same
gains that reconstructions take (`belief`) are therefore taken by Y, region by region and band by band, and what links'
own markers add (`giving`) is taken off f.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..dynamics import base_index
from ..motion import Motion
from ..rig import Rig
from ..trial import Trial
from .accumulate import Collected
from .base_parameters import BaseParameters
from .blocks import AXES, FORCE_AXES
from .equations import Equations, equations, known_frames, moved_here, up_to
from .giving import tells, wrenches_of_shares
from .parts import Part, parts_of
from .regression import Regression
from .trust import Trust


def accumulate_believed(
    rig: Rig, trial: Trial, trusts: Sequence[Trust], base: int | str, structure: BaseParameters
) -> list[Regression]:
    """A trial's regression in world axes by each of several trusts; its motion is gone through once for all.

    Args:
        rig: that moved.
        trial: with counted frames.
        trusts: how far its motion is believed.
        base: base link, by name or index.
        structure: base parameters of the rig.
    """
    index = base_index(rig, base)
    collected = [Collected(rig, structure) for _ in trusts]
    shaken = tuple(trial.shaken)
    made = (_pieces(rig, trial, trusts, index, motion) for motion in (trial.motion, *shaken))
    for here, *others in zip(*made):
        for place, own in enumerate(collected):
            own.add(trial, here[place], [other[place] for other in others])
    return [own.regression(rig.links[index]) for own in collected]


def _pieces(rig: Rig, trial: Trial, trusts: Sequence[Trust], base: int, motion: Motion) -> Iterator[list[Equations]]:
    """Equations of the frames that count, part by part, by each trust."""
    bands = np.unique(np.concatenate([trust.bands for trust in trusts]))
    for part in parts_of(trial, bands):
        if part.trial.counted[part.own].any():
            first = part.place.start - part.own.start
            own = motion.part(first, first + len(part.trial.motion))
            yield _believed(rig, part, trusts, base, own)


def _believed(rig: Rig, part: Part, trusts: Sequence[Trust], base: int, motion: Motion) -> list[Equations]:
    trial = part.trial
    pieces = list(equations(rig, replace(trial, counted=known_frames(trial)), base, "world", motion))
    frames = np.concatenate([piece.frames for piece in pieces])
    force, moment, wrench, used = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=-1)
        for name in ("force", "moment", "wrench", "used")
    )
    wanted = np.zeros(len(trial.motion), bool)
    wanted[part.own] = trial.counted[part.own]
    kept = wanted[frames]
    added = None
    if tells(trial) and any(trust.shares is not None for trust in trusts):
        added = moved_here(rig, trial, wrenches_of_shares(rig, trial), base)[frames[kept]]
    forces = [np.empty((*force.shape[:-1], int(kept.sum()))) for _ in trusts]
    moments = [np.empty((*moment.shape[:-1], int(kept.sum()))) for _ in trusts]
    for axis in range(AXES):
        rows = force[axis] if axis < FORCE_AXES else moment[axis - FORCE_AXES]
        for place, found in enumerate(_mixed(trial, frames, rows, [(t.bands, t.weights[:, axis]) for t in trusts])):
            (forces[place] if axis < FORCE_AXES else moments[place])[axis % FORCE_AXES] = found[..., kept]
    result = []
    for place, trust in enumerate(trusts):
        right = wrench[:, kept]
        if added is not None and trust.shares is not None:
            # frames n, shares e, axes a
            right = right - np.einsum("nea,e->an", added, trust.shares.reshape(-1))
        there = part.place.start - part.own.start + frames[kept]
        result.append(Equations(there, forces[place], moments[place], right, used[:, kept]))
    return result


def _mixed(
    trial: Trial, frames: np.ndarray, rows: np.ndarray, mixtures: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray]:
    """Rows (p, L, n) of some frames as mixtures of low-passes: of each, ends of bands (C,) and weights (L, C)."""
    whole = np.full((len(trial.motion), rows[..., 0].size), np.nan)
    whole[frames] = rows.reshape(-1, len(frames)).T
    result = [np.zeros(rows.shape) for _ in mixtures]
    for end in np.unique(np.concatenate([bands[weights.any(axis=0)] for bands, weights in mixtures])):
        passed = up_to(trial, whole, float(end))[frames].T.reshape(rows.shape)
        for mixture, (bands, weights) in zip(result, mixtures):
            for band in np.flatnonzero(bands == end):
                mixture += weights[:, band, None] * passed
    return result
