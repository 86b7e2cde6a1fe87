"""Hides Pinocchio and coal from every Python with this folder on its path, as if they were not installed."""

import sys

for name in ("cmeel_pth", "coal", "eigenpy", "hppfcl", "pinocchio"):
    sys.modules[name] = None  # type: ignore[assignment]
