"""Words of a command line, a file or a panel in, checked options out; light, for Blender imports them at start."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
