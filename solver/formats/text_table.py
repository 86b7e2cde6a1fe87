"""Plain-text tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..values.inertials import MASS, InertialParameters


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows as columns of fitting width; the first is left-aligned, the others right-aligned; NaN is a dash."""
    lines = [tuple(header), *(tuple("-" if cell == "nan" else cell for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    shown = [
        "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    ]
    return "\n".join([shown[0].rstrip(), rule, *(line.rstrip() for line in shown[1:])])


def format_inertial_table(parameters: InertialParameters, half_widths: np.ndarray | None = None) -> str:
    """Format mass, centre of mass and principal moments of inertia about it of every link.

    Args:
        parameters: of L links.
        half_widths: (L, 10) half of the 95 % intervals, of which the masses' are shown; None: unknown.
    """
    widths = [] if half_widths is None else [[f"{width:.3f}"] for width in half_widths[:, MASS]]
    header = ("link", "mass [kg]", *(["± 95 %"] if widths else []), "CoM x", "y", "z [mm]", "I1", "I2", "I3 [g m²]")
    rows = []
    principal = np.linalg.eigvalsh(parameters.inertias_at_com)
    for k, (link, mass, com, moments) in enumerate(
        zip(parameters.links, parameters.masses, parameters.coms, principal, strict=True)
    ):
        lengths = [f"{1e3 * x:.1f}" for x in com]
        inertias = [f"{1e3 * x:.2f}" for x in moments]
        rows.append((link, f"{mass:.3f}", *(widths[k] if widths else []), *lengths, *inertias))
    rows.append(("total", f"{parameters.total_mass:.3f}", *([""] * (len(header) - 2))))
    return format_table(header, rows)
