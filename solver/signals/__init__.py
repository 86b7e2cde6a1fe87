"""Signals: filters, derivatives on the manifold, resampling, gaps, counted windows and the plates' time lag.

Both sides of Y phi = f must pass the same filter, or their difference is the filter's and not the body's.
"""

from ..arrays import stretches
from ..filter_presets import PRESETS, FilterPreset, preset_of
from ..rig import GRAVITY
from .cutoff import lowered, noisy_above
from .filters import lighter, low_pass, require_rate, settling_time
from .flights import FlightRules, find_flights, narrowed
from .gaps import bridge, left_out
from .lag import Lag, combined_lag, estimate_lag, own_lags, shift
from .manifold import smooth_motion
from .resample import filter_wrenches, rate_of_grid, resample, uniform_times
from .shaking import Shaken, noise_floor
from .shifts import Pulled
from .stillness import is_still
from .streaming import low_pass_pieces
from .whitening import whitened
from .window_rules import Proof, Reason, WindowRules
from .windows import ContactEvidence, Windows, find_windows

__all__ = [
    "GRAVITY",
    "PRESETS",
    "ContactEvidence",
    "FilterPreset",
    "FlightRules",
    "Lag",
    "Proof",
    "Pulled",
    "Reason",
    "Shaken",
    "WindowRules",
    "Windows",
    "bridge",
    "combined_lag",
    "estimate_lag",
    "filter_wrenches",
    "find_flights",
    "find_windows",
    "is_still",
    "left_out",
    "lighter",
    "low_pass",
    "low_pass_pieces",
    "lowered",
    "narrowed",
    "noise_floor",
    "noisy_above",
    "own_lags",
    "preset_of",
    "rate_of_grid",
    "require_rate",
    "resample",
    "settling_time",
    "shift",
    "smooth_motion",
    "stretches",
    "uniform_times",
    "whitened",
]
