"""Recorded signals in, filtered, resampled and differentiated ones out, and the time windows that can be used.

Both sides of Y phi = f must pass the same filter; otherwise the filters cause a residual.
"""

from ..base.arrays import true_runs
from ..skeleton.rig import GRAVITY
from ..values.filter_presets import PRESETS, FilterPreset, preset_of
from .filters import light_preset, low_pass, low_pass_pieces, require_rate, settling_time
from .flights import find_flights, shrink_runs
from .gaps import bridge, unbridged
from .lag import Lag, shift_wrenches
from .manifold import smooth_motion
from .noise import NoiseReplicas, lower_cutoff, noise_floor, noise_frequency
from .resample import filter_wrenches, rate_of_grid, resample, uniform_times
from .stillness import is_still
from .whitening import whiten
from .window_reasons import Reason
from .windows import ContactEvidence, Windows, find_windows

__all__ = [
    "GRAVITY",
    "PRESETS",
    "ContactEvidence",
    "FilterPreset",
    "Lag",
    "NoiseReplicas",
    "Reason",
    "Windows",
    "bridge",
    "filter_wrenches",
    "find_flights",
    "find_windows",
    "is_still",
    "light_preset",
    "low_pass",
    "low_pass_pieces",
    "lower_cutoff",
    "noise_floor",
    "noise_frequency",
    "preset_of",
    "rate_of_grid",
    "require_rate",
    "resample",
    "settling_time",
    "shift_wrenches",
    "shrink_runs",
    "smooth_motion",
    "true_runs",
    "unbridged",
    "uniform_times",
    "whiten",
]
