"""A person's height, mass and sex, or a robot's file in, a `Rig` out.

`build_rig` builds any of them by name; `solver.values.rig_kinds` is the table of kinds.
"""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
