"""Centroidal estimates of a study as animated custom properties of its armature, under stable names.

Properties of the armature object, each of three numbers along the world's axes: ``centroidal_com`` [m],
``centroidal_acceleration`` [m/s^2], ``centroidal_momentum`` [kg m^2/s] (angular, about the centre of mass) and
``centroidal_momentum_rate`` [N m] as estimated; the same names with ``kinematic_`` or ``wrench_`` after ``centroidal_``
for estimates from motion or from the contact wrench alone; ``centroidal_flight_momentum`` is constant in each flight.
"""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from ..base import custom_properties
from ..base.bpy_access import scene
from ..base.solver_api import ESTIMATE, SOURCES, UNITS, CentroidalEstimate, errors, read_consistent, study_folder
from ..scene.action import ActionCurves, frames_at
from .study import TRIAL_KEY, find_trial_actions, played_trial, study_folder_of

ESTIMATED_KEY = "exciting_dance_estimated"
"""Custom property of an action: the method that estimated its trial's centre of mass and momentum."""
PREFIX, GROUP = "centroidal_", "Centroidal"
"""Prefix of the properties' names, and group of their curves."""
FLIGHT_MOMENTUM = "flight_momentum"
DESCRIPTIONS = {
    "com": "Centre of mass, estimated from motion and forces together",
    "acceleration": "Acceleration of the centre of mass, estimated",
    "momentum": "Angular momentum about the centre of mass, estimated",
    "momentum_rate": "Rate of change of the angular momentum, estimated",
    "kinematic_com": "Centre of mass from motion and inertial parameters alone",
    "kinematic_momentum": "Angular momentum from motion and inertial parameters alone",
    "kinematic_momentum_rate": "Rate of change of the angular momentum from motion and inertial parameters alone",
    "wrench_com": "Centre of mass from the contact wrench alone, on its central axis",
    "wrench_momentum_rate": "Rate of change of the angular momentum from the contact wrench alone",
    FLIGHT_MOMENTUM: "Angular momentum; in each flight its mean, because it is conserved there",
}


def property_values(estimate: CentroidalEstimate) -> dict[str, np.ndarray]:
    """Values (N, 3) to key, by the property's name without `PREFIX`; NaN where unknown."""
    found = {name: getattr(estimate, name) for name in ("com", "acceleration", "momentum", "momentum_rate")}
    for who, what in SOURCES:
        found[f"{who}_{what}"] = estimate.source(who, what)
    found[FLIGHT_MOMENTUM] = np.where(
        np.isfinite(estimate.mean_flight_momentum), estimate.mean_flight_momentum, estimate.momentum
    )
    return found


def read_estimates(folder: Path) -> dict[str, CentroidalEstimate]:
    """Read the estimates that ``python -m solver centroidal`` wrote to a folder, by trial.

    Raises:
        InputError: there is no estimate, or one is damaged.
    """
    if not study_folder.trial_files(folder, study_folder.ESTIMATE_END):
        raise errors.InputError(folder, "contains no estimate", remedy="Estimate again")
    return read_consistent(folder, lambda: study_folder.read_trial_files(folder, study_folder.ESTIMATE_END, ESTIMATE))


def key_estimates(
    context: bpy.types.Context, body: bpy.types.Object, estimates: dict[str, CentroidalEstimate]
) -> tuple[str, ...]:
    """Key the estimates on the actions of a body's trials, replacing earlier ones.

    The body's properties get the values of the trial that it plays, or of the first trial.

    Returns:
        names of the trials.

    Raises:
        InvalidValue: the body has none of these trials.
    """
    own = [item for item in find_trial_actions(body) if custom_properties.read_label(item, TRIAL_KEY) in estimates]
    if not own:
        raise errors.InvalidValue(
            f"{body.name!r} has none of the trials {', '.join(estimates)}: open the results again"
        )
    keyed = {item: property_values(estimates[custom_properties.read_label(item, TRIAL_KEY)]) for item in own}
    trials = [custom_properties.read_label(item, TRIAL_KEY) for item in own]
    shown = keyed[own[trials.index(played_trial(body)) if played_trial(body) in trials else 0]]
    for name, values in shown.items():
        body[PREFIX + name] = np.nan_to_num(values[0]).tolist()
        unit = UNITS[_quantity(name)].replace("2", "²")
        body.id_properties_ui(PREFIX + name).update(description=f"{DESCRIPTIONS[name]} [{unit}]")
    paths = {_data_path(name) for name in shown}
    for item, properties in keyed.items():
        estimate = estimates[custom_properties.read_label(item, TRIAL_KEY)]
        curves, frames = ActionCurves(item, None, item.slots[0]), frames_at(scene(context), estimate.times)
        curves.remove(paths)
        for name, values in properties.items():
            curves.add(_data_path(name), frames, values, group=GROUP)
        item[ESTIMATED_KEY] = estimate.method
    return tuple(trials)


def find_estimate_file(body: bpy.types.Object) -> Path | None:
    """File with the estimate of the trial that a body plays; None without one."""
    action = body.animation_data.action if body.animation_data else None
    folder = study_folder_of(body)
    if action is None or folder is None or not custom_properties.read_label(action, ESTIMATED_KEY):
        return None
    return folder / study_folder.ESTIMATES_FOLDER / f"{played_trial(body)}{study_folder.ESTIMATE_END}"


def _quantity(name: str) -> str:
    """Quantity of a property: ``"momentum"`` for ``"kinematic_momentum"``."""
    return "momentum" if name == FLIGHT_MOMENTUM else name.removeprefix("kinematic_").removeprefix("wrench_")


def _data_path(name: str) -> str:
    return f'["{PREFIX}{name}"]'
