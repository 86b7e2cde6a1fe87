"""Nothing in, a simulated person and robot through the whole chain out, with errors against the known truth."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "examples": (
            "simulated_person",
            "simulated_robot",
        ),
        "run": ("run_demo",),
    },
)
