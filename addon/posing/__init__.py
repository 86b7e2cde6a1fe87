"""Posing by dragging: a drag with the live check's process, handles on the body, and pinned points."""
