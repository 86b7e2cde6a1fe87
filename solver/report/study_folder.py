"""Writes the files of a study into one folder, for people, programs and Blender."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.file_arrays import map_slices
from ..base.files import AnyPath
from ..calibration.calibration import CALIBRATION
from ..dynamics.anatomical_angles import JointAngles, joint_angles
from ..formats.csv_tables import write_table
from ..formats.joint_coordinates import write_coordinates
from ..formats.model_writer import identified_model_name, write_back
from ..formats.model_writer import write_into as write_model_of_person
from ..formats.opensim_storage import write_storage
from ..formats.text_files import Warn, ignore_warning
from ..formats.urdf_writer import write_urdf
from ..identification.added_load import AddedLoad
from ..identification.published_masses import describe_masses_outside_tables
from ..identification.result import Identification, write_result_table
from ..scene import study_folder as names
from ..scene.determined import DATA, MASS_KIND, MOMENT_KIND, SHAPE, TABLES
from ..scene.labels import display_name, join_names
from ..scene.motion import RECORDING, scene_recording
from ..scene.motion_record import MOTION, motion_record
from ..scene.result import RESULT, SceneResult
from ..scene.rig import write_rig
from ..signals.pooling import TWO_SIDED_STDS
from ..storage.atomic import write_atomically
from ..storage.json_tree import to_json_values
from ..storage.output_folder import write_folder
from ..study.provenance import PROVENANCE, Provenance, provenance_of_study
from ..study.values import STUDY, TRIAL, Flights, StoredStudy, StudyData
from ..values.inertials import MASS, InertialParameters
from ..values.person import UNKNOWN
from . import CONTENT, build_content, render
from .page import summarise_errors

SHOWN_WARNINGS = 3
"""Number of warnings in a summary."""


def write_study(  # noqa: PLR0913 the labels of a report, and the model to write
    folder: str | Path,
    study: StudyData,
    *,
    title: str | None = None,
    truth: InertialParameters | None = None,
    simulated: bool = False,
    provenance: Provenance | None = None,
    write_into: AnyPath | None = None,
    warn: Warn = ignore_warning,
) -> tuple[str, ...]:
    """Write a study's folder, completely or not at all; see `workflow.Study.write`."""
    found = None if study.identified is None else study.identified.parameters
    provenance = provenance_of_study(study) if provenance is None else provenance
    with write_folder(folder) as building:
        write_rig(building / names.RIG_FILE, study.rig)
        if study.calibration is not None:
            CALIBRATION.write(building / names.CALIBRATION_FILE, study.calibration)
        for record in study.records:
            trial = record.trial and replace(record.trial, posture_wrenches=None)  # large; an identification makes them
            TRIAL.write(building / f"{record.name}{names.TRIAL_END}", replace(record, trial=trial))
            if record.motion is not None:
                moved = motion_record(record.name, study.rig, record.motion, found).with_trial(record.trial)
                MOTION.write(building / f"{record.name}{names.MOTION_END}", moved)
                for end in (names.STORAGE_END, names.JOINTS_END):
                    write_coordinates(building / f"{record.name}{end}", study.rig, record.motion, degrees=False)
                if study.rig.is_person:
                    write_angles(building / record.name, record.motion.times, joint_angles(study.rig, record.motion))
            if (tracked := record.tracked) is not None:
                titles = [f"{name} [m]" for name in tracked.names]
                write_table(building / f"{record.name}{names.MARKERS_END}", tracked.times, titles, tracked.errors)
            recording = record.recording
            drawn = scene_recording(recording.markers, recording.wrenches)
            RECORDING.write(building / f"{record.name}{names.RECORDING_END}", drawn)
        PROVENANCE.write(building / names.PROVENANCE_FILE, provenance)
        trials = tuple(record.name for record in study.records)
        STUDY.write(building / names.STUDY_FILE, StoredStudy(replace(study, records=()), trials))
        if study.identified is not None:
            _write_identification(study, study.identified, building, warn)
            if write_into is not None:
                place = building / identified_model_name(Path(write_into))
                write_model_of_person(study.rig, study.identified.parameters, Path(write_into), place)
            content = build_content(study, title=title, simulated=simulated, truth=truth)
            content = replace(content, methods=(*content.methods, *provenance.rows))
            CONTENT.write(building / names.CONTENT_FILE, content)
            with write_atomically(building / names.REPORT_FILE) as stream:
                stream.write(render(content))
        return tuple(sorted(file.name for file in building.iterdir()))


def _write_identification(study: StudyData, found: Identification, folder: Path, warn: Warn) -> None:
    result = build_result(study, found)
    RESULT.write(folder / names.RESULT_FILE, result)
    write_result_table(folder / names.RESULT_TABLE, result)
    if np.all(found.parameters.masses >= 0.0):
        write_urdf(study.rig, folder / names.URDF_FILE, found.parameters)
    write_back(study.rig, folder, found.parameters, found.estimate.satisfies, warn)


def build_result(study: StudyData, found: Identification) -> SceneResult:
    """Build the result file's value from a study."""
    spread = found.uncertainty
    return SceneResult(
        parameters=found.parameters,
        prior=found.prior,
        half_widths=None if spread is None else spread.half_widths,
        lower=None if spread is None else spread.lower,
        upper=None if spread is None else spread.upper,
        determined=found.determined,
        method=found.estimate.method,
        satisfies=found.estimate.satisfies,
        status=found.estimate.status.value,
        at_bounds=found.estimate.at_bounds,
        trials=found.trials,
        base_link=found.base_link,
        settings=to_json_values(study.settings),
        details=to_json_values(_result_details(study, found)),
    )


