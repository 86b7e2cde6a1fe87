"""A rig in, motions that excite its inertias in balance and without collisions (bonnet2016) out."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "workflows.check": ("CheckResult",),
        "workflows.design": ("DesignedDance",),
        "workflows.edited_dance": ("EditedDance",),
        "workflows.loading": ("LoadedDance",),
        "workflows.perform": ("PerformedDance",),
        "workflows.retarget": (
            "RetargetLimits",
            "RetargetedDance",
        ),
        ".options.dances": ("human_options", "paper_options"),
    },
)
