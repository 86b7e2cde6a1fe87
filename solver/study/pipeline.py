"""The main job: recordings in, identified masses out. Every step is a function that can be called on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..calibration.calibration import Calibration
from ..errors import InvalidValue
from ..person import LINKS
from ..progress import PartialProgress, Progress, silent
from ..rig import Rig
from ..trial import Recording
from .clock import StageTimer
from .motions import identify_motions
from .recordings import require_base, require_markers, require_rates
from .soft_tissue_error import add_soft_tissue_error
from .subject_calibration import calibrate
from .tracking import collect_warnings, compute_poses
from .values import Settings, Study


def identify(  # noqa: PLR0913 what a user types: a person's words, or a rig
    recordings: Sequence[Recording],
    *,
    rig: Rig | None = None,
    sex: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    trunk: str = "one",
    shoulders: str = "fixed",
    marker_set: str | Path | None = None,
    static: Sequence[str] = (),
    settings: Settings | None = None,
    calibration: Calibration | None = None,
    progress: Progress = silent,
) -> Study:
    """From a person's or a robot's recordings to the identified inertial parameters of every link.

    Args:
        recordings: see `load`; markers of a person, or joint coordinates of a rig, with forces.
        rig: whose joint coordinates the recordings hold; None for a person with markers.
        sex, height, mass, trunk, shoulders, marker_set, static: see `calibrate`, [m] and [kg]; a stated mass is
            compared with the plates. A new subject needs its sex: nothing in a recording tells it.
        settings: every choice of method.
        calibration: of an earlier run; then the subject's data are not needed.
        progress: receives progress.

    Raises:
        InvalidValue: neither a rig nor a calibration nor a sex; no trial with motion, none with forces, or no frame
            that counts; joint coordinates that are not the rig's.
        SolverError: whatever a step refuses.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> hand = study.identification["right_hand"]  # mass [kg], centre of mass [m], inertia [kg m^2], prior
        >>> abs(hand.mass - robot.truth["right_hand"].mass) < 0.2
        True
    """
    settings = Settings() if settings is None else settings
    require_rates(recordings, settings)
    require_base(LINKS if rig is None else rig.links, settings)
    clock = StageTimer()
    if rig is None and calibration is None:
        require_markers(recordings)
        if sex is None:
            raise InvalidValue("the segment tables of a new subject differ by sex: state 'female', 'male' or 'unknown'")
        with clock.measure("calibration"):
            calibration = calibrate(
                recordings,
                sex=sex,
                height=height,
                mass=mass,
                trunk=trunk,
                shoulders=shoulders,
                marker_set=marker_set,
                static=static,
                progress=PartialProgress(progress, 0.0, 0.3),
            )
    body = rig or calibration
    assert body is not None
    with clock.measure("tracking"):
        rig, records = compute_poses(recordings, body, settings, PartialProgress(progress, 0.3, 0.6))
    calibration = body if isinstance(body, Calibration) else None
    moved = tuple(record for record in records if record.poses is not None)
    study = identify_motions(
        rig, moved, stated_mass=mass, settings=settings, progress=PartialProgress(progress, 0.6, 1.0)
    )
    with clock.measure("intervals"):
        study = add_soft_tissue_error(study, calibration)
    return replace(
        study,
        calibration=calibration,
        warnings=tuple(dict.fromkeys([*collect_warnings(records, calibration), *study.warnings])),
        assumptions=(*(() if calibration is None else calibration.assumptions), *study.assumptions),
        seconds={**clock.seconds, **study.seconds},
    )
