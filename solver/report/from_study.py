"""Builds the content of a report from a study."""

from __future__ import annotations

import numpy as np

from ..base.file_arrays import map_slices
from ..contacts.gait_cycles import find_gait_cycles
from ..dynamics.anatomical_angles import joint_angles
from ..identification.equations import measured_wrench, reconstructed_wrenches
from ..identification.estimate import CONSISTENT, ROTATIONAL
from ..identification.result import Identification
from ..signals.filters import COORDINATE_CUTOFF
from ..signals.window_reasons import TEXTS, Reason
from ..study.values import Flights, StudyData, TrialRecord
from ..values.filter_presets import preset_of
from ..values.inertials import InertialParameters
from ..values.person import UNKNOWN
from .content import (
    Content,
    FlightIdentification,
    Signals,
    TrackingErrors,
    TrialAngles,
)

CONSISTENCY_TEXT = {
    CONSISTENT: "physically consistent: every link's pseudo-inertia is positive semi-definite",
    ROTATIONAL: "rotational inertias positive definite; not every link's pseudo-inertia is",
}
NOT_PHYSICAL = "not physical: a mass or an inertia is negative"
STATE_NAMES = tuple(TEXTS.values())


def build_content(
    study: StudyData, *, title: str | None = None, simulated: bool = False, truth: InertialParameters | None = None
) -> Content:
    """Build the content of a study's report.

    Args:
        study: with an identification.
        title: of the page.
        simulated: label the data as a simulation.
        truth: the simulation's true parameters.

    Raises:
        InvalidValue: the study has no identification.
    """
    result = study.identification
    return Content(
        title=title or "Identified inertial parameters",
        subject=study.rig.name,
        simulated=simulated,
        method=result.estimate.method,
        satisfies=CONSISTENCY_TEXT.get(result.estimate.satisfies, NOT_PHYSICAL),
        identified=result.parameters,
        prior=result.prior,
        half_widths=result.half_widths,
        determined=result.determined,
        prior_source=study.rig.prior_source,
        on_bounds=result.estimate.at_bounds,
        undecided_reason=result.undecided_reason,
        truth=truth,
        comparisons=result.comparisons,
        signals=tuple(_signals(study, result, record) for record in study.records if record.trial is not None),
        tracking=tuple(found for record in study.records if (found := _tracking(record)) is not None),
        angles=tuple(_angles(study, record) for record in study.records if record.motion and study.rig.is_person),
        weighing=study.mass,
        residuals=study.residuals,
        findings=study.findings,
        flights=tuple(check for check in result.flights if check.frames > 0),
        from_flight=_flight_identification(study.flights),
        load=study.load,
        methods=_method_rows(study, result),
        warnings=study.warnings,
        notes=tuple(dict.fromkeys((*result.notes, *result.estimate.notes, *study.rig.notes))),
    )


def _flight_identification(flights: Flights | None) -> FlightIdentification | None:
    if flights is None:
        return None
    spans = sorted([*((*span, True) for span in flights.used), *((*span, False) for span in flights.short)])
    space = flights.null_space
    return FlightIdentification(tuple(spans), space.dimension, space.summary)


def _signals(study: StudyData, result: Identification, record: TrialRecord) -> Signals:
    trial = record.trial
    assert trial is not None
    rig, base = study.rig, result.base_link
    weights = result.frequency_weights.identified, result.frequency_weights.prior
    wrenches = reconstructed_wrenches(rig, trial, (result.parameters, result.prior), weights, base)
    states = np.where(trial.counted, Reason.MEASURED, Reason.OTHER_SUPPORT)
    if record.windows is not None and len(record.windows.reasons) == len(trial.motion):
        states = record.windows.reasons
    measured = measured_wrench(rig, trial, base)
    lag = record.plate_errors.lag or np.nan
    return Signals(
        trial.name,
        trial.motion.times,
        measured,
        wrenches[:, 0],
        wrenches[:, 1],
        trial.counted,
        states.astype(int),
        STATE_NAMES,
        lag,
    )


