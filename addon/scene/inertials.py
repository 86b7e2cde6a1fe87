"""Inertial parameters as custom properties, with units, of an armature's bones.

Properties of each bone: ``mass`` [kg], ``com`` (3) [m, link frame], ``inertia`` (6) [kg m^2, about the centre of mass,
link axes, order xx xy yy xz yz zz], the same with prefix ``prior_`` and, half of the 95 % intervals, ``interval_``,
``determined`` (fraction), and ``inertial_parameters`` (10) and ``prior_inertial_parameters`` (10), the exact result and
prior.
"""

from __future__ import annotations

import json
from typing import Any

import bpy
import numpy as np

from ..base import bpy_access, custom_properties
from ..base.solver_api import InertialParameters, Rig, SceneResult, errors, symmetric_entries, symmetric_matrix
from .armature import rig_of

RESULT_KEY = "exciting_dance_result"
"""Custom property of the armature data: method, consistency and bounds of the result (JSON)."""
PARAMETERS = "inertial_parameters"
FROM_FLIGHT, SUMMARY = "from_flight", "summary"
KNOWN_MEANINGS = {
    custom_properties.DETERMINED: "Share of the first moment about the joint that the data determined",
    custom_properties.LIMB_MASS: "Mass [kg] of the link's limb or trunk, by the data with the prior's shape",
}
"""What the data determine of a link, in words."""
PARAMETERS_PER_LINK = 10
REMEDY = "undo the edit, identify again, or add the rig again"
"""What to do about damaged inertial parameters."""
PRIOR_METHOD = "prior"
"""Method of a result that is the rig's prior."""
CONSISTENCY_LABELS = {
    "rotational": "not every link is consistent",
    "none": "a mass or inertia is negative",
}
"""Physical consistency that a result lacks, in words."""
INTERVAL = "interval_"
"""Prefix of half widths of 95 % intervals."""
INERTIA_ORDER = "xx, xy, yy, xz, yz, zz"
PREFIX_MEANINGS = {"": "identified", "prior_": "prior", INTERVAL: "half of the 95 % interval"}


def write_inertials(armature: bpy.types.Object, result: SceneResult) -> None:
    """Write a result to the bones of its rig.

    Raises:
        InvalidValue: the result belongs to another rig.
    """
    rig = rig_of(armature)
    if set(result.links) != set(rig.links):
        missing = sorted(set(rig.links) ^ set(result.links))
        raise errors.InvalidValue(f"the result and the rig {rig.name!r} have different links: {', '.join(missing)}")
    found = {"": result.parameters, "prior_": result.prior}
    known = dict(zip(KNOWN_MEANINGS, (result.determined_share, result.limb_masses), strict=True))
    for row, link in enumerate(result.links):
        bone = armature.data.bones[link]
        for prefix, parameters in found.items():
            _set_property(bone, prefix, "mass", float(parameters.masses[row]))
            _set_property(bone, prefix, "com", np.nan_to_num(parameters.coms[row]).tolist())
            _set_property(bone, prefix, "inertia", symmetric_entries(parameters.inertias_at_com[row]).tolist())
            bone[prefix + PARAMETERS] = parameters.values[row].tolist()
        if result.half_widths is not None:
            mass, *others = np.nan_to_num(result.half_widths[row]).tolist()
            for name, value in (("mass", mass), ("com", others[:3]), ("inertia", others[3:])):
                _set_property(bone, INTERVAL, name, value)
        else:
            _remove_properties(bone, *(INTERVAL + name for name in ("mass", "com", "inertia")))
        for name, values in known.items():
            if np.isfinite(values[row]):
                bone[name] = float(values[row])
                bone.id_properties_ui(name).update(description=KNOWN_MEANINGS[name], min=0.0)
            else:
                _remove_properties(bone, name)
    bpy_access.armature(armature)[RESULT_KEY] = json.dumps(
        {
            "method": result.method,
            "satisfies": result.satisfies,
            "at_bounds": list(result.at_bounds),
            FROM_FLIGHT: result.from_flight,
            SUMMARY: list(result.summary),
        }
    )
    bpy_access.armature(armature).update_tag()  # changed custom properties alone do not trigger an update


def write_prior(armature: bpy.types.Object) -> None:
    """Write the rig's prior as the result, so that an armature without a measurement has masses too."""
    prior = rig_of(armature).prior
    write_inertials(armature, SceneResult(prior, prior, method=PRIOR_METHOD))


def rig_with_inertials(armature: bpy.types.Object) -> Rig:
    """The rig with the inertial parameters on its bones, identified or edited, which all computations use.

    Raises:
        InvalidValue: the object is not a rig, or a bone's mass is physically impossible.
    """
    rig = rig_of(armature)
    if any(PARAMETERS not in armature.data.bones[link] for link in rig.links):
        return rig
    found = read_inertials(armature).parameters
    return rig if np.array_equal(found.values, rig.prior.values) else rig.with_prior(found)


def total_mass(armature: bpy.types.Object) -> float | None:
    """Total mass of the links' bones [kg], identified or edited; None if a bone has none."""
    try:
        bones = bpy_access.armature(armature).bones
        links = [bones[link] for link in rig_of(armature).links]
        return float(sum(custom_properties.read_number(bone, "mass", REMEDY) for bone in links))
    except errors.SolverError:
        return None


