"""Triangles of COLLADA files (DAE): the geometries of the scene at the transforms of its nodes.

As is usual in robotics, lengths are converted to metres but the up axis is not: the origin in a URDF states the
orientation of a mesh in its link.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..base.so3 import exp
from .safe_xml import read_xml
from .triangles import Mesh, MeshError, join_meshes, triangulate_fans, triangulate_strips

PRIMITIVES = ("triangles", "polylist", "polygons", "trifans", "tristrips")
MAX_TRIANGLES = 4_000_000
"""Of a scene, which may use a geometry many times."""
MAX_DEPTH = 100
"""Largest nesting of nodes."""
MAX_NODES = 10_000
"""Largest number of visited nodes; nodes may refer to each other, so that a short file can have very many."""


def read_collada(path: Path) -> Mesh:
    """Read vertices (V, 3) [m] and triangles (F, 3) of a file's scene, or of all its geometries if it has no scene.

    Raises:
        InputError: not XML.
        MeshError: not COLLADA, a missing or circular reference, or contradicting sizes.
    """
    return _SceneReader(read_xml(path)).read()


class _SceneReader:
    def __init__(self, root: Element) -> None:
        for element in root.iter():
            element.tag = str(element.tag).rpartition("}")[2]
        if root.tag != "COLLADA":
            raise MeshError(f"the outermost element is <{root.tag}>, not <COLLADA>")
        self.root = root
        self.by_id = {name: element for element in root.iter() if (name := element.get("id")) is not None}
        self.known: dict[int, Mesh] = {}
        self.placed: list[tuple[Mesh, np.ndarray]] = []
        self.nodes = self.count = 0

    def read(self) -> Mesh:
        unit = self.root.find("asset/unit")
        metre = float(unit.get("meter", "1")) if unit is not None else 1.0
        scaled = np.diag([metre, metre, metre, 1.0])
        if (instance := self.root.find("scene/instance_visual_scene")) is not None:
            for node in self._resolve(instance, "url", "visual_scene").findall("node"):
                self._read_node(node, scaled, 0)
        else:
            for geometry in self.root.findall("library_geometries/geometry"):
                self._place_geometry(geometry, scaled)
        placed = self.placed
        return join_meshes((points @ moved[:3, :3].T + moved[:3, 3], faces) for (points, faces), moved in placed)

    def _read_node(self, node: Element, above: np.ndarray, depth: int) -> None:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            problem = f"more than {MAX_DEPTH} levels deep" if depth > MAX_DEPTH else f"{MAX_NODES} times"
            raise MeshError(f"its nodes are nested, or refer to each other, {problem}")
        moved = above @ _node_transform(node)
        for element in node:
            if element.tag == "node":
                self._read_node(element, moved, depth + 1)
            elif element.tag == "instance_node":
                self._read_node(self._resolve(element, "url", "node"), moved, depth + 1)
            elif element.tag == "instance_geometry":
                self._place_geometry(self._resolve(element, "url", "geometry"), moved)
            elif element.tag == "instance_controller":
                skin = self._resolve(element, "url", "controller").find("skin")
                if skin is not None:
                    self._place_geometry(self._resolve(skin, "source", "geometry"), moved)

    def _place_geometry(self, geometry: Element, moved: np.ndarray) -> None:
        if id(geometry) not in self.known:
            self.known[id(geometry)] = self._read_geometry(geometry)
        mesh = self.known[id(geometry)]
        if not len(mesh[1]):
            return
        self.placed.append((mesh, moved))
        self.count += len(mesh[1])
        if self.count > MAX_TRIANGLES:
            raise MeshError(f"its scene holds more than {MAX_TRIANGLES} triangles")

    def _read_geometry(self, geometry: Element) -> Mesh:
        if (mesh := geometry.find("mesh")) is None:  # a spline
            return np.zeros((0, 3)), np.zeros((0, 3), int)
        return join_meshes(self._read_primitive(piece) for piece in mesh if piece.tag in PRIMITIVES)

    def _read_primitive(self, piece: Element) -> Mesh:
        """Read the triangles of one primitive and the vertices that it refers to."""
        inputs = piece.findall("input")
        offsets = [int(each.get("offset", "0")) for each in inputs]
        stride = max(offsets, default=0) + 1
        own = [(each, offset) for each, offset in zip(inputs, offsets) if each.get("semantic") == "VERTEX"]
        if not own or not 0 <= min(offsets) <= stride <= 64:
            raise MeshError(f"a <{piece.tag}> has no input of vertices")
        lists = [_parse_numbers(p, int) for p in piece.findall("p")]
        if any(len(each) % stride for each in lists):
            raise MeshError(f"the number of indices of a <{piece.tag}> is not a multiple of its {stride} inputs")
        corners = [each.reshape(-1, stride)[:, own[0][1]] for each in lists]
        points = self._read_vertices(self._resolve(own[0][0], "source", "vertices"))
        faces = _triangulate(piece, corners)
        if faces.size and not 0 <= faces.min() <= faces.max() < len(points):
            raise MeshError(f"a <{piece.tag}> uses a vertex that does not exist ({len(points)} do)")
        return points, faces

    def _read_vertices(self, vertices: Element) -> np.ndarray:
        if not (places := [each for each in vertices.findall("input") if each.get("semantic") == "POSITION"]):
            raise MeshError("its vertices have no positions")
        source = self._resolve(places[0], "source", "source")
        accessor, array = source.find("technique_common/accessor"), source.find("float_array")
        if array is None:
            raise MeshError("positions have no <float_array>")
        values = _parse_numbers(array, float)
        stride, offset = 3, 0
        if accessor is not None:
            stride, offset = int(accessor.get("stride", "1")), int(accessor.get("offset", "0"))
        if stride < 3 or offset < 0:
            raise MeshError("positions are not of three coordinates each")
        count = max(len(values) - offset, 0) // stride
        return values[offset : offset + count * stride].reshape(count, stride)[:, :3]

    def _resolve(self, element: Element, key: str, tag: str) -> Element:
        """The element with a tag that another one refers to."""
        name = element.get(key, "").removeprefix("#")
        found = self.by_id.get(name)
        if found is None or found.tag != tag:
            raise MeshError(f"a <{element.tag}> refers to the <{tag}> {name[:60]!r}, which does not exist")
        return found


def _triangulate(piece: Element, corners: Sequence[np.ndarray]) -> np.ndarray:
    """Triangles (F, 3) from a primitive's lists of corners."""
    all_corners = np.concatenate([np.zeros(0, int), *corners])
    if piece.tag == "triangles":
        return triangulate_fans(np.full(len(all_corners) // 3, 3), all_corners)
    if piece.tag == "polylist":
        counts = piece.find("vcount")
        return triangulate_fans(np.zeros(0, int) if counts is None else _parse_numbers(counts, int), all_corners)
    triangulate = triangulate_strips if piece.tag == "tristrips" else triangulate_fans
    return triangulate(np.array([len(each) for each in corners], int), all_corners)


def _node_transform(node: Element) -> np.ndarray:
    """(4, 4) transform of a node, the product of its steps."""
    result = np.eye(4)
    for element in node:
        if (count := {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}.get(str(element.tag))) is None:
            continue
        values, step = _parse_numbers(element, float), np.eye(4)
        if len(values) != count:
            raise MeshError(f"a <{element.tag}> of a node holds {len(values)} numbers, not {count}")
        if element.tag == "matrix":
            step = values.reshape(4, 4)
        elif element.tag == "translate":
            step[:3, 3] = values
        elif element.tag == "scale":
            step[:3, :3] = np.diag(values)
        elif (length := float(np.linalg.norm(values[:3]))) > 0.0:
            step[:3, :3] = exp(np.radians(values[3]) * values[:3] / length)
        result = result @ step
    return result


def _parse_numbers(element: Element, kind: type) -> np.ndarray:
    return np.array((element.text or "").split(), kind)
