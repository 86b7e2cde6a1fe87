"""Centroidal estimates on an armature: curves, properties, lines, and jobs that change nothing when they fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import solver
from addon.display import centroidal_estimates, centroidal_overlay, flight_strip, overlays
from addon.display.centroidal_overlay import estimate_lines
from addon.display.properties import ESTIMATORS, study_settings
from addon.display.study import show_trial
from addon.jobs.job_messages import find_message
from addon.operators.dynamics import EXCITING_DANCE_OT_centroidal, EXCITING_DANCE_OT_moments
from addon.scene.action import curves_of
from solver.centroidal.estimate import METHODS, estimate_centroidal
from solver.centroidal.values import CentroidalEstimate
from solver.scene.study_folder import ESTIMATE_END, ESTIMATE_TABLE_END, ESTIMATES_FOLDER, RESULT_FILE
from tests.addon.scenes import fingerprint
from tests.centroidal.simulated_bodies import jumping

EYES = np.array(
    [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
"""What three cones see, and two (no red, green, blue), of linear RGB: Machado, Oliveira and Fernandes 2009, table 1."""
CONES = np.array([[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]])
LAB = np.array([[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]])
"""Linear RGB to OKLab by way of cones (Ottosson 2020)."""


def keyed(body: bpy.types.Object) -> dict[str, np.ndarray]:
    """Values of the estimate's curves by data path, three columns each."""
    found: dict[str, list[np.ndarray]] = {}
    for curve in curves_of(body):
        if curve.data_path.startswith(f'["{centroidal_estimates.PREFIX}'):
            values = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", values)
            found.setdefault(curve.data_path, []).append(values[1::2])
    return {path: np.stack(columns, axis=1) for path, columns in found.items()}


def jump() -> CentroidalEstimate:
    """A simulated jump with a flight of half a second, and its estimate."""
    return estimate_centroidal(jumping().data)


def test_panel_offers_all_estimators() -> None:
    """The panel offers the solver's estimators, the default first."""
    assert [name for name, _, _ in ESTIMATORS] == list(METHODS)


def test_estimate_keys_the_solvers_values(studied: bpy.types.Object, study: Path) -> None:
    """Curves and properties have the solver's values under stable names, a table is written, and repeating changes
    nothing.
    """
    moved = len(curves_of(studied))
    for _ in range(2):
        assert bpy.ops.exciting_dance.centroidal() == {"FINISHED"}
        found = centroidal_estimates.read_estimates(study / ESTIMATES_FOLDER)["dance"]
        curves = keyed(studied)
        assert len(curves_of(studied)) == moved + 3 * len(centroidal_estimates.DESCRIPTIONS)
        assert set(curves) == {f'["{centroidal_estimates.PREFIX}{name}"]' for name in centroidal_estimates.DESCRIPTIONS}
        np.testing.assert_allclose(curves['["centroidal_com"]'], found.com, atol=1e-6)
        np.testing.assert_allclose(curves['["centroidal_momentum_rate"]'], found.momentum_rate, atol=1e-4)
        kinematic = found.source("kinematic", "momentum")
        np.testing.assert_allclose(curves['["centroidal_kinematic_momentum"]'], kinematic, atol=1e-4)
    assert "[kg m²/s]" in studied.id_properties_ui("centroidal_momentum").as_dict()["description"]
    assert (study / ESTIMATES_FOLDER / f"dance{ESTIMATE_TABLE_END}").exists()
    assert centroidal_estimates.find_estimate_file(studied) == study / ESTIMATES_FOLDER / f"dance{ESTIMATE_END}"
    assert "1 recording" in find_message(bpy.context.scene, studied, "centroidal").message
    bpy.context.scene.frame_set(40)
    np.testing.assert_allclose(list(studied["centroidal_com"]), found.com[39], atol=0.02)


def test_a_saved_scene_keeps_the_curves(studied: bpy.types.Object, tmp_path: Path) -> None:
    """The .blend file keeps curves, units and the estimate's file; playing another trial does not remove them."""
    assert bpy.ops.exciting_dance.centroidal() == {"FINISHED"}
    before = keyed(studied)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    again = bpy.context.view_layer.objects.active
    show_trial(bpy.context, again, "dance")
    after = keyed(again)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[path], after[path]) for path in before)
    assert centroidal_estimates.find_estimate_file(again) is not None


