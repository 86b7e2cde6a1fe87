"""Kinematics and contact wrenches in, centre of mass and rate of angular momentum out (bailly2019)."""

from ..base.lazy_imports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__)
