"""Draws the default dance of a person: ``./dance python docs/dance_pictures.py`` (half a minute).

Writes docs/dance/pictures.svg, twelve pictures of its moves with their names, seen from the front, and
docs/dance/moving.svg, the whole dance as a moving picture, which browsers play. Right limbs are red, left ones blue.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.dance.design.dance import Dance
from solver.dance.workflows.design import design_dance
from solver.dynamics import link_motions
from solver.options.dances import human_options
from solver.rigs import human
from solver.values.motion import Motion

FOLDER = Path(__file__).parent / "dance"
COLUMNS, RATE = 4, 8.0
"""Pictures in a row, and [1/s] of the moving picture."""
SIZE, SCALE, GROUND = (240, 300), 125.0, 250.0
"""[px] of a picture, [px/m], and [px] of the floor below the top."""
COLOURS = {"left": "#2563b0", "right": "#c0392b"}


def bones(dance: Dance, motion: Motion) -> dict[str, np.ndarray]:
    """[px] Line (N, 3, 2) of each link seen from the front: from its parent's joint by its own to its tip."""
    rig, placed = dance.rig, link_motions(dance.rig, motion)
    joints = np.moveaxis(placed.position, -1, 0)  # (N, 3, L)
    tips = joints + np.einsum("nijl,lj->nil", np.moveaxis(placed.rotation, -1, 0), rig.tips)
    result = {}
    for k, name in enumerate(rig.links):
        parent = max(rig.parents[k], 0)
        line = np.stack([joints[:, :, parent], joints[:, :, k], tips[:, :, k]], axis=1)
        result[name] = np.stack([0.5 * SIZE[0] + SCALE * line[:, :, 1], GROUND - SCALE * line[:, :, 2]], axis=-1)
    return result


def points(line: np.ndarray) -> str:
    """Points (K, 2) as SVG writes them."""
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in line)


def document(width: int, height: int, body: list[str]) -> str:
    """A whole SVG file."""
    style = "<style>polyline{fill:none;stroke-width:7;stroke-linecap:round;stroke-linejoin:round}"
    style += "text{font:12px sans-serif;text-anchor:middle;fill:#333}</style>"
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    back = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', style, back, *body, "</svg>\n"])


def colour(link: str) -> str:
    """By the side of the body."""
    return COLOURS.get(link.partition("_")[0], "#444444")


def floor(left: float = 0.0, top: float = 0.0) -> str:
    """The line on which the feet stand."""
    height = top + GROUND + 3
    return f'<line x1="{left + 20}" x2="{left + SIZE[0] - 20}" y1="{height}" y2="{height}" stroke="#999"/>'


def draw_pictures(dance: Dance) -> str:
    """Pictures of the moves where they are farthest from home: two of a phrase on both feet, one of others."""
    parts = [
        (number, half)
        for number in dance.postures
        for half in ((0, 1) if len(dance.segments[number].anchors) > 1 else (None,))
    ]
    body: list[str] = []
    for place, (number, half) in enumerate(parts):
        segment = dance.segments[number]
        lines = bones(dance, dance.sample(dance.rig, 25.0, number, number + 1))
        away = sum(np.linalg.norm(line - line[0], axis=2).sum(axis=1) for line in lines.values())
        spans = {None: slice(None), 0: slice(int(0.4 * len(away))), 1: slice(int(0.6 * len(away)), None)}
        frame = int(np.arange(len(away))[spans[half]][np.argmax(away[spans[half]])])
        left, top = SIZE[0] * (place % COLUMNS), SIZE[1] * (place // COLUMNS)
        body.append(floor(left, top))
        body += [
            f'<polyline points="{points(line[frame] + (left, top))}" stroke="{colour(name)}"/>'
            for name, line in lines.items()
        ]
        words = segment.name.split(" ")
        cut, start = (len(words) + 1) // 2, dance.starts[number] + frame / 25.0
        for row, text in enumerate((f"{start:.0f} s: {' '.join(words[:cut])}", " ".join(words[cut:]))):
            body.append(f'<text x="{left + SIZE[0] / 2}" y="{top + GROUND + 22 + 15 * row}">{text}</text>')
    return document(SIZE[0] * COLUMNS, SIZE[1] * -(-len(parts) // COLUMNS), body)


def draw_moving(dance: Dance) -> str:
    """The dance as an animation that repeats."""
    lines, body = bones(dance, dance.sample(dance.rig, RATE)), [floor()]
    for name, line in lines.items():
        values = ";".join(points(frame) for frame in line)
        animate = (
            f'<animate attributeName="points" dur="{dance.duration:.2f}s" repeatCount="indefinite" values="{values}"/>'
        )
        body.append(f'<polyline points="{points(line[0])}" stroke="{colour(name)}">{animate}</polyline>')
    return document(*SIZE, body)


def main() -> None:
    """Design the dance and write both files."""
    dance = design_dance(human(1.7, 65.0, "female"), human_options(workers=1))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "pictures.svg").write_text(draw_pictures(dance), "utf-8")
    (FOLDER / "moving.svg").write_text(draw_moving(dance), "utf-8")


if __name__ == "__main__":
    main()
