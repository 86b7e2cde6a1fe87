"""The dances of the experiments: designed once, stored in a folder if one is given, of the paper's size or quick
ones."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path

from solver.base.progress import write_lines
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.dance.workflows.design import design_dance
from solver.options.dances import FOOT_CONFIGURATIONS, DanceOptions
from solver.skeleton.rig import Rig

EACH, EACH_QUICK, EACH_UNSEEN = 15, 1, 2
"""Postures per foot configuration: the paper's, with --quick, and of a dance for cross-validation."""
UNSEEN_SEED = 7


@dataclass(frozen=True, slots=True)
class Dances:
    """Designs dances.

    Attributes:
        quick: one posture per foot configuration and less effort.
        workers: processes.
        folder: where dances are stored between runs; None designs each again.
    """

    quick: bool = False
    workers: int = 2
    folder: Path | None = None

    def of(self, rig: Rig, options: DanceOptions, *, unseen: bool = False) -> tuple[Dance, float]:
        """A dance and the seconds its design took, also when it was stored.

        Args:
            rig: the dancer.
            options: whose postures, effort and workers are replaced.
            unseen: a shorter dance of another seed, to test on what was not used.
        """
        options = self.options(options, unseen)
        path = None if self.folder is None else self.folder / f"{_digest(rig, options)}.npz"
        if path is not None and path.exists():
            dance = DESIGNED_DANCE.read(path)
            return dance, dance.seconds
        began = time.perf_counter()
        dance = design_dance(rig, options, write_lines)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            DESIGNED_DANCE.write(path, dance)
        return dance, time.perf_counter() - began

    def options(self, options: DanceOptions, unseen: bool) -> DanceOptions:
        """The options at the requested size."""
        each = EACH_QUICK if self.quick else EACH_UNSEEN if unseen else EACH
        options = replace(options, postures=dict.fromkeys(FOOT_CONFIGURATIONS, each), workers=self.workers)
        if self.quick or unseen:
            options = replace(options, pool=60, rounds=min(options.rounds, 2))
        return replace(options, seed=UNSEEN_SEED) if unseen else options


def _digest(rig: Rig, options: DanceOptions) -> str:
    """A name for the dance of a rig and options, whatever the number of workers."""
    said = repr(
        (sorted(rig.provenance.items(), key=str), sorted(options.postures.items()), replace(options, workers=1))
    )
    return hashlib.sha256(said.encode() + rig.prior.values.tobytes()).hexdigest()[:16]
