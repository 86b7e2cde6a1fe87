"""Robots with a fixed base: joint torques or a force sensor at the base in, inertial parameters out.

No other package imports this one; the command line finds its verbs (`cli.extensions`).
"""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
