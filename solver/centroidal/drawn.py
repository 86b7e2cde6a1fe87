"""An estimate with what it was made of, as a scene draws both."""

from __future__ import annotations

import numpy as np

from ..scene.estimate import COM, KINEMATIC, MOMENTUM, MOMENTUM_RATE, WRENCH, SceneEstimate
from .doubts import doubts
from .flights import flights
from .settings import FLIGHT
from .sources import Kinetics
from .values import CentroidalData, CentroidalEstimate


def drawn(data: CentroidalData, estimate: CentroidalEstimate) -> SceneEstimate:
    """What a scene draws of an estimate of these data."""
    kinetics = Kinetics.of(data, causal=False)
    com, rate = estimate.com.T, estimate.momentum_rate.T
    axis = np.where(kinetics.axis_trust > FLIGHT, kinetics.axis_point(com, rate), np.nan)
    turning = np.where(kinetics.trust > 0.0, kinetics.momentum_rate(com), np.nan)
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
        needed=estimate.wrench,
        wrench=np.where(data.known[:, None], data.wrench, np.nan),
        flights=flights(data),
        sources={f"{who} {what}": values for (who, what), values in sources.items()},
        notes=(*estimate.notes, *doubts(data)),
    )
