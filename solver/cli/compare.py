"""``compare``: identified inertials on trials that were not used."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.errors import InputError
from ..base.progress import Progress
from ..options.plates import KnownPlates
from ..options.study import Settings
from ..values.wrenches import WRENCH_AXES
from .argument_types import add_options, path
from .bodies import rig_named
from .extensions import find_extensions
from .foreseen import require_forces
from .options import add_output_file, add_plates, add_recordings, add_verb, plate_options, read_options

T = TypeVar("T")

if TYPE_CHECKING:
    from ..calibration.calibration import Calibration
    from ..identification.comparison import Comparison
    from ..identification.error_model.frequency_weights import FrequencyWeights, PairedWeights
    from ..scene.result import SceneResult
    from ..skeleton.rig import Rig

COLUMNS = (
    "RMSE identified", "RMSE prior", "RMSE prior without weights",
    "CC identified", "CC prior", "CC prior without weights",
)  # fmt: skip
EXPLANATION = """
Reconstructs the forces and moments of further trials with the identified parameters and with the prior, and prints root
mean square error per axis and their ratios. Each of the two has frequency weights of its own, estimated from the
training trials; a third row shows the prior without weights. The rig is that of the results: of a robot the trials hold
joint coordinates, of a person markers.

Of a fixed-base robot (`identify-fixed-base`) each trial is a file of joint coordinates and one of torques or forces;
the drives are those of the identification.

Examples:
  python -m solver compare results walk2.trc walk2.mot
  python -m solver compare robot_results second_angles.csv second_wrenches.csv
  python -m solver compare arm second_run.csv second_torques.csv
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "compare", "test identified inertials on further trials", EXPLANATION, run)
    parser.add_argument("result", type=path, metavar="DIR", help="the --output of `identify` or `identify-fixed-base`")
    add_recordings(parser)
    add_options(parser, Settings, "planted_foot", "jobs")
    add_plates(parser)
    add_output_file(parser, "write the table there as CSV")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from dataclasses import replace

    from ..calibration.calibration import CALIBRATION
    from ..scene.result import RESULT
    from ..scene.study_folder import CALIBRATION_FILE, RESULT_FILE, RIG_FILE
    from ..storage.json_tree import to_json_values
    from ..storage.manifest import stored_file
    from ..storage.output_folder import read_consistent
    from ..study.comparison import compare
    from ..study.recordings import load
    from .printed import warn
    from .words import compared

    def read() -> tuple[SceneResult, Calibration | Rig]:
        result = stored_file(options.result, RESULT_FILE)
        if not os.path.exists(result):
            problem = "is not the folder of a study" if os.path.exists(options.result) else "does not exist"
            raise InputError(options.result, problem, remedy="Give the folder that `identify --output` wrote")
        calibrated, rig = stored_file(options.result, CALIBRATION_FILE), stored_file(options.result, RIG_FILE)
        body = CALIBRATION.read(calibrated) if os.path.exists(calibrated) else rig_named(str(rig))
        return RESULT.read(result), body

    result, body = read_consistent(options.result, read)
    if any(extension.compare(options, result, body) for extension in find_extensions()):
        return
    stored = read_stored(options.result / RESULT_FILE, "settings", result.settings, ReadSettings)
    found_then = read_stored(options.result / RESULT_FILE, "details", result.details, FoundThen)
    standing = options.planted_foot or stored.planted_foot
    settings = Settings(
        filter=stored.filter,
        smooth=stored.smooth,
        base=result.base_link,
        jobs=options.jobs,
        planted_foot=standing,
        plates=replace(plate_options(options), known=found_then.plates),
    )
    recordings = load(options.files, read_options(options))
    require_forces(recordings)
    found, warnings = compare(
        recordings, body, result.parameters, result.prior, settings, progress, weights=found_then.weights
    )
    used = set(result.trials)
    found = tuple(replace(comparison, used=comparison.trial in used) for comparison in found)
    if options.output is not None:
        write_comparisons(options.output, found)
    warn(warnings)
    print(compared(found))
    options.found = {"comparisons": to_json_values(found)}


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Settings of a result with which its trials were read: filter, smoothing, and the patch fixed to the floor."""

    filter: str
    planted_foot: str | None = None
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Frequency weights as a result holds them, entries as in `FrequencyWeights`."""

    cutoffs: tuple[float, ...]
    spectra: tuple[tuple[tuple[float, ...], ...], ...]
    coefficients: tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]
    improvement: float

    def __post_init__(self) -> None:
        _ = self.weights  # refuses what makes none

    @property
    def weights(self) -> FrequencyWeights:
        """As values."""
        import numpy as np

        from ..identification.error_model.frequency_weights import FrequencyWeights

        cutoffs, spectra, coefficients = map(np.array, (self.cutoffs, self.spectra, self.coefficients))
        return FrequencyWeights(cutoffs, spectra, coefficients, self.improvement)


@dataclass(frozen=True, slots=True)
class StoredPair:
    """Frequency weights of the identified parameters and of the prior."""

    identified: StoredWeights | None
    prior: StoredWeights | None


@dataclass(frozen=True, slots=True)
class FoundThen:
    """What the identification found besides parameters: its plates and frequency weights."""

    plates: KnownPlates
    frequency_weights: StoredPair | None = None

    @property
    def weights(self) -> PairedWeights:
        """Frequency weights as values."""
        from ..identification.error_model.frequency_weights import PairedWeights

        pair = self.frequency_weights
        if pair is None:
            return PairedWeights()
        return PairedWeights(*(None if own is None else own.weights for own in (pair.identified, pair.prior)))


def read_stored(path: Path, place: str, tree: Mapping[str, Any], wanted: type[T]) -> T:
    """Of a result's settings or details the entries that a comparison needs.

    Raises:
        InputError: they are not there.
    """
    from ..storage.json_tree import WrongEntry
    from ..storage.value_tree import from_tree

    names = [field.name for field in fields(wanted)]  # type: ignore[arg-type]
    try:
        found: T = from_tree(wanted, {name: tree[name] for name in names if name in tree}, place=place)
    except WrongEntry as error:
        remedy = "Identify again: a comparison filters its trials as the identification did"
        raise InputError(path, error.problem, place=error.place, remedy=remedy) from None
    return found


def write_comparisons(path: Path, comparisons: Sequence[Comparison]) -> None:
    """RMSE and correlation per trial and axis as CSV, whole or not at all."""
    from ..storage.atomic import write_atomically

    with write_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["trial", "used", "frames", "axis", "unit", *COLUMNS])
        for c in comparisons:
            fits = (c.identified, c.prior, c.unweighted_prior)
            columns = [getattr(fit, name) for name in ("rmse", "correlation") for fit in fits]
            for axis, name in enumerate(WRENCH_AXES):
                values = [f"{float(column[axis]):.9g}" for column in columns]
                unit = "N" if name.startswith("F") else "N m"
                writer.writerow([c.trial, "yes" if c.used else "no", c.frames, name, unit, *values])
