"""Panels of the sidebar tab Dance.

A panel is one module of this package with its classes in ``CLASSES``, and one row in `PANELS`.
"""

PANELS = (
    "rig",
    "recording",
    "identify",
    "display",
    "centroidal",
    "active_link",
    "markers",
    "capture",
    "retarget",
    "author",
    "design",
    "postures",
    "contacts",
    "moves",
    "check_and_repair",
    "performance",
    "live",
    "checks",
    "rehearsal",
)
"""Modules of panels in the order of registration, which Blender uses for panels of equal ``bl_order``."""
