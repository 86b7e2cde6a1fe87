"""Every plate and group of trials looked at before anything is fitted: what was found, and what is changed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...plate_options import COUPLE, MASS, PLACE, PlateOptions
from ...rig import Rig
from ...trial import Trial
from .correction import UNCHANGED, PlateCorrection
from .couple import couple_findings
from .each import each_findings
from .finding import Finding
from .free_moment import free_moment_findings
from .known import as_known
from .place import place_findings
from .weighed import weigh


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What became of it.

    Attributes:
        findings: everything that was looked at.
        corrections: by trial, where there is one.
    """

    findings: tuple[Finding, ...]
    corrections: Mapping[str, PlateCorrection]

    def __post_init__(self) -> None:
        object.__setattr__(self, "corrections", MappingProxyType(dict(self.corrections)))

    def of(self, trial: str) -> PlateCorrection:
        """What is changed in a trial's wrenches."""
        return self.corrections.get(trial, UNCHANGED)


def suspect(rig: Rig, trials: Sequence[Trial], options: PlateOptions) -> Suspicion:
    """Judge the plates of trials.

    Args:
        rig: its prior, of the right total mass, says what the motion needs.
        trials: with motion and wrenches on one clock, without offset.
        options: choices that overrule what is found.
    """
    items = [weigh(rig, trial) for trial in trials if trial.counted.any()]
    findings: list[Finding] = []
    corrections: dict[str, PlateCorrection] = {}
    for finding, factor in free_moment_findings(items, options.free_moment):
        findings.append(finding)
        if factor != 1.0:
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, UNCHANGED), free_moment=factor)
    turned = {name: correction.free_moment for name, correction in corrections.items()}
    for finding, couple in couple_findings(items, turned, options.overrules(COUPLE)):
        findings.append(finding)
        if couple:
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, UNCHANGED), couple=couple)
    for finding, shift in place_findings(items, options.overrules(PLACE)):
        findings.append(finding)
        if shift.any():
            for name in finding.trials:
                corrections[name] = replace(corrections.get(name, UNCHANGED), shift=shift)
    for finding, each in each_findings(items, options.overrules(PLACE), options.overrules(MASS)):
        findings.append(finding)
        if each.changes:
            for name in finding.trials:
                before = corrections.get(name, UNCHANGED)
                shifts = each.shifts + before.shifts if len(before.shifts) else each.shifts
                gains = each.gains * before.gains if len(before.gains) else each.gains
                corrections[name] = replace(before, shifts=shifts, gains=gains)
    layouts = {item.name: item.layout for item in items}
    corrections, disagreements = as_known(layouts, corrections, findings, options)
    return Suspicion((*findings, *disagreements), corrections)
