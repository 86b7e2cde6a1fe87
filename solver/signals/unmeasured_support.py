"""Classifies an unmeasured support (a box, a seat, the floor beside the plates) by the heights of feet and root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .window_rules import Reason, WindowRules


@dataclass(frozen=True, slots=True)
class Heights:
    """Heights of feet and root relative to those while the plates carry the body."""

    feet: np.ndarray  # (N, P) [m] above the floor
    speed: np.ndarray  # (N, P) [m/s]
    drop: np.ndarray | None  # (N,) [m] of the root below its highest position on the plates
    root_speed: np.ndarray | None  # (N,) [m/s]

    @staticmethod
    def of(feet: np.ndarray, root: np.ndarray | None, rate: float, loaded: np.ndarray) -> Heights:
        """Heights of feet (N, P, 3) and root (N, 3) [m]; ``loaded`` (N,): the plates carry the body."""
        heights = feet[:, :, 2]
        # Each point has its own lowest height: markers are at different heights on a foot.
        floor = np.nanquantile(heights[loaded] if loaded.any() else heights, 0.05, axis=0)
        speed = np.empty(heights.shape)
        for point in range(heights.shape[1]):
            speed[:, point] = np.linalg.norm(np.gradient(feet[:, point], 1.0 / rate, axis=0), axis=1)
        if root is None:
            return Heights(heights - floor, speed, None, None)
        root = np.asarray(root, float)
        top = np.nanmax(root[loaded, 2]) if loaded.any() else np.nanmax(root[:, 2])
        return Heights(
            heights - floor, speed, top - root[:, 2], np.linalg.norm(np.gradient(root, 1.0 / rate, axis=0), axis=1)
        )


def classify(frames: np.ndarray, heights: Heights | None, rules: WindowRules) -> Reason:
    """The unmeasured support that carried the body in these frames (indices)."""
    if heights is None:
        return Reason.OTHER_SUPPORT
    lowest = np.nanmin(heights.feet[frames], axis=1)
    if np.nanmedian(lowest) > rules.raised:
        return Reason.RAISED_SUPPORT
    if heights.drop is not None and heights.root_speed is not None:
        still = heights.root_speed[frames] < rules.seat_speed
        if np.mean(still & (heights.drop[frames] > rules.seat_drop)) > 0.5:
            return Reason.SEAT
    in_stance = (heights.speed[frames] < rules.slow) & (heights.feet[frames] < rules.raised)
    return Reason.OFF_PLATES if np.mean(in_stance.any(axis=1)) > 0.5 else Reason.OTHER_SUPPORT
