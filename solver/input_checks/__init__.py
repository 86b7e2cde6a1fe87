"""Recordings and a rig in, what is wrong with them in sentences out, before anything is tracked or retargeted."""

from .check_recording import check_recording

__all__ = ["check_recording"]