def summarise_study(study: StudyData, found: Identification) -> tuple[str, ...]:
    """Error on trials not used beside the prior's, what the data determine, masses outside every published table, what
    was assumed of a person's height and sex, and the worst warnings, a sentence each: those of later steps first, from
    a result that the recordings do not decide to markers.
    """
    unseen = [comparison for comparison in found.comparisons if not comparison.used]
    ours, prior, *_ = summarise_errors(unseen) if unseen else ("unknown, none was left out", "unknown")
    counts = Counter((one.source, one.kind) for one in found.determined)
    limbs = f", {counts[DATA, MASS_KIND] - 1} limb masses" * (counts[DATA, MASS_KIND] > 1)
    classes = (
        f"Data: total mass{limbs}, {counts[DATA, MOMENT_KIND]} first moments",
        f"Data and prior's shape: {counts[SHAPE, MASS_KIND]} limb masses",
        f"Prior: single links, {counts[TABLES, MOMENT_KIND]} first moments",
    )
    outside = describe_masses_outside_tables(study.rig, found.parameters, found.half_widths[:, MASS])
    assumed = () if study.calibration is None else study.calibration.assumptions
    return (
        f"Error on trials not used: {ours} (prior {prior})",
        *(classes if found.determined else ()),
        *[f"Outside every table: {join_names([*map(display_name, outside)])}"] * bool(outside),
        *(f"Assumed {text}" for text in assumed if text.startswith("height")),
        *["Assumed sex unknown: the mean of both columns"] * (study.rig.provenance.get("sex") == UNKNOWN),
        *[text for text in reversed(study.warnings) if text not in outside.values()][:SHOWN_WARNINGS],
    )


def _result_details(study: StudyData, found: Identification) -> dict[str, Any]:
    """Further details of the result, as plain data."""
    return {
        "summary": summarise_study(study, found),
        "undecided_reason": found.undecided_reason,
        "mass": None if study.mass is None else {"kg": study.mass.mass, "half_width": study.mass.half_width},
        "plate_errors": {record.name: record.plate_errors for record in study.records if record.trial is not None},
        "plates": study.known_plates,
        "lag": study.lag and {"seconds": study.lag.seconds, "half_width": TWO_SIDED_STDS * study.lag.std},
        "frames": found.frames,
        "weights": found.weights,
        "frequency_weights": found.frequency_weights,
        "comparisons": [
            {
                "trial": c.trial,
                "used": c.used,
                "frames": c.frames,
                "rmse_identified": c.identified.rmse,
                "rmse_prior": c.prior.rmse,
                "rmse_unweighted_prior": c.unweighted_prior.rmse,
                "cc_identified": c.identified.correlation,
                "cc_prior": c.prior.correlation,
                "cc_unweighted_prior": c.unweighted_prior.correlation,
            }
            for c in found.comparisons
        ],
        "residuals": [
            {
                **to_json_values(r),
                "force_share": r.force_share,
                "moment_share": r.moment_share,
                "meets_usual_thresholds": r.meets_thresholds,
            }
            for r in study.residuals
        ],
        "flights": [
            {"trial": f.trial, "frames": f.frames, "acceleration": f.acceleration, "momentum_rate": f.momentum_rate}
            for f in found.flights
        ],
        "from_flight": None if study.flights is None else _flights_data(study.flights),
        "method_settings": dict(found.estimate.settings),
        "findings": study.findings,
        "suspected": [finding.sentence for finding in study.findings],
        "added_load": None if study.load is None else _load_data(study.load),
        "seconds": dict(study.seconds),
        "warnings": study.warnings,
        "assumed": study.assumptions,
        "notes": found.notes,
    }


def _flights_data(flights: Flights) -> dict[str, Any]:
    """Identification from flight phases as plain data: null space of the equations, base parameters from it."""
    space = flights.null_space
    return {
        "used": flights.used,
        "short": flights.short,
        "singular_values": space.singular_values,
        "dimension": space.dimension,
        "base_parameters": dict(zip(space.base.names, space.values.tolist(), strict=True)),
    }


def _load_data(found: AddedLoad) -> dict[str, Any]:
    """An added load as plain data: its carriers with mass [kg], half of its 95 % interval, centre of mass [m] and
    inertia [kg m^2]."""
    bodies = [found.loads[name] for name in found.carriers]
    return {
        "carriers": [
            {"link": b.link, "mass": b.mass, "com": b.com, "inertia": b.inertia,
             "mass_half_width": found.half_widths[found.links.index(b.link)]}
            for b in bodies
        ],
        "total": {"mass": found.total, "mass_half_width": found.total_half_width},
        "alternatives": [list(links) for links in found.alternatives],
        "probabilities": dict(zip(found.links, found.probabilities)),
    }  # fmt: skip


def write_angles(stem: Path, times: np.ndarray, angles: JointAngles) -> None:
    """Write anatomical joint angles [degrees] over time (N,) [s] as ``.angles.mot`` and ``.angles.csv``."""
    storage, table = (stem.with_name(f"{stem.name}{end}") for end in names.ANGLES_ENDS)
    degrees = map_slices(len(times), lambda own: np.degrees(angles.values[own]))
    write_storage(storage, times, angles.names, degrees, in_degrees=True)
    write_table(table, times, [f"{name} [deg]" for name in angles.names], degrees)
