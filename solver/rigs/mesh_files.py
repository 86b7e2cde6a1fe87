"""Triangles of mesh files: STL and OBJ here, COLLADA (DAE) in `collada`, VTK's (VTP) in `vtp`.

No native reader is used, because a damaged file must never crash the process. Every count in a file is compared with
the file's content before memory is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ..base.errors import InputError
from ..base.files import check_file, read_bytes
from .collada import read_collada
from .triangles import Mesh, MeshError, merge_vertices, triangulate_fans
from .vtp import read_vtp

MAX_BYTES = 64 << 20
"""[bytes] Largest file; measured on forty public robots, whose largest mesh has 29 million."""
REMEDY = "Export the mesh again"


def read_mesh(path: str | Path) -> Mesh:
    """Read vertices (V, 3) in the file's units (DAE: metres) and triangles (F, 3); equal vertices are merged.

    Polygons become fans of triangles.

    Raises:
        InputError: no file, too large, of another format, damaged, or without a triangle.
    """
    path = Path(path)
    if (reader := READERS.get(path.suffix.lower())) is None:
        kind = f"{path.suffix!r} files" if path.suffix else "files without an extension"
        remedy = f"Export the mesh as one of {', '.join(READERS)}"
        raise InputError(path, f"meshes cannot be read from {kind}", remedy=remedy)
    check_file(path, MAX_BYTES)
    try:
        vertices, triangles = reader(path)
    except MeshError as error:
        raise InputError(path, str(error), remedy=REMEDY) from None
    except (ValueError, OverflowError) as error:  # not a number
        raise InputError(path, f"is damaged ({str(error)[:80]})", remedy=REMEDY) from None
    if not len(triangles):
        raise InputError(path, "holds no triangle", remedy=REMEDY)
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        wrong = int(np.flatnonzero(((triangles < 0) | (triangles >= len(vertices))).any(axis=1))[0])
        problem = f"triangle {wrong + 1} uses a vertex that does not exist ({len(vertices)} do)"
        raise InputError(path, problem, remedy=REMEDY)
    if not np.isfinite(vertices).all():
        wrong = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise InputError(path, f"vertex {wrong + 1} is not finite", remedy=REMEDY)
    return merge_vertices(vertices, triangles)


def _read_stl(path: Path) -> Mesh:
    """Read STL, binary if its length agrees with its count, else text."""
    data = read_bytes(path)
    if len(data) >= 84:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == 84 + 50 * count or (len(data) > 84 + 50 * count > 84 and not _is_text_stl(data)):
            kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
            corners = np.frombuffer(data, kind, count, 84)["corners"].reshape(-1, 3).astype(float)
            return corners, np.arange(len(corners)).reshape(-1, 3)
    if not _is_text_stl(data):
        raise MeshError("is neither a binary STL with as many bytes as its count of triangles needs, nor a text that "
                        "starts with 'solid'")  # fmt: skip
    found = re.findall(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", data, re.IGNORECASE)
    corners = np.array(found, float).reshape(-1, 3)
    if len(corners) % 3:
        raise MeshError(f"holds {len(corners)} corners, which is not a multiple of 3")
    return corners, np.arange(len(corners)).reshape(-1, 3)


def _is_text_stl(data: bytes) -> bool:
    return data[:256].lstrip().lower().startswith(b"solid") and b"facet" in data[:4096].lower()


def _read_obj(path: Path) -> Mesh:
    data = re.sub(rb"\\\r?\n", b" ", read_bytes(path))
    points = list(re.finditer(rb"^[ \t]*v[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)", data, re.MULTILINE))
    vertices = np.array([point.groups() for point in points], float).reshape(-1, 3)
    polygons = list(re.finditer(rb"^[ \t]*f[ \t]+([^\r\n#]+)", data, re.MULTILINE))
    own = [[corner.partition(b"/")[0] for corner in polygon[1].split()] for polygon in polygons]
    counts = np.array([len(each) for each in own], int)
    corners = np.array([corner for each in own for corner in each], int)
    if (corners == 0).any():
        raise MeshError("a face uses vertex 0, and OBJ counts from 1")
    before = np.searchsorted([point.start() for point in points], [polygon.start() for polygon in polygons])
    corners = np.where(corners > 0, corners - 1, corners + np.repeat(before, counts).astype(int))  # -1: the last so far
    return vertices, triangulate_fans(counts, corners)


READERS: Mapping[str, Callable[[Path], Mesh]] = {
    ".stl": _read_stl, ".obj": _read_obj, ".dae": read_collada, ".vtp": read_vtp,
}  # fmt: skip
"""The formats that URDF, MJCF and OpenSim models name."""
