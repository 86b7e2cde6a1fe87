"""What the markers of a trial cost a motion that leaves the one that follows them best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...calibration.calibrated import Calibration
from ...dynamics import integrate
from ...tracking import attached_targets
from ...tracking.dynamical import InverseKinematics
from ...tracking.kinematics import Kinematics
from ...tracking.options import TrackingOptions
from ...tracking.pulls import Pulls
from ...tracking.smoothing.curves import shown
from ...tracking.stops import Stops
from ...tracking.targets import Targets, faded
from ...tracking.track import manifold_velocities
from ..values import TrialRecord

TURN, PLACE = 0.1, 0.05
"""[rad], [m] Standard deviations of the bend before anything is measured."""
UNSHOWN = 1e-4
"""[rad] The same of coordinates that no marker shows: a head would nod to make forces true."""


@dataclass(frozen=True, slots=True)
class Followed:
    """One trial's markers around the motion that follows them.

    Attributes:
        times: (N,) [s] of the frames.
        stiffness: (N, nv, nv) [1/m^2 and the like] half the second derivative of the sum of squared marker distances.
        prices: (nv,) inverse variances of the bend before anything is measured.
        spread: [m] root mean square of one coordinate of a marker's error.
    """

    times: np.ndarray
    stiffness: np.ndarray
    prices: np.ndarray
    spread: float

    @staticmethod
    def of(calibration: Calibration, record: TrialRecord) -> Followed:
        """Of a record that was tracked with that calibration."""
        rig, tracked = calibration.rig, record.tracked
        targets = _targets(calibration, record)
        assert tracked is not None
        assert targets.positions is not None
        options = TrackingOptions()
        engine = InverseKinematics(rig, targets.tasks, options)
        shares = faded(targets.times, targets.positions.positions, options.fade)
        stiffness = np.empty((len(tracked), rig.nv, rig.nv))
        for frame, q in enumerate(tracked.q):
            stiffness[frame] = engine.normal_equations(q, targets.sample(frame, shares[frame]))[0]
        spread = np.full(rig.nv, TURN)
        spread[:3] = PLACE
        spread[~shown(rig, targets)] = UNSHOWN
        return Followed(tracked.times, stiffness, spread**-2.0, tracked.rmse / np.sqrt(3.0))


def led_aside(calibration: Calibration, record: TrialRecord, bend: np.ndarray) -> TrialRecord:
    """A tracked record with its motion led aside by a bend (N, nv), within the joints' limits."""
    rig, tracked = calibration.rig, record.tracked
    assert tracked is not None
    targets = _targets(calibration, record)
    assert targets.positions is not None
    task, measured = targets.positions.task, targets.positions.positions
    stops = Stops(rig)
    q = integrate(rig, tracked.q, bend)
    q = stops.kept(q) if stops.any else q
    kinematics = Kinematics(rig)
    rest = np.empty(measured.shape)
    for frame, place in enumerate(q):
        kinematics.place(place)
        rest[frame] = measured[frame] - kinematics.points(task.links, task.offsets)
    errors = np.linalg.norm(rest, axis=2)
    errors[~tracked.tracked] = np.nan
    pulls = Pulls.of(len(rig.links), task, rest, faded(targets.times, measured, TrackingOptions().fade))
    velocities = manifold_velocities(rig, tracked.times, q)
    return replace(record, tracked=replace(tracked, q=q, v=velocities, errors=errors, pulls=pulls))


def _targets(calibration: Calibration, record: TrialRecord) -> Targets:
    markers = record.recording.markers
    assert markers is not None
    return attached_targets(calibration.rig, calibration.attachments, markers)[0]