def _tracking(record: TrialRecord) -> TrackingErrors | None:
    tracked = record.tracked
    if tracked is None:
        return None
    seen = np.isfinite(tracked.errors).mean(axis=0)
    rmse = np.array([tracked.marker_rmse[name] for name in tracked.names])
    return TrackingErrors(record.name, tracked.names, rmse, seen, tracked.rmse)


def _angles(study: StudyData, record: TrialRecord) -> TrialAngles:
    assert record.motion is not None
    found, motion = joint_angles(study.rig, record.motion), record.motion
    trial = record.trial
    known = () if trial is None else (trial.filtered_wrenches, trial.counted)
    moving = [k for k, link in enumerate(found.links) if not study.rig.joints[link].hinge or k % 3 == 0]
    cycles = find_gait_cycles(study.rig, motion, *known)
    values = map_slices(len(motion), lambda own: np.degrees(found.values[own][:, moving]))
    return TrialAngles(record.name, motion.times, tuple(found.names[k] for k in moving), values, cycles)


def _method_rows(study: StudyData, result: Identification) -> tuple[tuple[str, str], ...]:
    settings = study.settings
    applied = [record.trial.preset for record in study.records if record.trial is not None]
    preset = next(filter(None, applied), preset_of(settings.filter))  # its cut-off may have been lowered
    given = [record.name for record in study.records if record.name not in result.trials]
    rows = [("Data", f"fitted to {', '.join(result.trials)}: {result.frames} frames that count")]
    if given:
        rows.append(("Also given", f"{', '.join(given)}: not fitted"))
    if study.calibration is not None:
        height = f"height {study.calibration.height:.3f} m"
        markers = f"{len(study.calibration.attachments)} markers of the set {study.calibration.marker_set}"
        rows.append(("Subject", f"{study.rig.name}; {height}, {markers}"))
        how = "each recording smoothed as a whole" if settings.smooth else "frame by frame"
        rows.append(("Motion", f"dynamical inverse kinematics, {how}"))
    rows += [
        (
            "Filter",
            f"low-pass Butterworth, order {preset.order}, {preset.cutoff:g} Hz, forwards and backwards "
            f"({preset.name}), the same for motion and wrenches",
        ),
        ("Derivatives", f"on the configuration manifold, filtered before at {COORDINATE_CUTOFF:g} times that cut-off"),
    ]
    weights = result.frequency_weights
    for name, own in (("identified parameters", weights.identified), ("prior", weights.prior)):
        if own is not None:
            text = f"error in unused parts of the trials {100.0 * (1.0 - own.improvement):.0f} % smaller than without"
            rows.append((f"Frequency weights, {name}", f"{text}; learnt from the plates"))
    sigma = ", ".join(f"{1.0 / w:.2g}" if w > 0.0 else "not used" for w in result.weights)
    chosen = "; ".join(f"{name} {value:.4g}" for name, value in result.estimate.settings.items())
    rows += [
        ("Equation", f"external wrench at the origin of link {result.base_link}; six rows per frame"),
        ("Weights", f"reciprocal of the residual's standard deviation: {sigma} (Fx, Fy, Fz in N; Mx, My, Mz in N m)"),
        ("Method", result.estimate.method + (f" ({chosen})" if chosen else "")),
        ("Prior", f"{study.rig.name}, {_describe_segment_table(study)}scaled to {result.prior.total_mass:.2f} kg"),
        *(("Assumed", text) for text in study.assumptions),
    ]
    if result.uncertainty is not None:
        rows.append(("Uncertainty", "posterior, normal approximation"))
    lags = [f"{r.name} {1e3 * r.plate_errors.lag:.1f} ms" for r in study.records if r.plate_errors.lag]
    if lags:
        rows.append(("Delay of the plates", ", ".join(lags)))
    if study.seconds:
        rows.append(("Computing time", ", ".join(f"{stage} {value:.1f} s" for stage, value in study.seconds.items())))
    return tuple(rows)


def _describe_segment_table(study: StudyData) -> str:
    """The segment table of a person's prior."""
    parameters = study.rig.provenance
    if parameters.get("kind") != "human":
        return ""
    sex = parameters["sex"]
    body = "a body of unknown sex (mean of both)" if sex == UNKNOWN else f"a {sex} body"
    return f"{study.rig.prior_source} for {body}, "
