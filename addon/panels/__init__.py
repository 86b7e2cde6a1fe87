"""State of the scene in, the sidebar tab *Dance* out.

A panel is one module of this package with its classes in ``CLASSES``, and one row in `PANELS`. Its attribute ``modes``
says whether Author, Research or both show it.
"""

PANELS = (
    "next_step",
    "postures",
    "live",
    "check_and_repair",
    "checks",
    "design",
    "contacts",
    "retarget",
    "moves",
    "recording",
    "markers",
    "identify",
    "results",
    "dynamics",
    "active_link",
    "capture",
    "performance",
    "rehearsal",
    "display",
    "rig",
)
"""Modules of panels in the order of registration, which is the order in the tab."""
