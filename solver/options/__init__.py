"""Words of a command line, a file or a panel in, checked options out; light, for Blender imports them at start."""

from __future__ import annotations

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "authoring": ("CompleteOptions", "RepairOptions", "RetargetOptions"),
        "checks": ("DANCE_CHECKS", "CheckOptions"),
        "plates": ("PlateOptions",),
        "reading": ("ReadOptions",),
        "study": ("CohortOptions", "LoadOptions", "Settings"),
        "exciting": ("ExcitingOptions",),
        "dances": ("DanceOptions", "human_options", "paper_options"),
        "declared": ("Declaration", "Option", "Options", "Range", "declarations"),
    },
)
