"""The file of a designed dance: the rig by value, and every segment without loss; a pose that recurs is stored once."""

from __future__ import annotations

from ...formats.codec import FileKind
from .dance import Dance

DESIGNED_DANCE = FileKind(Dance, "exciting dance designed dance", remedy="Design the dance again with this version")
"""An archive."""
