"""Triangles of mesh files: STL, OBJ, PLY and OFF here, COLLADA (DAE) in `collada`, VTK's (VTP) in `vtp`.

No native reader is used, because a damaged file must never crash the process. Every count in a file is compared with
the file's content before memory is allocated.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def _read_off(path: Path) -> Mesh:
    text = re.sub(rb"#[^\r\n]*", b"", read_bytes(path)).strip()
    if (head := re.match(rb"(?:ST)?C?N?OFF\b", text)) is None:
        raise MeshError("does not start with OFF")
    lines = [line for line in text[head.end() :].splitlines() if line.strip()]
    sizes = lines[0].split() if lines else []
    if len(sizes) < 2:
        raise MeshError("does not state the numbers of vertices and faces")
    points, polygons = int(sizes[0]), int(sizes[1])
    if points < 0 or polygons < 0 or points + polygons > len(lines) - 1:
        raise MeshError(f"states {points} vertices and {polygons} faces, and holds {len(lines) - 1} lines of them")
    vertices = np.array([_take_cells(line.split(), 3) for line in lines[1 : 1 + points]], float).reshape(-1, 3)
    own = []
    for line in lines[1 + points : 1 + points + polygons]:
        cells = line.split()
        own.append(_take_cells(cells[1:], int(cells[0])))
    counts = np.array([len(each) for each in own], int)
    return vertices, triangulate_fans(counts, np.array([corner for each in own for corner in each], int))


def _take_cells(cells: Sequence[bytes], count: int) -> Sequence[bytes]:
    if not 0 <= count <= len(cells):
        raise MeshError(f"a line holds {len(cells)} numbers where {count} are needed")
    return cells[:count]


PLY_TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
             "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
             "float32": "f4", "float64": "f8"}  # fmt: skip
PLY_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
PLY_CORNERS = ("vertex_indices", "vertex_index")

PlyProperty = tuple[str, str, str]
"""Name, NumPy type, and type of the count before a list (empty: no list)."""


def _read_ply(path: Path) -> Mesh:
    data = read_bytes(path)
    order, elements, place = _read_ply_header(data)
    body: _PlyText | _PlyBytes = _PlyBytes(data, place, order) if order else _PlyText(data[place:])
    vertices, triangles = np.zeros((0, 3)), np.zeros((0, 3), int)
    for name, count, properties in elements:
        columns = body.read_element(name, count, properties)
        if name == "vertex":
            if missing := [axis for axis in "xyz" if axis not in columns]:
                raise MeshError(f"its vertices have no {', '.join(missing)}")
            vertices = np.column_stack([columns[axis][1] for axis in "xyz"]).astype(float)
        elif name == "face":
            if (key := next((key for key in PLY_CORNERS if key in columns), None)) is None:
                raise MeshError(f"its faces have no {PLY_CORNERS[0]}")
            counts, corners = columns[key]
            if corners.dtype.kind == "f":
                raise MeshError("its faces' indices are not whole numbers")
            triangles = triangulate_fans(counts, corners.astype(int))
    return vertices, triangles


def _read_ply_header(data: bytes) -> tuple[str, list[tuple[str, int, list[PlyProperty]]], int]:
    """Read the byte order (empty: text), the elements with their number and properties, and the end of the header."""
    end = re.match(rb"ply\s.*?^end_header[ \t]*\r?\n", data[: 1 << 16], re.DOTALL | re.MULTILINE)
    if end is None:
        raise MeshError("has no PLY header")
    order: str | None = None
    elements: list[tuple[str, int, list[PlyProperty]]] = []
    for line in end[0].decode("ascii", "replace").splitlines():
        match line.split():
            case ["format", word, *_] if word in PLY_ORDERS:
                order = PLY_ORDERS[word]
            case ["element", name, count]:
                if int(count) < 0:
                    raise MeshError(f"states {count} of {name!r}")
                elements.append((name, int(count), []))
            case ["property", "list", counts, values, name] if elements and counts in PLY_TYPES and values in PLY_TYPES:
                if PLY_TYPES[counts][0] == "f":
                    raise MeshError(f"counts the list {name!r} with {counts}")
                elements[-1][2].append((name, PLY_TYPES[values], PLY_TYPES[counts]))
            case ["property", values, name] if elements and values in PLY_TYPES:
                elements[-1][2].append((name, PLY_TYPES[values], ""))
            case ["property" | "element" | "format", *_]:
                raise MeshError(f"its header cannot be read at {line[:60]!r}")
    if order is None:
        raise MeshError("its header states no format")
    return order, elements, end.end()


PlyColumns = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Counts (N,) of the lists (1 if not a list) and all values, by property of an element."""


