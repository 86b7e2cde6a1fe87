"""A labelled simulation of a person and of HRP-2 through the whole chain, with the error against the known truth."""

from .run import run_demo

__all__ = ["run_demo"]
