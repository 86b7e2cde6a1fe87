"""The demonstration: a simulated person and HRP-2 through the whole pipeline, with errors against the known truth."""

from .run import run_demo

__all__ = ["run_demo"]
