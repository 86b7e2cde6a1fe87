"""A root without position: the body turns, and its first turning segment stays where it is."""

from __future__ import annotations

import numpy as np

from ..check_definition import InputCheck, InputProblem, InputToCheck

STILL = 1e-6
"""[m, 1] Changes below it are rounding."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    segments = inputs.recording.segments
    if segments is None or segments.positions is None:
        return None
    turning = np.nanmax(np.ptp(segments.rotations, axis=0), axis=(1, 2), initial=0.0) > STILL
    root = segments.positions[:, int(np.argmax(turning))]  # above it, segments only place the body
    known = root[np.isfinite(root).all(axis=1)]
    if not turning.any() or not len(known) or np.ptp(known, axis=0).max() > STILL:
        return None
    return InputProblem(
        "the root has no position: the body turns in one place, its feet slide and its heights are unknown",
        "Export the root's position channels if the file should have them",
        is_note=True,
    )


ROOT_POSITION = InputCheck(
    name="root position",
    measures="whether the root moves while the body does",
    measure=_measure,
)
