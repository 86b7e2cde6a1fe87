"""Short simulated recordings with known truth, for examples and notebooks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from ..base.termination import temporary_folder
from ..formats.recording import find_recordings
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..values.inertials import InertialParameters
from .person import record_person, simulate_person
from .robot import Robot, simulate_robot

SECONDS, RATE = 6.0, 100.0


@dataclass(frozen=True, slots=True)
class SimulatedPerson:
    """A simulated person and the laboratory's recordings.

    Attributes:
        rig: true skeleton; its prior is the table's, not the truth.
        truth: true inertials.
        recordings: ``static`` and ``dance``, markers and plates.
    """

    rig: Rig
    truth: InertialParameters
    recordings: tuple[Recording, ...]


@lru_cache(maxsize=4)
def simulated_person(seed: int = 1) -> SimulatedPerson:
    """A simulated man of 1.76 m and 71 kg, standing for two and dancing for six seconds, as read from files.

    Args:
        seed: of body, motion and noise.

    Example:
        >>> import solver
        >>> person = solver.demo.simulated_person()
        >>> [recording.name for recording in person.recordings]
        ['dance', 'static']
        >>> f"{person.truth.total_mass:.1f} kg"
        '71.0 kg'
    """
    person = simulate_person(seed, trials=("dance",))
    frames = round(SECONDS * person.motions["dance"].rate)
    motions = {
        "static": person.motions["static"].part(0, frames // 3), "dance": person.motions["dance"].part(0, frames)
    }  # fmt: skip
    with temporary_folder() as folder:
        record_person(replace(person, motions=motions), folder, seed)
        recordings = find_recordings([folder])
    return SimulatedPerson(person.rig, person.truth, recordings)


@lru_cache(maxsize=4)
def simulated_robot(seed: int = 1, load: tuple[str, float] | None = None) -> Robot:
    """A simulated HRP-2 stand-in that moves its whole body for six seconds: encoders, waist pose, forces on the feet.

    Args:
        seed: of truth, motion and noise.
        load: link that carries a small ball, and the ball's mass [kg]; None for none.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> robot.recordings[0].joints.names[:2], robot.recordings[0].wrenches.frames
        (('chest_yaw', 'chest'), ('right_sole', 'left_sole'))
    """
    return simulate_robot(seed, trials=("dance",), seconds=SECONDS, rate=RATE, load=load)
