"""Mesh files of every format that is read, written from vertices (V, 3) and polygons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Polygons = Sequence[Sequence[int]]


def stl_bytes(vertices: np.ndarray, polygons: Polygons) -> bytes:
    """Binary STL of triangles."""
    corners = np.array([vertices[list(polygon)] for polygon in polygons])
    triangles = (np.zeros(3, "<f4").tobytes() + each.astype("<f4").tobytes() + b"\0\0" for each in corners)
    return bytes(80) + np.uint32(len(corners)).tobytes() + b"".join(triangles)


def stl_text(vertices: np.ndarray, polygons: Polygons) -> str:
    """Text STL of triangles."""
    facets = (
        "facet normal 0 0 1\nouter loop\n" + "".join(f"vertex {_row(vertices[k])}\n" for k in polygon) + "endloop\n"
        "endfacet\n" for polygon in polygons
    )  # fmt: skip
    return "solid a\n" + "".join(facets) + "endsolid a\n"


def obj_text(vertices: np.ndarray, polygons: Polygons) -> str:
    """OBJ with a normal and no texture at every corner."""
    lines = [f"v {_row(each)}" for each in vertices] + ["vn 0 0 1"]
    lines += ["f " + " ".join(f"{k + 1}//1" for k in polygon) for polygon in polygons]
    return "\n".join(lines) + "\n"


def collada_text(
    vertices: np.ndarray, polygons: Polygons, nodes: str = '<node><instance_geometry url="#g"/></node>', unit: str = "1"
) -> str:
    """COLLADA with a list of polygons, normals beside the vertices, and a scene."""
    counts = " ".join(str(len(polygon)) for polygon in polygons)
    corners = " ".join(f"{k} 0" for polygon in polygons for k in polygon)
    numbers = " ".join(map(_row, vertices))
    axes = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="u" meter="{unit}"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="{vertices.size}">{numbers}</float_array><technique_common>
   <accessor source="#pa" count="{len(vertices)}" stride="3">{axes}</accessor></technique_common></source>
  <source id="n"><float_array id="na" count="3">0 0 1</float_array><technique_common>
   <accessor source="#na" count="1" stride="3">{axes}</accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <polylist count="{len(polygons)}"><input semantic="VERTEX" source="#v" offset="0"/>
   <input semantic="NORMAL" source="#n" offset="1"/><vcount>{counts}</vcount><p>{corners}</p></polylist>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def _row(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))
