"""Time to convert a URDF of 500 links to a rig, its model and the pairs of links to check for collision."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time

from solver.feasibility import collision_pairs
from solver.rigs import from_urdf

from ..figures.figure import Figure, at_most

LINKS = 500
RUNS = 3
"""Of which the quickest counts: other work on the machine only adds time."""
LINK = (
    '<link name="link_{0}"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
    '<collision><origin xyz="0 0 -0.1"/><geometry><box size="0.05 0.05 0.2"/></geometry></collision></link>'
)
JOINT = (
    '<joint name="joint_{0}" type="revolute"><origin xyz="0.01 0 -0.2" rpy="0.1 0 0"/><parent link="link_{1}"/>'
    '<child link="link_{0}"/><axis xyz="0.6 0.8 0"/><limit lower="-1" upper="1" effort="5" velocity="4"/></joint>'
)
PARENTS = {"chain": lambda k: k - 1, "tree": lambda k: (k - 1) // 2}
"""Parent link of link k."""


def robot(form: str, links: int = LINKS) -> str:
    """Text of a URDF whose links form a ``"chain"`` or a binary ``"tree"``."""
    parent = PARENTS[form]
    body = "".join(LINK.format(k) + (JOINT.format(k, parent(k)) if k else "") for k in range(links))
    return f'<robot name="{form} of {links} links">{body}</robot>'


def _load(path: Path) -> tuple[float, int]:
    """Processor seconds to the rig, its model and its pairs, and the number of these."""
    start = process_time()
    rig = from_urdf(path)
    pairs, _ = collision_pairs(rig), rig.model
    return process_time() - start, len(pairs)


def rows(quick: bool) -> list[Figure]:
    """One row for each form; unchanged by `quick`."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for form in PARENTS:
            path = Path(folder) / f"{form}.urdf"
            path.write_text(robot(form))
            spent, pairs = min(_load(path) for _ in range(RUNS))
            note = f"rig, model and {pairs} collision pairs; the quickest of {RUNS}"
            result.append(
                Figure("URDF with 500 links", f"{form}, written here", spent, "s", at_most(2.0), None, note, timed=True)
            )
    return result
