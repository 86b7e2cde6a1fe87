"""Motion, wrenches and inertial parameters in, joint moments out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "contact_links": ("ContactLinks", "assign_wrenches"),
        "of_study": ("moments_of_study",),
        "inverse_dynamics": ("compute_moments",),
        "values": ("JointMoments",),
    },
)