def test_a_job_that_fails_changes_nothing(studied: bpy.types.Object, study: Path) -> None:
    """A damaged estimate and a failing job leave scene and curves unchanged."""
    assert bpy.ops.exciting_dance.centroidal() == {"FINISHED"}
    archive = study / ESTIMATES_FOLDER / f"dance{ESTIMATE_END}"
    kept, before, curves = archive.read_bytes(), fingerprint(), keyed(studied)
    archive.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(solver.InputError, match="dance"):
        centroidal_estimates.key_estimates(bpy.context, studied, centroidal_estimates.read_estimates(archive.parent))
    trial = study / "dance.trial.npz"
    trial.write_bytes(trial.read_bytes()[:1000])
    with pytest.raises(RuntimeError, match=r"dance\.trial\.npz"):
        bpy.ops.exciting_dance.centroidal()
    assert archive.read_bytes() == kept[: len(kept) // 2]
    assert fingerprint() == before
    assert all(np.array_equal(curves[path], values) for path, values in keyed(studied).items())


@pytest.mark.parametrize("operator", [EXCITING_DANCE_OT_centroidal, EXCITING_DANCE_OT_moments])
def test_dynamics_need_an_identified_study(studied: bpy.types.Object, study: Path, operator: Any) -> None:
    """The buttons are disabled without a rig, and for a study that was only tracked, because it has no forces."""
    assert operator.poll(bpy.context)
    (study / RESULT_FILE).rename(study / "kept.json")
    assert not operator.poll(bpy.context)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert not operator.poll(bpy.context)


def test_momentum_is_constant_in_flight() -> None:
    """The flight momentum curve is constant in each flight and equals the estimate elsewhere."""
    found = jump()
    ((start, stop),) = found.flights
    assert (found.times[stop - 1] - found.times[start]) == pytest.approx(0.5, abs=0.05)
    curve = centroidal_estimates.property_values(found)[centroidal_estimates.FLIGHT_MOMENTUM]
    assert np.ptp(curve[start:stop], axis=0).max() == 0.0
    assert np.array_equal(curve[:start], found.momentum[:start])
    spun = np.array(found.source("kinematic", "momentum"))
    spun[start:stop, 1] += np.linspace(-2.0, 2.0, stop - start)
    values, most = flight_strip.momentum_deviations(replace(found, sources={"kinematic momentum": spun}))
    assert most == pytest.approx(2.0)
    assert np.abs(values[0].mean(axis=0)).max() < 1e-9


def test_lines_are_at_the_estimated_positions(registered: None) -> None:
    """The vertical line ends on the floor below the estimate, the contact moment is parallel to the central axis, there
    is no axis in flight, and disabled lines are missing.
    """
    settings, found = study_settings(bpy.context), jump()
    standing, flying = 100, found.flights[0][0] + 20
    by_words = {mark.meaning: mark for mark in estimate_lines(found, standing, settings)}
    arms = np.repeat(np.eye(3), 2, axis=0) * np.tile([[-0.05], [0.05]], (3, 1))
    assert np.allclose(by_words["centre of mass, estimated"].points, found.com[standing] + arms)
    start, end = by_words["central axis of the contact wrench"].points
    force, moment = found.wrench[standing, :3], found.wrench[standing, 3:]
    assert start[2] == pytest.approx(0.0, abs=1e-9)
    for point in (start, end):
        assert np.allclose(np.cross(moment - np.cross(point, force), force), 0.0, atol=1e-6)
    assert "central axis of the contact wrench" not in {
        mark.meaning for mark in estimate_lines(found, flying, settings)
    }
    settings.show_sources = True
    assert len(estimate_lines(found, standing, settings)) > len(by_words)
    for name in ("show_estimate", "show_axis", "show_spin", "show_sources"):
        setattr(settings, name, False)
    assert estimate_lines(found, standing, settings) == []


def test_colours_are_distinguishable(registered: None) -> None:
    """No two colours that are drawn together are close in OKLab, nor is any close to the viewport's grey, for normal
    colour vision and for the deficiencies of Machado et al. (2009).
    """
    settings, found = study_settings(bpy.context), jump()
    settings.show_sources = True
    flying = found.flights[0][0] + 20
    drawn_at = [mark for frame in (100, flying) for mark in estimate_lines(found, frame, settings)]
    seen = {mark.colour for mark in drawn_at} | {centroidal_overlay.MOMENTUM_COLOUR, centroidal_overlay.RATE_COLOUR}
    assert centroidal_overlay.WRENCH_COLOUR in seen
    assert centroidal_overlay.AXIS_COLOUR in seen
    grey = np.full(3, 0.24)
    shown = np.array([[*grey, 1.0], *sorted(seen)])
    mixed = shown[:, 3:] * shown[:, :3] + (1.0 - shown[:, 3:]) * grey
    linear = np.where(mixed <= 0.04045, mixed / 12.92, ((mixed + 0.055) / 1.055) ** 2.4)
    for eyes in EYES:
        places = np.cbrt(np.clip(linear @ eyes.T, 0.0, 1.0) @ CONES.T) @ LAB.T
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        hue = [tuple(colour[:3]) for colour in shown]
        pairs = [apart[i, j] for i in range(len(hue)) for j in range(i) if hue[i] != hue[j]]
        assert min(pairs) > 0.09


def test_estimate_file_is_cached_until_it_changes(studied: bpy.types.Object, study: Path) -> None:
    """The overlays read the file that the job wrote."""
    assert bpy.ops.exciting_dance.centroidal() == {"FINISHED"}
    path = centroidal_estimates.find_estimate_file(studied)
    assert path is not None
    assert overlays.ESTIMATES.get(path) is overlays.ESTIMATES.get(path) is not None
