"""The rigs of the proof and their dances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions, human_options
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig

FULL, QUICK = 15, 1
"""Postures per foot configuration."""


@dataclass(frozen=True, slots=True)
class Case:
    """A rig to prove.

    Attributes:
        name: shown.
        rig: makes it.
        options: of its dance, from the postures per configuration.
        person: sensed by markers, not by encoders.
    """

    name: str
    rig: Callable[[], Rig]
    options: Callable[..., DanceOptions]
    person: bool = False


CASES = (
    Case("HOAP-3", lambda: hoap3(torque="peak"), DanceOptions),
    Case("HRP-2", hrp2, DanceOptions),
    Case("human", lambda: human(1.75, 65.0, "female"), human_options, person=True),
)


def dance_for(case: Case, rig: Rig, postures: int, workers: int = 2) -> Dance:
    """A dance of a few postures per foot configuration, or of the paper's fifteen."""
    wanted = dict.fromkeys(FOOT_CONFIGURATIONS, postures)
    effort = {} if postures >= FULL else {"pool": 60, "rounds": 2}
    return design_dance(rig, case.options(postures=wanted, workers=workers if postures >= FULL else 1, **effort))
