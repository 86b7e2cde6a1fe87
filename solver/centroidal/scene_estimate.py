"""An estimate with what it was made of, as a scene draws both."""

from __future__ import annotations

import numpy as np

from ..scene.centroidal_estimate import COM, KINEMATIC, MOMENTUM, MOMENTUM_RATE, WRENCH, SceneEstimate
from .flights import flight_intervals
from .kinetics import Kinetics
from .settings import FLIGHT
from .signal_checks import check_signals
from .values import CentroidalData, CentroidalEstimate


def build_scene_estimate(data: CentroidalData, estimate: CentroidalEstimate) -> SceneEstimate:
    """What a scene draws of an estimate of these data."""
    kinetics = Kinetics.from_data(data, causal=False)
    com, rate = estimate.com.T, estimate.momentum_rate.T
    axis = np.where(kinetics.axis_weight > FLIGHT, kinetics.axis_point(com, rate), np.nan)
    turning = np.where(kinetics.weight > 0.0, kinetics.momentum_rate(com), np.nan)
    sources = {
        (KINEMATIC, COM): data.com,
        (KINEMATIC, MOMENTUM): data.momentum,
        (KINEMATIC, MOMENTUM_RATE): data.momentum_rate,
        (WRENCH, COM): axis.T,
        (WRENCH, MOMENTUM_RATE): turning.T,
    }
    return SceneEstimate(
        method=estimate.method,
        times=data.times,
        mass=data.mass,
        com=estimate.com,
        acceleration=estimate.acceleration,
        momentum=estimate.momentum,
        momentum_rate=estimate.momentum_rate,
        required_wrench=estimate.wrench,
        wrench=np.where(data.known[:, None], data.wrench, np.nan),
        flights=flight_intervals(data),
        sources={f"{who} {what}": values for (who, what), values in sources.items()},
        notes=(*estimate.notes, *check_signals(data)),
    )
