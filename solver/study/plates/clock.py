"""How far the plates trail the motion, as a finding."""

from __future__ import annotations

from collections.abc import Mapping

from ...plate_options import LAG
from ...signals import Lag
from .finding import Action, Finding, compute_interval

MS_PER_S = 1e3


def report_lag(lag: Lag, lags: Mapping[str, Lag], overridden: bool) -> Finding:
    """The lag over all trials, taken off unless it is overruled; each trial's ``lags`` own where they differ."""
    seconds, std = MS_PER_S * lag.seconds, MS_PER_S * lag.std
    low, high = compute_interval(seconds, std)
    word = "trail" if seconds >= 0.0 else "lead"
    text = f"the plates {word} the motion by {abs(seconds):.1f} ms ({low:.1f} to {high:.1f}, 95 %)"
    if len({own.seconds for own in lags.values()}) > 1:
        listed = ", ".join(f"{name} {MS_PER_S * own.seconds:.1f}" for name, own in lags.items())
        text += f", in some trials more than in others: {listed} ms"
    return Finding(
        LAG, tuple(lags), seconds, (low, high), "ms", Action.OVERRIDDEN if overridden else Action.TAKEN_OFF, text
    )
