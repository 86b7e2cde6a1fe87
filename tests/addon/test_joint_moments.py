"""Joint moments on an armature: curves, arcs, and jobs that change nothing when they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import solver
from addon.display import joint_moments, overlays
from addon.display.properties import study_settings
from addon.jobs.job_messages import find_message
from addon.scene.action import curves_of
from solver import load_study
from solver.scene.study_folder import MOMENTS_END, MOMENTS_FOLDER
from tests.addon.scenes import fingerprint


def keyed(body: Any) -> dict[str, np.ndarray]:
    """Values of the moments' curves by the coordinate."""
    found = {}
    for curve in curves_of(body):
        if curve.data_path.startswith(f'["{joint_moments.PREFIX}'):
            values = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", values)
            found[curve.data_path[len(joint_moments.PREFIX) + 2 : -2]] = values[1::2]
    return found


def test_moments_key_the_solvers_values(studied: bpy.types.Object, study: Path) -> None:
    """Curves per kilogram under stable names with their unit, tables beside them; repeating changes nothing."""
    wanted = load_study(study).moments()["dance"]
    moved = len(curves_of(studied))
    for _ in range(2):
        assert bpy.ops.exciting_dance.moments() == {"FINISHED"}
        curves = keyed(studied)
        assert len(curves_of(studied)) == moved + len(curves)
        for name, values in zip(wanted.names, wanted.per_kg.T, strict=True):
            known = values[np.isfinite(values)]
            assert len(known) == len(curves.get(name, ()))
            if len(known):
                np.testing.assert_allclose(curves[name], known, atol=1e-5)
    assert curves
    name = next(iter(curves))
    assert "[N m/kg]" in studied.id_properties_ui(joint_moments.PREFIX + name).as_dict()["description"]
    assert joint_moments.find_moments_file(studied) == study / MOMENTS_FOLDER / f"dance{MOMENTS_END}"
    assert "1 recording" in find_message(bpy.context.scene, studied, "moments").message
    bpy.context.scene.frame_set(200)
    curve = next(curve for curve in curves_of(studied) if curve.data_path == f'["{joint_moments.PREFIX}{name}"]')
    assert studied[joint_moments.PREFIX + name] == pytest.approx(curve.evaluate(200), abs=1e-6)
    assert overlays._moment_lines(studied)
    study_settings(bpy.context).show_moments = False
    assert overlays._moment_lines(studied) == []


def test_a_job_that_fails_changes_nothing(studied: bpy.types.Object, study: Path) -> None:
    """A damaged trial of the study ends in an error, and scene and files stay."""
    assert bpy.ops.exciting_dance.moments() == {"FINISHED"}
    archive, before = study / MOMENTS_FOLDER / f"dance{MOMENTS_END}", fingerprint()
    kept = archive.read_bytes()
    motion = study / "dance.trial.npz"
    motion.write_bytes(motion.read_bytes()[:1000])
    with pytest.raises(RuntimeError, match=r"dance\.trial\.npz"):
        bpy.ops.exciting_dance.moments()
    assert archive.read_bytes() == kept
    assert fingerprint() == before
    archive.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(solver.InputError, match="dance"):
        joint_moments.read_moments(archive.parent)


def test_an_arc_turns_about_its_moment() -> None:
    """Around the joint, in the sense of the right hand, and longer with the moment; none where it is unknown."""
    centre = np.array([0.1, -0.2, 0.9])
    oblique = np.array([0.3, -0.2, 0.5])
    above = np.array([0.0, 0.0, 1.0]) - 0.5 * oblique / (oblique @ oblique)  # nearest to the vertical
    for vector, first in ((0.4 * np.eye(3)[1], np.eye(3)[2]), (-0.4 * np.eye(3)[2], np.eye(3)[0]), (oblique, above)):
        size = np.linalg.norm(vector)
        turns = np.linspace(0.0, 1.5 * np.pi * size / 0.8, 2 + int(1.5 * np.pi * size / 0.8 / joint_moments.ARC_STEP))
        rays = Rotation.from_rotvec(np.outer(turns, vector / size)).apply(first / np.linalg.norm(first))
        onwards, sideways = np.cross(vector / size, rays[-1]), np.array([[-1.0], [1.0]]) * rays[-1]
        points = joint_moments.ARC_RADIUS * rays
        barbs = points[-1] + joint_moments.HEAD_SIZE * 0.5**0.5 * (sideways - onwards)
        wanted = [*np.repeat(points, 2, axis=0)[1:-1], points[-1], barbs[0], points[-1], barbs[1]]
        np.testing.assert_allclose(joint_moments.arc_lines(centre, vector, 0.8) - centre, wanted, atol=1e-12)
    small = np.array(joint_moments.arc_lines(centre, np.array([0.0, 0.05, 0.0]), 0.8))
    steps = np.linalg.norm(small[1::2] - small[::2], axis=1)
    assert steps[-1] == pytest.approx(joint_moments.HEAD_SHARE * steps[:-2].sum(), rel=0.01)  # no head without an arc
    assert joint_moments.arc_lines(centre, np.full(3, np.nan), 0.8) == []
    assert joint_moments.arc_lines(centre, np.zeros(3), 0.0) == []
