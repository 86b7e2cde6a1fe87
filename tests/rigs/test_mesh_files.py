"""Laws of mesh files: every format gives the same body, and a damaged file is one error."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.rigs.mesh_files import read_mesh
from tests.pinocchio import pin
from tests.rigs.mesh_bytes import collada_text, obj_text, stl_bytes, stl_text

CORNERS = np.array([(x, y, z) for x in (-0.25, 0.5) for y in (0.0, 1.0) for z in (0.125, 2.0)])
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [half for a, b, c, d in SIDES for half in ((a, b, c), (a, c, d))]
MIXED = [*SIDES[:3], *TRIANGLES[6:]]
VOLUME = 0.75 * 1.0 * 1.875

FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "binary stl": ("a.stl", lambda: stl_bytes(CORNERS, TRIANGLES)),
    "binary stl that says solid": ("a.STL", lambda: b"solid facet" + stl_bytes(CORNERS, TRIANGLES)[11:]),
    "text stl": ("a.stl", lambda: stl_text(CORNERS, TRIANGLES).encode()),
    "obj": ("a.obj", lambda: obj_text(CORNERS, MIXED).encode()),
    "collada": ("a.dae", lambda: collada_text(CORNERS, MIXED).encode()),
}


def written(folder: Path, name: str, content: bytes | str) -> Path:
    """A file."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """[m^3] by the divergence theorem, which holds where every triangle faces outwards."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_box(name: str, tmp_path: Path) -> None:
    """Of one box in any format: eight vertices at its corners, twelve triangles facing outwards, and coal's mesh."""
    file, content = FILES[name]
    path = written(tmp_path, file, content())
    vertices, triangles = read_mesh(path)
    np.testing.assert_allclose(vertices, CORNERS[np.lexsort(CORNERS.T[::-1])], atol=0.0)
    assert triangles.shape == (12, 3)
    assert volume(vertices, triangles) == pytest.approx(VOLUME, rel=1e-12)
    theirs = np.array(pin.coal.MeshLoader().load(str(path), np.ones(3)).vertices())
    np.testing.assert_allclose(np.unique(theirs, axis=0), np.unique(vertices, axis=0), atol=1e-7)


def test_indices_of_obj_may_count_backwards(tmp_path: Path) -> None:
    """-1 is the vertex before the face, whatever comes after it."""
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf -3 \\\n -2 -1\n"
    vertices, triangles = read_mesh(written(tmp_path, "a.obj", text))
    heights = np.sort(vertices[triangles][:, :, 2], axis=0)
    np.testing.assert_array_equal(heights, [[0.0] * 3, [5.0] * 3])


def test_nodes_of_collada_place_their_geometry_in_metres(tmp_path: Path) -> None:
    """A node's steps apply from the last to the first, nodes within nodes as well, lengths in the file's unit."""
    nodes = (
        "<node><translate>100 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale>"
        "<node><matrix>1 0 0 0  0 1 0 0  0 0 1 50  0 0 0 1</matrix><instance_geometry url='#g'/></node>"
        "</node><node><instance_node url='#again'/></node><node id='again'><instance_geometry url='#g'/></node>"
    )
    vertices, triangles = read_mesh(written(tmp_path, "a.dae", collada_text(CORNERS, SIDES, nodes, unit="0.01")))
    x, y, z = CORNERS.T
    moved = 0.01 * np.vstack([np.column_stack([100.0 - y, 2.0 * x, z + 50.0]), CORNERS])
    np.testing.assert_allclose(vertices, moved[np.lexsort(np.round(moved, 9).T[::-1])], atol=1e-12)
    assert len(triangles) == 3 * 12


@pytest.mark.parametrize(
    ("primitive", "lists"),
    [("triangles", ["0 1 2 2 1 3"]), ("tristrips", ["0 1 2 3"]), ("trifans", ["1 3 2 0"]), ("polygons", ["1 3 2 0"])],
)
def test_primitives_of_collada_are_the_same_triangles(primitive: str, lists: list[str], tmp_path: Path) -> None:
    """A square as two triangles, a strip, a fan or a polygon has the same area, all of it facing one way."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    own = "".join(f"<p>{each}</p>" for each in lists)
    piece = f'<{primitive}><input semantic="VERTEX" source="#v" offset="0"/>{own}</{primitive}>'
    text = re.sub("<polylist.*</polylist>", piece, collada_text(square, [(0, 1, 3)]), flags=re.DOTALL)
    vertices, triangles = read_mesh(written(tmp_path, "a.dae", text))
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a)[:, 2], [1.0, 1.0])


CIRCLE = "<node id='a'><instance_node url='#b'/></node><node id='b'><instance_node url='#a'/></node>"
DOUBLES = "".join(
    f"<node id='n{k}'><instance_node url='#n{k + 1}'/><instance_node url='#n{k + 1}'/></node>" for k in range(60)
) + "<node id='n60'><instance_geometry url='#g'/></node>"  # fmt: skip
BROKEN: dict[str, tuple[str, bytes | str, str]] = {
    "glTF": ("a.gltf", "{}", r"cannot be read from '\.gltf' files.*\.stl, \.obj"),
    "STL cut off": ("a.stl", stl_bytes(CORNERS, TRIANGLES)[:-7], "neither a binary STL"),
    "STL of four thousand million": ("a.stl", bytes(80) + b"\xff" * 60, "neither a binary STL"),
    "STL without a triangle": ("a.stl", "solid a\nfacet\nendsolid", "no triangle"),
    "half a triangle": ("a.stl", "solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendfacet", "not a multiple of 3"),
    "OBJ beyond its vertices": ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n", r"triangle 1 uses a vertex.*\(2 do\)"),
    "OBJ from 0": ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "counts from 1"),
    "OBJ before its first": ("a.obj", "v 0 0 0\nv 1 0 0\nf -3 -2 -1\n", "does not exist"),
    "OBJ not a number": ("a.obj", "v 0 0 zero\nf 1 1 1\n", "damaged"),
    "OBJ infinite": ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1e999 0\nf 1 2 3\n", r"vertex \d+ is not finite"),
    "DAE of another kind": ("a.dae", "<robot/>", "not <COLLADA>"),
    "DAE without its source": ("a.dae", collada_text(CORNERS, SIDES).replace('"#p"', '"#q"'), "'q', which does not"),
    "DAE in a circle": ("a.dae", collada_text(CORNERS, SIDES, CIRCLE), "levels deep"),
    "DAE doubled sixty times": ("a.dae", collada_text(CORNERS, SIDES, DOUBLES), "10000 times"),
    "DAE beyond its vertices": ("a.dae", collada_text(CORNERS, [(0, 1, 800000000)]), "does not exist"),
    "DAE with a negative polygon": ("a.dae", collada_text(CORNERS, SIDES).replace("4 4 4", "-4 8 8"), "negative"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_mesh_is_one_error_that_names_it(name: str, tmp_path: Path) -> None:
    """Whatever a file states: it is refused with its name and what is wrong."""
    file, content, words = BROKEN[name]
    path = written(tmp_path, file, content)
    with pytest.raises(InputError, match=words) as error:
        read_mesh(path)
    assert error.value.path == path
