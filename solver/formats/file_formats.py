"""Suffixes of recordings: the one table that readers, the command line and Blender's file picker and drop follow."""

from __future__ import annotations

WHOLE_SUFFIXES = (".c3d", ".npz")
"""Files that may hold markers, joint coordinates and forces."""
RECORDING_SUFFIXES = (".trc", ".mot", ".sto", ".csv", ".tsv", ".bvh", *WHOLE_SUFFIXES)
