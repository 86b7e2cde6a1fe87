"""The page of checks: one row for each row of the table that the library evaluates."""

from __future__ import annotations

from collections.abc import Sequence

from solver.feasibility import Check

INTRODUCTION = """# Checks

A motion is feasible if the margin of every check is at least minus the tolerance in every frame. This page is made from
the table in `solver/options/checks.py`, which the library, the command line and Blender read too. A new check is one
file in `solver/feasibility/checks` and one row of that table, beside its limit if it has one of its own.

| check | unit of the margin | limit | depends on | applies |
|---|---|---|---|---|
"""
APPLIES = {"always": "always", "standing": "with contacts", "airborne": "without contacts"}
DEPENDS = {"posture": "posture", "speed": "posture, speed", "force": "posture, speed, force"}


def format_page(checks: Sequence[Check]) -> str:
    """The page as Markdown."""
    return INTRODUCTION + "".join(_row(check) for check in checks)


def _row(check: Check) -> str:
    applies = APPLIES[check.applies_when] + (", if contacts are known" if check.needs_contacts else "")
    return f"| {check.name} | {check.unit} | {check.limit} | {DEPENDS[check.depends_on]} | {applies} |\n"
