"""Triangles of mesh files: STL, OBJ and VTK's polygons (VTP) here, COLLADA (DAE) in `collada`.

No native reader is used, because a damaged file must never crash the process. Every count in a file is compared with
the file's content before memory is allocated.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import InputError
from ..base.files import check_file, read_bytes
from .collada import read_collada
from .safe_xml import read_xml
from .triangles import Mesh, MeshError, join_meshes, merge_vertices, triangulate_fans, triangulate_strips

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


VTK_TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "Int16": "i2", "Int32": "i4", "Int64": "i8",
    "UInt8": "u1", "UInt16": "u2", "UInt32": "u4", "UInt64": "u8",
}  # fmt: skip
"""NumPy's name of each type of VTK's numbers, without the byte order."""


def _read_vtp(path: Path) -> Mesh:
    """Read VTK's polygons, as of the bodies of OpenSim models; numbers as text, or as base64 without compression.

    Raises:
        InputError: not XML.
        MeshError: not polygons of VTK, compressed or appended numbers, or contradicting sizes.
    """
    root = read_xml(path)
    if root.tag != "VTKFile" or root.get("type") != "PolyData":
        raise MeshError("is no <VTKFile> of polygons (type PolyData)")
    if root.get("compressor"):
        raise MeshError("holds compressed numbers, which are not read; save it as ASCII")
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    header = "u8" if root.get("header_type") == "UInt64" else "u4"
    meshes = []
    for piece in root.findall("PolyData/Piece"):
        points = _read_array(piece.find("Points/DataArray"), order, header).reshape(-1, 3)
        for triangulate, name in ((triangulate_fans, "Polys"), (triangulate_strips, "Strips")):
            arrays = {array.get("Name"): array for array in piece.findall(f"{name}/DataArray")}
            corners = _read_array(arrays.get("connectivity"), order, header).astype(int)
            counts = np.diff(_read_array(arrays.get("offsets"), order, header).astype(int), prepend=0)
            own = triangulate(counts, corners)
            if own.size and (own.min() < 0 or own.max() >= len(points)):
                raise MeshError(f"a polygon uses a vertex that does not exist ({len(points)} do)")
            meshes.append((points, own))
    return join_meshes(meshes)


def _read_array(element: Element | None, order: str, header: str) -> np.ndarray:
    """Numbers of an array; none without one."""
    if element is None:
        return np.zeros(0)
    written, text = element.get("format", "ascii"), element.text or ""
    if written == "ascii":
        return np.array(text.split(), float)
    kind = VTK_TYPES.get(element.get("type", ""))
    if written != "binary" or kind is None:
        raise MeshError(f"holds numbers of format {written!r}, which are not read; save it as ASCII")
    data = base64.b64decode(text.strip())
    size = np.dtype(header).itemsize
    if len(data) < size:
        return np.zeros(0)
    (count,) = struct.unpack_from(f"{order}{'Q' if size > 4 else 'I'}", data)
    if count > len(data) - size:
        raise MeshError("ends within an array")
    return np.frombuffer(data[size : size + count], f"{order}{kind}").astype(float)


READERS: Mapping[str, Callable[[Path], Mesh]] = {
    ".stl": _read_stl, ".obj": _read_obj, ".dae": read_collada, ".vtp": _read_vtp,
}  # fmt: skip
"""The formats that URDF, MJCF and OpenSim models name."""
