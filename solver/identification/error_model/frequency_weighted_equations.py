"""The equations of a trial as far as its motion is believed: noise that plates contradict no longer enters Y.

What is not believed of a motion is an error of Y, which draws parameters aside whatever it is that moves. The same
gains that reconstructions take (`belief`) are therefore taken by Y, region by region and band by band, and what links'
own markers add (`giving`) is taken off f.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...dynamics import base_index
from ...motion import Motion
from ...rig import Rig
from ...trial import Trial
from ..accumulate import EquationAccumulator
from ..base_parameters import BaseParameters
from ..blocks import AXES, FORCE_AXES
from ..equations import Equations, equations, frames_with_forces, low_pass_at, wrenches_about_base
from ..regression import Regression
from ..trial_chunks import TrialChunk, split_trial
from .frequency_weights import FrequencyWeights
from .skin_compliance import has_marker_displacements, skin_compliance_wrenches


def accumulate_frequency_weighted(
    rig: Rig, trial: Trial, weights: Sequence[FrequencyWeights], base: int | str, structure: BaseParameters
) -> list[Regression]:
    """A trial's regression in world axes by each of several trusts; its motion is gone through once for all.

    Args:
        rig: that moved.
        trial: with counted frames.
        weights: how far its motion is believed.
        base: base link, by name or index.
        structure: base parameters of the rig.
    """
    index = base_index(rig, base)
    collected = [EquationAccumulator(rig, structure) for _ in weights]
    shaken = tuple(trial.noise_replicas)
    made = (_weighted_pieces(rig, trial, weights, index, motion) for motion in (trial.motion, *shaken))
    for here, *others in zip(*made):
        for place, own in enumerate(collected):
            own.add(trial, here[place], [other[place] for other in others])
    return [own.regression(rig.links[index]) for own in collected]


def _weighted_pieces(
    rig: Rig, trial: Trial, weights: Sequence[FrequencyWeights], base: int, motion: Motion
) -> Iterator[list[Equations]]:
    """Equations of the frames that count, part by part, by each trust."""
    bands = np.unique(np.concatenate([trust.bands for trust in weights]))
    for part in split_trial(trial, bands):
        if part.trial.counted[part.core].any():
            first = part.frames.start - part.core.start
            own = motion.part(first, first + len(part.trial.motion))
            yield _weighted_equations(rig, part, weights, base, own)


def _weighted_equations(
    rig: Rig, chunk: TrialChunk, weights: Sequence[FrequencyWeights], base: int, motion: Motion
) -> list[Equations]:
    trial = chunk.trial
    pieces = list(equations(rig, replace(trial, counted=frames_with_forces(trial)), base, "world", motion))
    frames = np.concatenate([piece.frames for piece in pieces])
    force, moment, wrench, used = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=-1)
        for name in ("force", "moment", "wrench", "used")
    )
    wanted = np.zeros(len(trial.motion), bool)
    wanted[chunk.core] = trial.counted[chunk.core]
    kept = wanted[frames]
    added = None
    if has_marker_displacements(trial) and any(trust.shares is not None for trust in weights):
        added = wrenches_about_base(rig, trial, skin_compliance_wrenches(rig, trial), base)[frames[kept]]
    forces = [np.empty((*force.shape[:-1], int(kept.sum()))) for _ in weights]
    moments = [np.empty((*moment.shape[:-1], int(kept.sum()))) for _ in weights]
    for axis in range(AXES):
        rows = force[axis] if axis < FORCE_AXES else moment[axis - FORCE_AXES]
        for place, found in enumerate(
            _mix_low_passes(trial, frames, rows, [(t.bands, t.low_pass_weights[:, axis]) for t in weights])
        ):
            (forces[place] if axis < FORCE_AXES else moments[place])[axis % FORCE_AXES] = found[..., kept]
    result = []
    for place, trust in enumerate(weights):
        right = wrench[:, kept]
        if added is not None and trust.shares is not None:
            # frames n, shares e, axes a
            right = right - np.einsum("nea,e->an", added, trust.shares.reshape(-1))
        there = chunk.frames.start - chunk.core.start + frames[kept]
        result.append(Equations(there, forces[place], moments[place], right, used[:, kept]))
    return result


def _mix_low_passes(
    trial: Trial, frames: np.ndarray, rows: np.ndarray, mixtures: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray]:
    """Rows (p, L, n) of some frames as mixtures of low-passes: of each, ends of bands (C,) and weights (L, C)."""
    whole = np.full((len(trial.motion), rows[..., 0].size), np.nan)
    whole[frames] = rows.reshape(-1, len(frames)).T
    result = [np.zeros(rows.shape) for _ in mixtures]
    for end in np.unique(np.concatenate([bands[weights.any(axis=0)] for bands, weights in mixtures])):
        passed = low_pass_at(trial, whole, float(end))[frames].T.reshape(rows.shape)
        for mixture, (bands, weights) in zip(result, mixtures):
            for band in np.flatnonzero(bands == end):
                mixture += weights[:, band, None] * passed
    return result
