"""A rig in, motions that excite its inertias in balance and without collisions (bonnet2016) out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
