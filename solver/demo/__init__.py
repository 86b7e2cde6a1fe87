"""Nothing in, a simulated person and robot through the whole chain out, with errors against the known truth."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
