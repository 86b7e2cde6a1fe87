"""Finds a load that a person or robot carries in later recordings but not in earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..base.arrays import list_names
from ..base.errors import InvalidValue, checked
from ..base.files import AnyPath, Paths
from ..base.progress import PartialProgress, Progress, silent
from ..calibration.body_mass import MassEstimate
from ..calibration.calibration import Calibration
from ..identification.added_load import AddedLoad, find_added_load
from ..options.plates import KnownPlates
from ..options.study import LoadOptions, Settings
from ..signals import GRAVITY
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from ..study.plates.finding import format_warnings
from ..study.prepare import prepare
from ..study.recordings import load_body, load_recordings
from ..study.tracking import collect_warnings, compute_poses
from .pipeline import identify_motions
from .study import Study


@checked
def find_load(
    before: Sequence[Recording] | Paths,
    after: Sequence[Recording] | Paths,
    body: Calibration | Rig | AnyPath,
    *,
    settings: Settings | None = None,
    options: LoadOptions | None = None,
    progress: Progress = silent,
) -> Study:
    """Find the mass [kg], centre of mass [m] and inertia [kg m^2] of an added load, and the link that carries it.

    Args:
        before: recordings without the load, by value or as files and folders, see `load`.
        after: recordings with it, by the same body on the same plates; they need not repeat the motion.
        body: the calibrated person, or the rig whose joint coordinates are recorded; see `track`.
        settings: of the identification of the unloaded body.
        options: how many loads, and where they may be.
        progress: receives progress.

    Returns:
        study of the recordings before, with `Study.load`.

    Raises:
        InvalidValue: no frame counts before, or none after.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()  # simulated: the truth is known
        >>> loaded = solver.demo.simulated_robot(load=("right_hand", 0.4))
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> found = solver.find_load(robot.recordings, loaded.recordings, robot.rig, settings=quick).load
        >>> found.carriers
        ('right_hand',)
        >>> abs(found.loads["right_hand"].mass - 0.4) < 0.05  # kg
        True
    """
    settings = settings or Settings()
    before, after, body = load_recordings(before), load_recordings(after), load_body(body)
    rig, bare = compute_poses(before, body, settings, PartialProgress(progress, 0.0, 0.3))
    study = identify_motions(
        rig, [r for r in bare if r.poses is not None], settings=settings, progress=PartialProgress(progress, 0.3, 0.6)
    )
    if study.identified is None:
        raise InvalidValue("no recording without the load has forces: a load is found from forces")
    _, laden = compute_poses(after, body, settings, PartialProgress(progress, 0.6, 0.8))
    plates = settings.plates
    if plates.known is None:
        # a load on one side looks like plates that were moved; an offset would look like the load itself
        plates = replace(plates, known=KnownPlates(study.known_plates.layouts))
    prepared = prepare(study.rig, [r for r in laden if r.poses is not None], replace(settings, plates=plates))
    trials = [record.trial for record in prepared.records if record.trial is not None]
    if not trials:
        raise InvalidValue("no recording with the load has forces: a load is found from forces")
    progress(0.8, "searching for a load")
    options = replace(options or LoadOptions(), base=study.identification.base_link)
    found = find_added_load(study.rig, study.trials, trials, options)
    calibration = body if isinstance(body, Calibration) else None
    warnings = (
        *collect_warnings(bare, calibration),
        *collect_warnings(laden, calibration),
        *study.warnings,
        *format_warnings(prepared.findings),
        *prepared.warnings,
        *_warn_of_load(found, study.mass, prepared.mass),
    )
    progress(1.0, "done")
    return replace(study, calibration=calibration, load=found, warnings=tuple(dict.fromkeys(warnings)))


def _warn_of_load(found: AddedLoad, before: MassEstimate | None, after: MassEstimate | None) -> Iterator[str]:
    """Warnings if plates were never unloaded, whose offset looks like a load, or if the load lies beyond its link."""
    trials = [trial for mass in (before, after) if mass is not None for trial in mass.trials]
    unseen = dict.fromkeys(trial.name for trial in trials if trial.unloaded is None)
    if found.carriers and unseen:
        yield (
            f"a load of {found.total:.2f} kg was found, but the plates are never unloaded in {list_names(unseen)}: an "
            f"offset of {GRAVITY * found.total:.0f} N between the recordings would look the same"
        )
    if found.is_beyond:
        yield (
            f"the load is not near {' and '.join(found.carriers)}: no load within the margin around the link explains "
            "the forces, as of something held at arm's length; its mass and place are wrong: state a larger --margin"
        )
