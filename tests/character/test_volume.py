"""Laws of the volume inside surfaces."""

from __future__ import annotations

import numpy as np
import pytest

from solver.character.volume import fill_surface


def sphere(centre: tuple[float, float, float] = (0.0, 0.0, 0.0), rings: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and outward triangles of a unit sphere."""
    columns = 2 * rings
    polar, around = np.linspace(0.0, np.pi, rings), np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    points = [[np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)] for a in polar for b in around]
    faces = []
    for i in range(rings - 1):
        for j in range(columns):
            one, other = i * columns + j, i * columns + (j + 1) % columns
            faces += [[one, one + columns, other], [other, one + columns, other + columns]]
    return np.array(points) + centre, np.array(faces)


BALL = 4.0 / 3.0 * np.pi


def test_a_closed_surface_has_its_volume_whatever_its_orientation() -> None:
    """The cells of a sphere fill it, also if it is turned inside out."""
    points, faces = sphere()
    for triangles in (faces, faces[:, ::-1]):
        found = fill_surface(points, triangles)
        assert found.volume == pytest.approx(BALL, rel=0.01)
        assert np.linalg.norm(found.centres, axis=1).max() < 1.0
        assert np.allclose(found.centres.mean(axis=0), 0.0, atol=0.01)


def test_overlapping_pieces_count_once() -> None:
    """Two spheres that overlap enclose their union."""
    one, faces = sphere()
    other, _ = sphere((0.5, 0.0, 0.0))
    found = fill_surface(np.concatenate([one, other]), np.concatenate([faces, faces + len(one)]))
    lens = np.pi * 4.5 * 1.5**2 / 12.0
    assert found.volume == pytest.approx(2.0 * BALL - lens, rel=0.01)


def test_a_hole_is_closed_and_a_sheet_encloses_nothing() -> None:
    """A sphere without its cap has nearly the volume of the whole; a sheet beside it adds none."""
    points, faces = sphere()
    open_faces = faces[points[faces].mean(axis=1)[:, 2] < 0.9]
    sheet = np.array([[-1.0, 1.5, -1.0], [1.0, 1.5, -1.0], [1.0, 1.5, 1.0], [-1.0, 1.5, 1.0]])
    corners = np.array([[0, 1, 2], [0, 2, 3]]) + len(points)
    found = fill_surface(np.concatenate([points, sheet]), np.concatenate([open_faces, corners]))
    assert found.volume == pytest.approx(BALL, rel=0.02)
    assert found.centres[:, 1].max() < 1.0
