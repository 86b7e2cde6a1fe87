"""Clicks in, calls of ordinary functions out; each operator is a few lines.

An operator is a class in one module of this package, listed in its ``CLASSES``; a new module is one row in `OPERATORS`.
"""

OPERATORS = (
    "rigs",
    "characters",
    "recordings",
    "markers",
    "identify",
    "dynamics",
    "display",
    "keying",
    "design_dance",
    "check_and_repair",
    "ghosts",
    "dance_files",
    "capture",
    "retarget",
    "live",
    "posing",
    "rehearsal",
)
"""Modules of operators."""
