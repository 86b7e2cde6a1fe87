"""``python -m benchmarks VERB ...``: measure the figures of a subject."""

from __future__ import annotations

import sys
from importlib import import_module

VERBS = {
    "identification": "benchmarks.identification",
    "exchanged-forces": "benchmarks.figures.foreign",
    "other-bipeds": "benchmarks.figures.other_bipeds",
    "validation": "benchmarks.figures.validation",
    "plate-faults": "benchmarks.figures.plate_faults",
    "rotated-plates": "benchmarks.figures.rotated_plates",
    "tracking": "benchmarks.tracking",
    "centroidal": "benchmarks.centroidal",
    "dance": "benchmarks.dance",
    "papers": "benchmarks.papers.side_by_side",
    "characters": "benchmarks.characters",
    "extension": "benchmarks.extension",
    "house": "benchmarks.house",
    "inputs": "benchmarks.inputs",
    "faults": "benchmarks.faults",
    "stops": "benchmarks.faults.stops",
    "mutation": "benchmarks.mutation",
    "opensim": "benchmarks.opensim_models",
    "opensim-tracking": "benchmarks.opensim_tracking",
    "release": "benchmarks.release",
    "moments": "benchmarks.opensim_moments",
    "programs": "benchmarks.programs",
    "measured": "benchmarks.measured",
}
"""Verb and the module whose ``main(arguments) -> exit code`` does it."""


def main(arguments: list[str]) -> int:
    """Run a verb; 2 when there is none of that name."""
    if not arguments or arguments[0] not in VERBS:
        print(f"usage: python -m benchmarks {{{','.join(VERBS)}}} [options]", file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    return int(import_module(VERBS[arguments[0]]).main(arguments[1:]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
