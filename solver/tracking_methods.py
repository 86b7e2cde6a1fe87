"""The ways to solve a frame, by name: known before anything heavy is imported."""

from __future__ import annotations

DYNAMICAL, WHOLE_BODY, PAIRWISE = "dynamical", "whole_body", "pairwise"
TRACKING_METHODS = (DYNAMICAL, WHOLE_BODY, PAIRWISE)
"""The method of rapetti2020, and the two baselines of its section 5.1."""
