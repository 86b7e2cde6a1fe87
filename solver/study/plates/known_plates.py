"""Corrections known from an earlier identification on the same plates, applied to further trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...calibration.body_mass import AGREEMENT_TOLERANCE, MassEstimate
from ...options.plates import (
    AS_SHOWN,
    FREE_MOMENT,
    LOAD_MOMENT,
    MASS,
    POSITION,
    KnownLayout,
    KnownOffset,
    KnownPlates,
    PlateOptions,
)
from .finding import NO_CORRECTION, UNKNOWN_INTERVAL, Action, Finding, PlateCorrection


def collect_known_plates(
    corrections: Sequence[tuple[tuple[str, ...], PlateCorrection]], mass: MassEstimate | None
) -> KnownPlates:
    """Collect the corrections that further trials on the same plates should use.

    Args:
        corrections: names of the plates of each trial, with its correction. Plates with conflicting corrections are
            left out.
        mass: with the plates' readings and offsets.
    """
    found: dict[tuple[str, ...], list[KnownLayout]] = {}
    for plates, correction in corrections:
        shift, gains = (tuple(map(float, values)) for values in (correction.shift, correction.gains))
        shifts = tuple(tuple(map(float, own)) for own in correction.shifts)
        layout = KnownLayout(plates, correction.free_moment, shift, shifts, gains, correction.couple)
        found.setdefault(plates, []).append(layout)
    layouts = tuple(alike[0] for alike in found.values() if len(set(alike)) == 1)
    groups = () if mass is None else mass.groups
    return KnownPlates(
        layouts, tuple(KnownOffset(group.apparent_mass, tuple(map(float, group.bias))) for group in groups)
    )


def apply_known_plates(
    plates: Mapping[str, tuple[str, ...]],
    corrections: Mapping[str, PlateCorrection],
    findings: Sequence[Finding],
    options: PlateOptions,
) -> tuple[dict[str, PlateCorrection], list[Finding]]:
    """Corrections by trial from earlier trials on the same plates; and findings where these trials disagree.

    Args:
        plates: names, by trial.
        corrections: corrections from these trials alone.
        findings: of these trials.
        options: with the known plates.
    """
    result, disagreements = dict(corrections), []
    for trial, names in plates.items():
        if (known := None if options.known is None else options.known.layout(names)) is None:
            continue
        own = corrections.get(trial, NO_CORRECTION)
        free = known.free_moment if options.free_moment == AS_SHOWN else own.free_moment
        shift = own.shift if options.only_reports(POSITION) else np.array(known.shift)
        shifts = own.shifts if options.only_reports(POSITION) else np.reshape(known.shifts, (-1, 3))
        gains = own.gains if options.only_reports(MASS) else np.array(known.gains)
        couple = own.couple if options.only_reports(LOAD_MOMENT) else known.couple
        result[trial] = PlateCorrection(free, shift, shifts, gains, couple)
        sure = {f.kind for f in findings if trial in f.trials and f.done is not Action.UNCERTAIN}
        if free != own.free_moment and FREE_MOMENT in sure:
            text = "the free moment has another sign than on the same plates in the recordings used for identification"
            disagreements.append(
                Finding(FREE_MOMENT, (trial,), own.free_moment or np.nan, UNKNOWN_INTERVAL, "", Action.REPORTED, text)
            )
        if own.shift.any() and not np.any(known.shift) and not options.only_reports(POSITION):
            distance = 1e3 * float(np.linalg.norm(own.shift))
            text = f"the plates are {distance:.1f} mm from their location in the recordings used for identification"
            disagreements.append(Finding(POSITION, (trial,), distance, UNKNOWN_INTERVAL, "mm", Action.REPORTED, text))
    return result, disagreements


def find_known_biases(mass: MassEstimate, options: PlateOptions) -> tuple[dict[str, np.ndarray], list[Finding]]:
    """Bias wrenches (6,) by trial, known from plates with the same reading; and findings where there are none."""
    if options.known is None or not options.known.offsets or options.only_reports(MASS):
        return {}, []
    biases, disagreements = {}, []
    for trial in mass.trials:
        nearest = min(options.known.offsets, key=lambda offset: abs(offset.reading - trial.apparent_mass))
        if abs(nearest.reading - trial.apparent_mass) <= max(AGREEMENT_TOLERANCE * nearest.reading, 2.0 * trial.std):
            biases[trial.name] = np.array(nearest.bias)
            continue
        readings = ", ".join(f"{offset.reading:.1f}" for offset in options.known.offsets)
        text = (
            f"the plates read {trial.apparent_mass:.1f} kg, but {readings} kg in the recordings used for identification"
        )
        disagreements.append(
            Finding(MASS, (trial.name,), trial.apparent_mass, UNKNOWN_INTERVAL, "kg", Action.REPORTED, text)
        )
    return biases, disagreements
