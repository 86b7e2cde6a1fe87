"""Every plate and group of trials looked at before anything is fitted: what was found, and what is changed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...plate_options import COUPLE, MASS, PLACE, PlateOptions
from ...rig import Rig
from ...trial import Trial
from .correction import NO_CORRECTION, PlateCorrection
from .couple import check_load_moment
from .finding import Finding
from .known_plates import apply_known_plates
from .location import check_location
from .single_plates import check_single_plates
from .vertical_moment import check_free_moment
from .weighed import compare_trial


@dataclass(frozen=True, slots=True)
class PlateChecks:
    """Result of the plate checks.

    Attributes:
        findings: of every check.
        corrections: by trial; trials without a correction are missing.
    """

    findings: tuple[Finding, ...]
    corrections: Mapping[str, PlateCorrection]

    def __post_init__(self) -> None:
        object.__setattr__(self, "corrections", MappingProxyType(dict(self.corrections)))

    def get_correction(self, trial: str) -> PlateCorrection:
        """The correction of a trial's wrenches."""
        return self.corrections.get(trial, NO_CORRECTION)


def check_plates(rig: Rig, trials: Sequence[Trial], options: PlateOptions) -> PlateChecks:
    """Check the plates of synchronised trials: free moment, load moment, location and gain.

    Args:
        rig: its prior, with the right total mass, predicts the wrenches of the motion.
        trials: with synchronised motion and wrenches, without plate offset.
        options: options that override findings.
    """
    items = [compare_trial(rig, trial) for trial in trials if trial.counted.any()]
    findings: list[Finding] = []
    corrections: dict[str, PlateCorrection] = {}
    for finding, factor in check_free_moment(items, options.free_moment):
        findings.append(finding)
        if factor != 1.0:
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, NO_CORRECTION), free_moment=factor)
    turned = {name: correction.free_moment for name, correction in corrections.items()}
    for finding, couple in check_load_moment(items, turned, options.overrules(COUPLE)):
        findings.append(finding)
        if couple:
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, NO_CORRECTION), couple=couple)
    for finding, shift in check_location(items, options.overrules(PLACE)):
        findings.append(finding)
        if shift.any():
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, NO_CORRECTION), shift=shift)
    for finding, each in check_single_plates(items, options.overrules(PLACE), options.overrules(MASS)):
        findings.append(finding)
        if each.is_changed:
            for name in finding.trials:
                before = corrections.get(name, NO_CORRECTION)
                shifts = each.shifts + before.shifts if len(before.shifts) else each.shifts
                gains = each.gains * before.gains if len(before.gains) else each.gains
                corrections[name] = replace(before, shifts=shifts, gains=gains)
    layouts = {item.name: item.layout for item in items}
    corrections, disagreements = apply_known_plates(layouts, corrections, findings, options)
    return PlateChecks((*findings, *disagreements), corrections)
