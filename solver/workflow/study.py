"""The study of a subject or robot: what was found, and what can be done with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import Any, Self, TypeVar

from ..base.data_frames import build_data_frame
from ..base.errors import InputError, InvalidValue, checked
from ..base.files import AnyPath, Paths, as_paths
from ..base.progress import PartialProgress, Progress, silent
from ..centroidal.estimate import DEFAULT_METHOD, estimate_centroidal
from ..centroidal.inputs import centroidal_data
from ..centroidal.values import CentroidalEstimate
from ..formats.text_files import Warn, ignore_warning
from ..identification.comparison import Comparison, compare
from ..moments.of_trial import moments_of_trial
from ..moments.values import JointMoments
from ..options.study import Settings
from ..report.plot import Plots
from ..report.study_folder import write_study
from ..scene.study_folder import STUDY_FILE, TRIAL_END
from ..signals.trial import Recording
from ..storage.manifest import stored_file
from ..storage.output_folder import read_consistent
from ..study.identification import choose_base_link
from ..study.plates.finding import format_warnings
from ..study.prepare import prepare
from ..study.provenance import Provenance
from ..study.recordings import load_recordings, require_rates
from ..study.tracking import collect_warnings, compute_poses
from ..study.values import STUDY, TRIAL, StudyData, TrialRecord
from ..values.inertials import InertialParameters
from ..values.wrenches import WRENCH_AXES

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Study(StudyData):
    """Result of the main job, from recordings (`identify`, `track`, `find_load`) or from its folder (`load_study`).

    Attributes:
        rig: calibrated, with the prior scaled to the measured mass.
        settings: of the study.
        records: one per recording, in the order given.
        calibration: None if the rig was given.
        mass: body mass [kg] and the evidence for it; None if no plate weighs the body.
        identified: None if the study only tracked; `identification` raises an error instead.
        warnings: what the reader must know, in plain sentences.
        lag: [s] lag of the plates behind the motion, over all trials; None if it was not estimated.
        seconds: [s] wall time per stage.
        assumptions: what was estimated or assumed because it was not specified, in plain sentences.
        load: load added between two sets of recordings; None if none was searched for.
        findings: results of the plate checks, and what was done about them.
        flights: data of an identification from flight phases alone; None for one with forces.
        residuals: of the trials that the identification was fitted to.
    """

    @classmethod
    def of(cls, data: StudyData) -> Self:
        """The study that consists of these data."""
        return cls(**{field.name: getattr(data, field.name) for field in fields(StudyData)})

    def compare(
        self, recordings: Sequence[Recording] | Paths, settings: Settings | None = None, progress: Progress = silent
    ) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
        """Compare how well identified and prior parameters predict wrenches of further trials; also returns warnings.

        Filter, base link, frequency weights, calibrations and most likely errors of the plates are those of the
        identification.

        Args:
            recordings: see `track`; of the same body, on the same plates.
            settings: standing patch, plates and number of processes; by default the study's own.
            progress: receives progress.

        Raises:
            InvalidValue: the study has no identification, or no trial has motion, forces and a frame that counts.

        Example:
            >>> import solver
            >>> robot = solver.demo.simulated_robot()
            >>> quick = solver.Settings(no_cross_validation=True)
            >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
            >>> found, warnings = study.compare(solver.demo.simulated_robot(seed=1).recordings)
            >>> bool((found[0].ratio < 1.0).all())  # RMSE of the identified over RMSE of the prior, per axis
            True
        """
        own, found = self.settings, self.identification
        settings = replace(
            settings or own,
            filter=own.filter,
            smooth=own.smooth,
            base=found.base_link,
            planted_foot=(settings or own).planted_foot or own.planted_foot,
            plates=replace((settings or own).plates, known=self.known_plates),
        )
        recordings, prior = load_recordings(recordings), found.prior
        require_rates(recordings, settings)
        body = self.calibration or self.rig
        rig, records = compute_poses(recordings, body, settings, PartialProgress(progress, 0.0, 0.9))
        rig, base = rig.with_prior(prior), choose_base_link(rig, settings)
        moved = [record for record in records if record.poses is not None]
        prepared = prepare(rig, moved, settings, stated_mass=prior.total_mass)
        weights = found.frequency_weights
        compared = tuple(
            replace(
                compare(rig, trial, found.parameters, prior, base=base, weights=weights),
                used=trial.name in found.trials,
            )
            for trial in prepared.trials
            if trial.counted.any()
        )
        if not compared:
            raise InvalidValue("no trial has motion, forces and a frame that counts")
        warnings = collect_warnings(records, self.calibration)
        return compared, (*warnings, *format_warnings(prepared.findings), *prepared.warnings)

    def moments(
        self, *, trials: Sequence[str] = (), prior: bool = False, feet: Sequence[str] = (), progress: Progress = silent
    ) -> dict[str, JointMoments]:
        """Joint moments [N m] of the trials with forces, by name.

        Args:
            trials: names; all with forces by default.
            prior: with the prior's inertial parameters instead of the identified ones.
            feet: links that touch the plates; found by default.
            progress: receives progress.

        Raises:
            UnknownName: no such trial.
            InvalidValue: no trial has forces, or moments of one cannot be computed; it is named.
        """
        body = self._body(prior)
        return self._each(trials, lambda record: moments_of_trial(self, record, body, feet), progress)

    def centroidal(
        self,
        *,
        method: str = DEFAULT_METHOD,
        trials: Sequence[str] = (),
        prior: bool = False,
        progress: Progress = silent,
    ) -> dict[str, CentroidalEstimate]:
        """Centre of mass [m] and momentum rate [N m] of the trials with forces, by name.

        Args:
            method: one of `centroidal.estimate.METHODS`.
            trials: names; all with forces by default.
            prior: kinematics of the prior's inertials instead of the identified ones.
            progress: receives progress.

        Raises:
            UnknownName: no such trial, or no such method.
            InvalidValue: no trial has forces, or the signals of one cannot be estimated; it is named.
        """
        body = self._body(prior) or (self.rig.prior, None)
        return self._each(
            trials,
            lambda record: estimate_centroidal(centroidal_data(self.rig, record.filtered_trial, *body), method),
            progress,
        )

    @property
    def plot(self) -> Plots:
        """The common figures, such as ``study.plot.masses().write("masses.svg")``."""
        return Plots(self)

    def to_dataframe(self) -> Any:
        """Errors of reconstructed wrenches as a pandas ``DataFrame``, one row per trial and axis, SI units.

        Columns: trial, used, axis, rmse_identified, rmse_prior and rmse_prior_unweighted [N], [N m].

        Raises:
            SolverError: pandas is not installed.
        """
        found = () if self.identified is None else self.identified.comparisons
        rows = [(fit, axis) for fit in found for axis in range(len(WRENCH_AXES))]
        return build_data_frame(
            {
                "trial": [fit.trial for fit, _ in rows],
                "used": [fit.used for fit, _ in rows],
                "axis": [WRENCH_AXES[axis] for _, axis in rows],
                "rmse_identified": [float(fit.identified.rmse[axis]) for fit, axis in rows],
                "rmse_prior": [float(fit.prior.rmse[axis]) for fit, axis in rows],
                "rmse_prior_unweighted": [float(fit.unweighted_prior.rmse[axis]) for fit, axis in rows],
            }
        )

    def write(  # noqa: PLR0913 the labels of a report, and the model to write
        self,
        folder: str | Path,
        *,
        title: str | None = None,
        truth: InertialParameters | None = None,
        simulated: bool = False,
        provenance: Provenance | None = None,
        write_into: AnyPath | None = None,
        warn: Warn = ignore_warning,
    ) -> tuple[str, ...]:
        """Write the study's folder, completely or not at all; returns the names of the files.

        ``report.html``, ``result.json`` and ``result.csv`` (the parameters), ``rig.json`` and ``rig.urdf``; of a rig
        from a file that file with the identified inertials; ``study.npz`` and for every trial ``NAME.trial.npz`` (all
        of the study, for `load_study`), ``NAME.motion.npz`` and ``NAME.recording.npz`` (for Blender),
        ``NAME.joints.mot``, ``NAME.joints.csv``, of a person ``NAME.angles.mot`` and ``NAME.angles.csv``, and
        ``NAME.markers.csv``.

        Args:
            folder: may exist; its other files are kept.
            title: of the report.
            truth: of a simulation, for the report.
            simulated: label the report as a simulation.
            provenance: of the result; None: what the study states itself (`provenance_of_study`).
            write_into: OpenSim model of the person, scaled; ``MODEL_identified.osim`` is it with the identified
                inertials.
            warn: receives the reason for which the file of the rig is not written with the identified inertials.

        Raises:
            InputError: the folder cannot be written.

        Example:
            >>> import tempfile
            >>> import solver
            >>> robot = solver.demo.simulated_robot()
            >>> folder = tempfile.mkdtemp()
            >>> "dance.motion.npz" in solver.track(robot.recordings, robot.rig).write(folder)
            True
            >>> solver.load_study(folder).record("dance").motion
            Motion of 36 degrees of freedom: 0.00 to 5.99 s at 100 Hz, 600 frames
        """
        return write_study(
            folder,
            self,
            title=title,
            truth=truth,
            simulated=simulated,
            provenance=provenance,
            write_into=write_into,
            warn=warn,
        )

    def _repr_html_(self) -> str:
        """Masses and the wrenches of the first trial for notebooks; text alone without an identification."""
        figures = [] if self.identified is None else [self.plot.masses(), self.plot.wrenches(self.trials[0].name)]
        return "".join([f"<pre>{escape(repr(self))}</pre>", *(figure.svg for figure in figures)])

    def _body(self, prior: bool) -> tuple[InertialParameters, Any] | None:
        """Identified parameters and a square root of their covariance; None for the prior."""
        found = None if prior else self.identified
        return None if found is None else (found.parameters, found.covariance_root)

    def _each(self, trials: Sequence[str], compute: Callable[[TrialRecord], T], progress: Progress) -> dict[str, T]:
        """A result for each trial with forces, or for each of the named ones."""
        for name in trials:
            self.record(name)
        able = [r for r in self.records if r.trial is not None and r.trial.counted.any()]
        chosen = [record for record in able if not trials or record.name in trials]
        if not chosen:
            which = f"of the trials {', '.join(trials)} none" if trials else "no trial"
            raise InvalidValue(f"{which} has motion, forces and a frame that counts: identify with force files")
        found = {}
        for number, record in enumerate(chosen):
            progress(number / len(chosen), record.name)
            try:
                found[record.name] = compute(record)
            except InvalidValue as error:
                if (named := f"trial {record.name!r}") in str(error):
                    raise
                raise InvalidValue(f"{named}: {error}") from None
        progress(1.0, "computed")
        return found


@checked
def load_study(folder: str | Path) -> Study:
    """Read the study that `Study.write`, or the commands ``identify`` and ``track``, wrote into a folder.

    Raises:
        InputError: the folder holds no study, or one of a newer version; or a file is damaged.

    Example:
        >>> import solver
        >>> solver.load_study("results").identification["right_thigh"].mass  # doctest: +SKIP
    """
    (folder,) = as_paths(folder)

    def read() -> Study:
        path = stored_file(folder, STUDY_FILE)
        if not os.path.exists(path):
            problem = "is not the folder of a study" if os.path.exists(folder) else "does not exist"
            raise InputError(folder, problem, remedy="Give the folder that `identify --output` wrote")
        stored = STUDY.read(path)
        records = (TRIAL.read(stored_file(folder, f"{name}{TRIAL_END}")) for name in stored.trials)
        return Study.of(replace(stored.data, records=tuple(records)))

    return read_consistent(folder, read)
