"""Inertial parameters by the volumes of the body mesh and the densities of Dempster, beside those of the tables.

Both are scaled to the measured mass. Errors are those of the prior alone on trials, or halves of a single one, from
which its frequency weights were not estimated.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from solver import so3
from solver.character.segments import cell_weights, measure_segments
from solver.character.volume import fill_surface
from solver.dynamics import link_poses
from solver.identification.comparison import AXES
from solver.inertials import InertialParameters
from solver.person import GIRDLE, SIDES
from solver.rig import Rig
from solver.scene.body_mesh import ASSET, fit_body_mesh, moving_link, read_body_shapes
from solver.study.preparation import PreparedTrials
from solver.threads import one_blas_thread

from . import runs, subject
from .body import skin_vertices
from .figure import Figure, missing

SPREAD = {"upper_arm": 0.6, "thigh": 0.15}
"""[rad] Abduction of the limbs where the volume is counted, so that nothing touches."""
KINDS = {"abdomen": "spine", **{f"{side}_{name}": "clavicle" for side in SIDES for name in GIRDLE}}
"""Kind of a stored link whose density has another name."""


def volume_prior(rig: Rig) -> InertialParameters:
    """Inertial parameters of a person by volumes of the body mesh and densities, scaled to the rig's mass.

    Args:
        rig: of a built-in person, also calibrated.
    """
    mesh, shapes = fit_body_mesh(rig), read_body_shapes()
    q = np.array(rig.provenance["standing"])
    for link, own in zip(rig.links, rig.q_slices, strict=True):
        angle = next((angle for name, angle in SPREAD.items() if link.endswith(name)), 0.0)
        if angle:
            q[own] = so3.to_quaternion(so3.exp(np.array([angle if link.startswith("left") else -angle, 0.0, 0.0])))
    vertices = skin_vertices(mesh, rig, q)[: len(shapes.weights)]
    triangles = np.concatenate([shapes.faces[:, [0, 1, 2]], shapes.faces[:, [0, 2, 3]]])
    solid = fill_surface(vertices, triangles[triangles[:, 1] != triangles[:, 2]])
    owners = [rig.index(moving_link(link, rig.links)) for link in shapes.links]
    rotations, origins = link_poses(rig, q)
    parts = measure_segments(
        shapes.links,
        tuple(KINDS.get(link, link) for link in shapes.links),
        solid,
        cell_weights(solid, vertices, shapes.weights),
        (rotations[owners], origins[owners]),
        rig.prior.total_mass,
    ).prior
    values = np.zeros((len(rig.links), parts.values.shape[1]))
    np.add.at(values, owners, parts.values)
    return InertialParameters(rig.links, values)


def volume_prior_figures(data: Path) -> list[Figure]:
    """Errors of unseen wrenches by the prior alone, volumes over tables, for each person.

    Args:
        data: folder of the recordings.
    """
    figures = []
    sources = {subject.SUBJECT: (subject.SUBJECT,), **runs.RUNS, **runs.OTHERS}
    with one_blas_thread():
        for name, files in sources.items():
            paths = [data / file for file in files]
            row = Figure("error of the prior alone, volumes / tables", f"real, {name}", None)
            if not ASSET.is_file() or not all(path.exists() for path in paths):
                figures += missing([row], "no recordings, or no body mesh")
                continue
            prepared = runs.prepare_runs(paths, sex=subject.SEX if name == subject.SUBJECT else runs.SEX)
            with_volumes = replace(prepared, rig=replace(prepared.rig, prior=volume_prior(prepared.rig)))
            tables, volumes = (_mean_errors(each) for each in (prepared, with_volumes))
            figures.append(replace(row, value=float(np.nanmean(volumes / tables)), note=_list_errors(volumes, tables)))
    return figures


def _mean_errors(prepared: PreparedTrials) -> np.ndarray:
    """RMSE (6,) [N, N m] of the prior with its own frequency weights, mean of the moving trials or halves."""
    found = [c for c in runs.predict_unused_trials(prepared) if c.trial != subject.STATIC]
    return np.asarray(np.mean([comparison.prior.rmse for comparison in found], axis=0))


def _list_errors(volumes: np.ndarray, tables: np.ndarray) -> str:
    listed = ", ".join(f"{axis} {one:.3g} ({other:.3g})" for axis, one, other in zip(AXES, volumes, tables))
    return f"RMSE in N and N m, in brackets the tables': {listed}"
