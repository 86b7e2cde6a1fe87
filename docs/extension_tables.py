"""Markdown tables of file formats, rigs and identification methods, from the tables that the program itself reads."""

from __future__ import annotations

from solver.formats.file_formats import FILE_FORMATS
from solver.values.identification_methods import IDENTIFICATION_METHODS
from solver.values.rig_kinds import RIG_KINDS


def format_file_formats() -> str:
    """One row per format of recordings."""
    rows = [
        f"| {', '.join(f'`{suffix}`' for suffix in row.suffixes)} | {row.name} | {', '.join(row.holds)} "
        f"| {row.description} |"
        for row in FILE_FORMATS
    ]
    return "\n".join(["| file | format | may hold | what to know |", "|---|---|---|---|", *rows, ""])


def format_rig_kinds() -> str:
    """One row per kind of rig."""
    rows = [
        f"| `{row.name}` | {row.description} | {', '.join(f'`{suffix}`' for suffix in row.suffixes) or 'built in'} |"
        for row in RIG_KINDS
    ]
    return "\n".join(["| kind | what | file |", "|---|---|---|", *rows, ""])


def format_identification_methods() -> str:
    """One row per identification method."""
    rows = [f"| `{row.name}` | {row.description} | {row.source} | {row.use} |" for row in IDENTIFICATION_METHODS]
    return "\n".join(["| `--method` | what it solves | source | use it |", "|---|---|---|---|", *rows, ""])