def describe_result(armature: bpy.types.Object) -> list[str]:
    """The result on the bones: total mass, what it lacks, and the sentences of its summary. Cheap enough for every
    redraw."""
    mass = total_mass(armature)
    try:
        about = _read_result_summary(armature)
    except errors.SolverError as error:
        return ["", str(error)]
    if mass is None:
        return ["", f"some bones have no mass: {REMEDY}"]
    if about["method"] == PRIOR_METHOD:
        return [f"{mass:.1f} kg", "Not identified yet"]
    alone = ", from flight only" if about["details"][FROM_FLIGHT] else ""
    consistency = CONSISTENCY_LABELS.get(about["satisfies"])
    return [f"{mass:.1f} kg{alone}", *about["details"][SUMMARY], *([consistency.capitalize()] if consistency else [])]


def read_bounds(armature: bpy.types.Object) -> tuple[str, ...]:
    """Names of the parameters that are at a bound; empty if the result is damaged."""
    try:
        return _read_result_summary(armature)["at_bounds"]
    except errors.SolverError:
        return ()


def read_inertials(armature: bpy.types.Object) -> SceneResult:
    """Read a result from the bones, exactly as written, with the user's edits of mass, com and inertia.

    Raises:
        InvalidValue: a bone has no inertial parameters.
    """
    rig, bones = rig_of(armature), armature.data.bones
    lacking = [link for link in rig.links if PARAMETERS not in bones[link]]
    if lacking:
        raise errors.InvalidValue(f"no inertial parameters on the bones {', '.join(lacking)}")
    return SceneResult(
        parameters=InertialParameters(
            rig.links, np.array([_current_parameters(bones[link], "") for link in rig.links])
        ),
        prior=InertialParameters(
            rig.links, np.array([_current_parameters(bones[link], "prior_") for link in rig.links])
        ),
        half_widths=_read_half_widths(bones, rig.links),
        **_read_result_summary(armature),
    )


def _read_result_summary(armature: bpy.types.Object) -> dict[str, Any]:
    """Method, constraints and bounds of the result on an armature, checked."""
    data = bpy_access.armature(armature)
    tree = custom_properties.read_object(data, RESULT_KEY, REMEDY)
    texts = {name: tree.get(name, "") for name in ("method", "satisfies")}
    bounds = tree.get("at_bounds", [])
    summary = tree.get(SUMMARY, [])
    lists = isinstance(bounds, list) and isinstance(summary, list)
    if not lists or not all(isinstance(word, str) for word in (*texts.values(), *bounds, *summary)):
        raise custom_properties.damaged_error(data, RESULT_KEY, "it was written by another version", REMEDY)
    details = {FROM_FLIGHT: tree.get(FROM_FLIGHT) is True, SUMMARY: summary}
    return {**texts, "at_bounds": tuple(bounds), "details": details}


def _set_property(bone: bpy.types.Bone, prefix: str, name: str, value: float | list[float]) -> None:
    bone[prefix + name] = value
    descriptions = {
        "mass": ("Mass [kg]", "MASS"),
        "com": ("Centre of mass [m], link frame", "DISTANCE"),
        "inertia": (f"Inertia [kg m²] about the centre of mass, link axes: {INERTIA_ORDER}", "NONE"),
    }
    text, unit = descriptions[name]
    ui = bone.id_properties_ui(prefix + name)
    ui.update(description=f"{text}, {PREFIX_MEANINGS[prefix]}", precision=5)
    if unit != "MASS" or bpy.app.version >= (5, 0, 0):  # 4.5 has no unit of mass here
        ui.update(subtype=unit)  # type: ignore[arg-type]


def _remove_properties(bone: bpy.types.Bone, *names: str) -> None:
    for name in names:
        if name in bone:
            del bone[name]


def _current_parameters(bone: bpy.types.Bone, prefix: str) -> np.ndarray:
    """The exact ten parameters if mass, com and inertia still agree with them, otherwise those of the edited ones."""
    exact = custom_properties.read_array(bone, prefix + PARAMETERS, PARAMETERS_PER_LINK, REMEDY)
    mass = np.array([custom_properties.read_number(bone, f"{prefix}mass", REMEDY)])
    com = custom_properties.read_array(bone, f"{prefix}com", 3, REMEDY)[None]
    inertia = custom_properties.read_array(bone, f"{prefix}inertia", 6, REMEDY)[None]
    shown = InertialParameters.from_com((bone.name,), mass, com, symmetric_matrix(inertia))
    edited = not np.allclose(shown.values[0], exact, rtol=1e-9, atol=1e-12)
    return shown.values[0] if edited and exact[0] != 0.0 else exact


def _read_half_widths(bones: bpy.types.ArmatureBones, links: tuple[str, ...]) -> np.ndarray | None:
    """(L, 10) half of the 95 % intervals; None if a bone has none."""
    if any(INTERVAL + "mass" not in bones[link] for link in links):
        return None
    return np.array(
        [
            [
                custom_properties.read_number(bones[link], INTERVAL + "mass", REMEDY),
                *custom_properties.read_array(bones[link], INTERVAL + "com", 3, REMEDY),
                *custom_properties.read_array(bones[link], INTERVAL + "inertia", 6, REMEDY),
            ]
            for link in links
        ]
    )
