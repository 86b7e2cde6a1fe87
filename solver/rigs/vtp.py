"""Triangles of VTK's polygon files (VTP), in which OpenSim models keep the meshes of their bodies."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from .safe_xml import read_xml
from .triangles import Mesh, MeshError, triangulate_fans

TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "Int16": "i2", "Int32": "i4", "Int64": "i8",
    "UInt8": "u1", "UInt16": "u2", "UInt32": "u4", "UInt64": "u8",
}  # fmt: skip
"""NumPy's name of each type of numbers, without the byte order."""


def read_vtp(path: Path) -> Mesh:
    """Read vertices (V, 3) and triangles (F, 3) of all pieces; numbers as text, or as base64 without compression.

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
    first, vertices, triangles = 0, [np.zeros((0, 3))], [np.zeros((0, 3), int)]
    for piece in root.findall("PolyData/Piece"):
        points = _read_array(piece.find("Points/DataArray"), order, header).reshape(-1, 3)
        for strips, name in ((False, "Polys"), (True, "Strips")):
            arrays = {array.get("Name"): array for array in piece.findall(f"{name}/DataArray")}
            corners = _read_array(arrays.get("connectivity"), order, header).astype(int)
            counts = np.diff(_read_array(arrays.get("offsets"), order, header).astype(int), prepend=0)
            own = _triangulate_strips(counts, corners) if strips else triangulate_fans(counts, corners)
            if own.size and (own.min() < 0 or own.max() >= len(points)):
                raise MeshError(f"a polygon uses a vertex that does not exist ({len(points)} do)")
            triangles.append(own + first)
        vertices.append(points)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)


def _read_array(element: Element | None, order: str, header: str) -> np.ndarray:
    """Numbers of an array; none without one."""
    if element is None:
        return np.zeros(0)
    written, text = element.get("format", "ascii"), element.text or ""
    if written == "ascii":
        return np.array(text.split(), float)
    kind = TYPES.get(element.get("type", ""))
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


def _triangulate_strips(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Triangles (F, 3) of strips: every three consecutive corners, every other one reversed."""
    if int(counts.sum()) != len(corners) or (counts < 0).any():
        raise MeshError(f"strips state {int(counts.sum())} corners, but the file holds {len(corners)}")
    found, start = [np.zeros((0, 3), int)], 0
    for count in counts:
        k = np.arange(max(count - 2, 0))
        found.append(corners[start + np.column_stack([k, k + 1 + k % 2, k + 2 - k % 2])])
        start += count
    return np.concatenate(found)
