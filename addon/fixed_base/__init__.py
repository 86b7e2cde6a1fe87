"""Extension of the add-on for arms with a fixed base; `registration` finds it by its panels."""

from __future__ import annotations

from . import operators, panels, properties
from .properties import register as register
from .properties import unregister as unregister

CLASSES = (*properties.CLASSES, *operators.CLASSES, *panels.CLASSES)
