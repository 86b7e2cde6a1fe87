"""How far the plates trail the motion, as a finding."""

from __future__ import annotations

from collections.abc import Mapping

from ...plate_options import LAG
from ...signals import Lag
from .finding import Done, Finding, interval_of

MILLISECONDS = 1e3


def lag_finding(lag: Lag, lags: Mapping[str, Lag], overruled: bool) -> Finding:
    """The lag over all trials, taken off unless it is overruled; each trial's ``lags`` own where they differ."""
    seconds, std = MILLISECONDS * lag.seconds, MILLISECONDS * lag.std
    low, high = interval_of(seconds, std)
    word = "trail" if seconds >= 0.0 else "lead"
    text = f"the plates {word} the motion by {abs(seconds):.1f} ms ({low:.1f} to {high:.1f}, 95 %)"
    if len({own.seconds for own in lags.values()}) > 1:
        listed = ", ".join(f"{name} {MILLISECONDS * own.seconds:.1f}" for name, own in lags.items())
        text += f", in some trials more than in others: {listed} ms"
    return Finding(LAG, tuple(lags), seconds, (low, high), "ms", Done.OVERRULED if overruled else Done.TAKEN_OFF, text)