class _PlyText:
    """Elements of a text file, one per line."""

    def __init__(self, data: bytes) -> None:
        self._lines = [line for line in data.splitlines() if line.strip()]

    def read_element(self, name: str, count: int, properties: Sequence[PlyProperty]) -> PlyColumns:
        """The next ``count`` of an element."""
        if count > len(self._lines):
            raise MeshError(f"states {count} of {name!r}, but {len(self._lines)} lines remain")
        own, self._lines = self._lines[:count], self._lines[count:]
        counts: dict[str, list[int]] = {key: [] for key, _, _ in properties}
        values: dict[str, list[bytes]] = {key: [] for key, _, _ in properties}
        for line in own:
            cells: Sequence[bytes] = line.split()
            for key, _, lengths in properties:
                length = 1
                if lengths:
                    length, cells = int(_take_cells(cells, 1)[0]), cells[1:]
                values[key] += _take_cells(cells, length)
                counts[key].append(length)
                cells = cells[length:]
        kinds = {key: float if kind[0] == "f" else int for key, kind, _ in properties}
        return {key: (np.array(counts[key], int), np.array(values[key], kinds[key])) for key in values}


class _PlyBytes:
    """Elements of a binary file."""

    def __init__(self, data: bytes, place: int, order: str) -> None:
        self._data, self._place, self._order = data, place, order

    def read_element(self, name: str, count: int, properties: Sequence[PlyProperty]) -> PlyColumns:
        """The next ``count`` of an element: at once if all lists are as long as the first ones, else one by one."""
        if not properties:
            raise MeshError(f"its element {name!r} has no properties")
        if not count:
            return {key: (np.zeros(0, int), np.zeros(0, kind)) for key, kind, _ in properties}
        start = self._place
        first = self._read_row(name, properties)
        fields: list[Any] = []
        for k, ((_, kind, lengths), values) in enumerate(zip(properties, first)):
            fields += [(f"n{k}", self._order + lengths)] * bool(lengths)
            fields += [(f"v{k}", self._order + kind, (len(values),))]
        whole = np.dtype(fields)
        if count * whole.itemsize <= len(self._data) - start:
            rows = np.frombuffer(self._data, whole, count, start)
            listed = [k for k, (_, _, lengths) in enumerate(properties) if lengths]
            if all((rows[f"n{k}"] == len(first[k])).all() for k in listed):
                self._place = start + count * whole.itemsize
                return {
                    key: (np.full(count, len(first[k])), rows[f"v{k}"].reshape(-1))
                    for k, (key, _, _) in enumerate(properties)
                }
        found = [first, *(self._read_row(name, properties) for _ in range(count - 1))]
        return {
            key: (np.array([len(row[k]) for row in found]), np.array([each for row in found for each in row[k]], kind))
            for k, (key, kind, _) in enumerate(properties)
        }

    def _read_row(self, name: str, properties: Sequence[PlyProperty]) -> list[tuple[float, ...]]:
        """Values of the next element's properties."""
        row = []
        for _, kind, lengths in properties:
            length = int(self._read_values(name, lengths, 1)[0]) if lengths else 1
            row.append(self._read_values(name, kind, length))
        return row

    def _read_values(self, name: str, kind: str, count: int) -> tuple[float, ...]:
        size = int(kind[1]) * count
        if not 0 <= size <= len(self._data) - self._place:
            raise MeshError(f"ends within its element {name!r}, or states a list of {count} there")
        found = struct.unpack_from(f"{self._order}{count}{np.dtype(kind).char}", self._data, self._place)
        self._place += size
        return found


READERS: Mapping[str, Callable[[Path], Mesh]] = {
    ".stl": _read_stl, ".obj": _read_obj, ".ply": _read_ply, ".off": _read_off, ".dae": read_collada,
    ".vtp": read_vtp,
}  # fmt: skip
