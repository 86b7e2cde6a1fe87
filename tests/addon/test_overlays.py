"""Overlays draw the data of the study's files, and work without a window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from addon.base import file_cache
from addon.display import overlays
from addon.drawing import primitives as drawing
from solver.scene.motion import scene_motion
from solver.scene.motion_record import MOTION, motion_record
from solver.skeleton.rig import Rig
from tests.addon.scenes import random_motion
from tests.pinocchio import data_of, pin


def test_support_polygon_is_the_convex_hull() -> None:
    """Points inside the hull and missing points change nothing; two points have no hull."""
    corners = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.1, 0.0], [0.0, 0.1, 0.0]])
    others = np.array([[0.1, 0.05, 0.0], [np.nan, np.nan, np.nan]])
    hull = drawing.convex_hull(np.vstack([others, corners]))
    assert {tuple(point) for point in hull.tolist()} == {tuple(point) for point in corners[:, :2].tolist()}
    assert len(drawing.convex_hull(corners[:2])) == 0


@pytest.mark.parametrize(
    ("along", "head", "sides"),
    [([0.0, 0.0, 0.7], 0.06, ([0, 1, 0], [1, 0, 0])), ([0.1, 0.0, 0.0], 0.04, ([0, 0, 1], [0, 1, 0]))],
)
def test_arrow_ends_at_its_vector(along: list[float], head: float, sides: Sequence[list[int]]) -> None:
    """An arrow goes from its start along the vector, with four barbs 40 % as far sideways as back, which are 6 cm or
    40 % of the arrow; short or missing vectors have none.
    """
    start, vector = np.array([1.0, 2.0, 0.0]), np.array(along)
    back, sideways = head * vector / np.linalg.norm(vector), 0.4 * head * np.array(sides)
    ends = start + vector - back + np.array([sideways[0], -sideways[0], -sideways[1], sideways[1]])
    tips = [point for end in ends for point in (start + vector, end)]
    np.testing.assert_allclose(drawing.arrow_lines(start, vector), [start, start + vector, *tips], atol=1e-6)
    assert not any(drawing.arrow_lines(start, factor * vector) for factor in (0.01, np.nan))


def test_centre_of_mass_and_momentum_match_the_dynamics(person: Rig) -> None:
    """In each frame the file has the centre of mass and momentum of the rigid-body dynamics."""
    motion, data = random_motion(person), data_of(person)
    speeds = np.random.default_rng(2).standard_normal(motion.v.shape)
    drawn = scene_motion(person, type(motion)(motion.times, motion.q, speeds, motion.a))
    for frame, (q, v) in enumerate(zip(motion.q, speeds, strict=True)):
        momentum = pin.computeCentroidalMomentum(person.model, data, q, v).vector
        assert np.allclose(drawn.com[frame], pin.centerOfMass(person.model, data, q), atol=1e-10)
        assert np.allclose(drawn.momentum[frame], momentum, atol=1e-9)


def test_contact_corners_are_those_on_the_floor(person: Rig) -> None:
    """A body on the floor has all sole corners, one metre higher it has none."""
    times = np.array([0.0, 0.1])
    q = np.tile(person.neutral, (2, 1))
    motion = random_motion(person)
    zeros = np.zeros((2, person.nv))
    lowest = scene_motion(person, type(motion)(times, q, zeros, zeros)).standing
    q[0, 2] -= np.nanmin(lowest[0, :, 2])
    q[1, 2] = q[0, 2] + 1.0
    standing = scene_motion(person, type(motion)(times, q, zeros, zeros)).standing
    assert np.isfinite(standing[0]).all()
    assert np.isnan(standing[1]).all()


def test_files_are_cached_until_they_change(tmp_path: Path, person: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is checked at most once a second, and after a job; a damaged or missing one gives nothing to draw."""
    path = MOTION.write(tmp_path / "a.motion.npz", motion_record("a", person, random_motion(person)))
    first = overlays.MOTIONS.get(path)
    assert first is overlays.MOTIONS.get(path) is not None
    path.write_bytes(b"damaged")
    assert overlays.MOTIONS.get(path) is first
    monkeypatch.setattr(file_cache, "CHECK_INTERVAL", 0.0)
    assert overlays.MOTIONS.get(path) is None
    assert overlays.MOTIONS.get(tmp_path / "none.npz") is None
    monkeypatch.undo()
    MOTION.write(path, motion_record("a", person, random_motion(person)))
    assert overlays.MOTIONS.get(path) is None
    file_cache.clear_caches()
    assert overlays.MOTIONS.get(path) is not None


def test_long_rows_of_a_text_box_are_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow view a row continues on the next line, which has no square, and no word is lost."""
    monkeypatch.setattr(drawing, "interface_scale", lambda: 2.0)
    monkeypatch.setattr(drawing, "text_width", lambda text, size: 0.5 * size * len(text))  # fonts need a window
    ink = drawing.TEXT_COLOUR
    rows = [
        ("right sole has friction for 13.6 % of the weight to spare", (1.0, 0.0, 0.0, 1.0), ink),
        ("short", ink, ink),
    ]
    assert drawing.wrap_rows(rows, 2000.0) == rows
    wrapped = drawing.wrap_rows(rows, 400.0)
    texts = ("right sole has friction for", "13.6 % of the weight to", "spare", "short")
    assert [(text, colour[3]) for text, colour, _ in wrapped] == list(zip(texts, (1.0, 0.0, 0.0, ink[3])))
    assert drawing.text_box_size(wrapped) == (400.0, 2.0 * (4 * 18.0 + 12.0))


def test_polygons_of_one_batch_keep_their_corners_and_colours() -> None:
    """The triangles of polygons in a plane and in space cover each one's area, in its colour, in the GPU's types."""
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)
    flat, raised = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)], [(0.0, 0.0, 3.0), (1.0, 0.0, 3.0), (0.0, 1.0, 3.0)]
    positions, colours, faces = drawing.polygon_triangles([(flat, red), (raised, blue)])
    assert (positions.dtype, colours.dtype, faces.dtype) == (np.float32, np.float32, np.int32)
    corners = positions[faces]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert areas.tolist() == [1.0, 1.0, 0.5]
    assert corners[:, :, 2].tolist() == [[0.0] * 3, [0.0] * 3, [3.0] * 3]
    assert [tuple(colours[face[0]]) for face in faces] == [red, red, blue]
