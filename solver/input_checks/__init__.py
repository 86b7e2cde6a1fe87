"""Checks of recordings against the body that they are used with; nothing is tracked or retargeted unchecked."""

from .check_recording import check_recording

__all__ = ["check_recording"]
