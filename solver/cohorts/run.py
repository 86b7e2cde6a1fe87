"""Identifies a cohort: every subject by itself, so that a failure does not stop the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.errors import BackendError, Cancelled, InputError, InvalidValue, SolverError, checked
from ..base.parallel import LOKY, parallel_map, serial, use_backend
from ..base.progress import Progress, silent
from ..base.termination import on_stop
from ..calibration.subject import is_static
from ..formats.recording import list_files_read, pair_files
from ..options.reading import ReadOptions
from ..options.study import CohortOptions, Settings
from ..report import CONTENT
from ..report.cohort_content import Cohort, CohortMember, FailedSubject, build_member
from ..report.cohort_page import COHORT_FILE, COHORT_PAGE, COHORT_TABLE, write_cohort
from ..scene.study_folder import CONTENT_FILE, PROVENANCE_FILE, REPORT_FILE, study_files
from ..signals.trial import Recording
from ..storage.json_tree import to_json_values
from ..storage.manifest import FileName, check_complete, path_within, stored_file
from ..storage.output_folder import read_consistent, reserve_folder
from ..study.provenance import PROVENANCE, Provenance, build_provenance, collect_options, program_version
from ..study.recordings import load
from ..values.person import SHOULDERS, TRUNKS
from ..workflow.pipeline import identify
from .subjects import (
    BIDS_PREFIX,
    PARTICIPANTS,
    SUBJECTS,
    SubjectInfo,
    TableRow,
    find_row,
    find_subject_folders,
    read_subject_info,
    read_subject_table,
)


@dataclass(frozen=True, slots=True)
class PendingSubject:
    """One subject that is to be identified."""

    name: str
    folder: Path
    output: Path
    info: SubjectInfo
    options: CohortOptions
    provenance: Provenance


@checked
def cohort(  # noqa: PLR0913 the user's own words about a cohort
    folder: str | Path,
    output: str | Path,
    *,
    settings: Settings | None = None,
    read: ReadOptions | None = None,
    trunk: str = TRUNKS[0],
    shoulders: str = SHOULDERS[0],
    backend: str = LOKY,
    progress: Progress = silent,
) -> Cohort:
    """Identify every subject of a folder, each into a folder of its own, and write one page for all.

    A subject that fails does not stop the others, and the page gives the reason. If a worker process is killed, the
    finished subjects are kept and the others fail. If it is run again, results are reused whose files, options and
    program are unchanged; only the other subjects are identified.

    Args:
        folder: contains one folder per subject (those named ``sub-...``, as in BIDS, if there are any) and a
            table ``participants.tsv`` or ``subjects.csv`` with at least their sex.
        output: receives a folder per subject, ``cohort.html``, ``cohort.csv`` and ``cohort.json``.
        settings: settings for all; ``jobs`` is the number of subjects that are processed at once.
        read: reading options for all.
        trunk: ``"one"`` (pelvis and torso) or ``"three"`` (pelvis, abdomen and thorax), for all.
        shoulders: ``"fixed"`` (upper arms on the torso) or ``"girdle"`` (on clavicle and scapula), for all.
        backend: ``"loky"`` (processes here), ``"dask"`` or ``"ray"``.
        progress: receives progress.

    Raises:
        InvalidValue: unknown ``trunk`` or ``shoulders``.
        InputError: no subjects, a table that cannot be read, or an output that cannot be written.
        MissingDependency: the backend's packages are not installed.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import solver
        >>> study = Path(tempfile.mkdtemp())
        >>> for name in ("anna", "ben"):
        ...     (study / name).mkdir()
        >>> found = solver.cohort(study, study / "results")  # their sex is unknown: both fail
        >>> len(found.members), [failed.name for failed in found.failed]
        (0, ['anna', 'ben'])
    """
    folder, output = Path(folder), Path(output)
    options = CohortOptions(
        ReadOptions() if read is None else read, Settings() if settings is None else settings, trunk, shoulders
    )
    folders, rows = find_subject_folders(folder, output), read_subject_table(folder)
    provenances: dict[str, Provenance] = {}
    with (
        reserve_folder(output, (COHORT_PAGE, COHORT_FILE, COHORT_TABLE)),
        on_stop(lambda: _describe_complete(output, provenances)),
    ):
        members: dict[str, CohortMember] = {}
        reasons = _explain_missing_folders(folders, rows)
        pending = []
        for name, place in folders.items():
            try:
                info = read_subject_info(place, find_row(name, rows))
                provenance = build_provenance(place, list_files_read([place]), options_of_subject(options, info))
                results = path_within(output, FileName(name))
                provenances[name] = provenance
                if (reused := _reuse_result(results, name, provenance)) is not None:
                    members[name] = reused
                else:
                    pending.append(PendingSubject(name, place, results, info, options, provenance))
            except SolverError as error:
                reasons[name] = str(error)
        progress(
            0.02, f"{len(folders)} subjects: {len(members)} reused, {len(pending)} to identify, {len(reasons)} failed"
        )
        for done, (item, problem) in enumerate(_identify_all(pending, options.settings.jobs, backend), 1):
            if problem is None:
                members[item.name] = _read_member(item.output, item.name, is_new=True)
            else:
                reasons[item.name] = problem
            progress(0.02 + 0.96 * done / len(pending), f"{item.name}: {'done' if problem is None else 'failed'}")
        found = Cohort(
            title=folder.resolve().name,
            members=tuple(members[name] for name in sorted(members)),
            failed=tuple(
                FailedSubject(name, _mention_old_results(output, name, text)) for name, text in sorted(reasons.items())
            ),
            methods=_method_rows(options, folder, backend),
        )
        write_cohort(found, output)
    progress(1.0, "done")
    return found


def _explain_missing_folders(folders: Mapping[str, Path], rows: Mapping[str, TableRow]) -> dict[str, str]:
    """Messages for rows whose subjects have no folder."""
    return {
        name: str(InputError(row.path, f"there is no folder {name!r}", place=f"line {row.line}"))
        for name, row in rows.items()
        if name not in folders and f"{BIDS_PREFIX}{name}" not in folders
    }


def _identify_all(
    pending: Sequence[PendingSubject], workers: int | None, backend: str
) -> Iterator[tuple[PendingSubject, str | None]]:
    """Yields each subject with its error message or None; in order, except where a worker process was killed."""
    rest = list(pending)
    try:
        with use_backend(backend, workers):
            for problem in parallel_map(identify_subject, [(item,) for item in pending], workers):
                yield rest.pop(0), problem
    except BackendError as error:
        for item in rest:
            complete = _reuse_result(item.output, item.name, item.provenance) is not None
            yield item, None if complete else f"{error}. Run the cohort again: it continues with this subject."


def _describe_complete(output: Path, provenances: Mapping[str, Provenance]) -> str | None:
    """Which subjects a run that was stopped leaves complete."""
    complete = [name for name, provenance in provenances.items() if _is_current(output / name, provenance)]
    return f"complete subjects in {output}, which the next run keeps: {', '.join(complete)}" if complete else None


def identify_subject(subject: PendingSubject) -> str | None:
    """Identify one subject and write its folder, in any process; returns an error message or None."""
    with serial():
        try:
            _identify_and_write(subject)
        except Cancelled:
            raise
        except SolverError as error:
            return str(error)
        except Exception as error:  # a program error in one subject must not stop the others
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = "" if place is None else f" in {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
            return f"an error of this program, please report it: {type(error).__name__}{where}: {error}"
    return None


def _identify_and_write(subject: PendingSubject) -> None:
    info = subject.info
    with reserve_folder(subject.output, study_files(name for name, _ in pair_files([subject.folder]))):
        recordings = load([subject.folder], subject.options.read)
        study = identify(
            recordings,
            sex=info.sex,
            height=info.height,
            mass=info.mass,
            trunk=subject.options.trunk,
            shoulders=subject.options.shoulders,
            marker_set=info.marker_set,
            static=info.static,
            settings=replace(subject.options.settings, jobs=1),
        )
        if study.identified is None:
            names = ", ".join(recording.name for recording in recordings)
            raise InvalidValue(f"{names}: no trial has motion and forces, which identification needs")
        study = replace(
            study, assumptions=(*info.assumptions, _describe_calibration_start(recordings, info), *study.assumptions)
        )
        study.write(subject.output, title=subject.name, provenance=subject.provenance)


def _describe_calibration_start(recordings: Sequence[Recording], info: SubjectInfo) -> str:
    """Which trials the calibration uses or starts with."""
    if info.static:
        return f"calibrated with {', '.join(info.static)} alone, as specified"
    still = [r.name for r in recordings if r.markers is not None and is_static(r.markers)]
    if still:
        return f"calibration started with {', '.join(still)}, in which the subject stands still"
    return "calibration started with the first trial, because the subject stands still in none"


def _reuse_result(folder: Path, name: str, provenance: Provenance) -> CohortMember | None:
    """A subject's result of an earlier run, if program, options and inputs are the same and it was not changed."""
    if not os.path.exists(folder / PROVENANCE_FILE):
        return None
    try:
        with reserve_folder(folder):  # also removes what a killed run left
            return _read_member(folder, name, is_new=False) if _is_current(folder, provenance) else None
    except SolverError:
        return None  # unreadable: identified again


def _is_current(folder: Path, provenance: Provenance) -> bool:
    """Whether a folder holds the complete and unchanged result of this program, these options and inputs."""
    try:
        made_from = PROVENANCE.read(stored_file(folder, PROVENANCE_FILE))
        return made_from.matches(provenance) and REPORT_FILE in check_complete(folder)
    except SolverError:
        return False


def _read_member(folder: Path, name: str, *, is_new: bool) -> CohortMember:
    content = read_consistent(folder, lambda: CONTENT.read(stored_file(folder, CONTENT_FILE)))
    return build_member(name, content, is_new=is_new)


def _mention_old_results(output: Path, name: str, reason: str) -> str:
    """The reason for a failure, with a note if the subject's folder still contains results of an earlier run."""
    if name not in os.listdir(output) or not os.path.exists(output / name / REPORT_FILE):
        return reason
    return f"{reason} The folder {name} still contains results of an earlier run with other files or options."


def options_of_subject(options: CohortOptions, info: SubjectInfo) -> dict[str, object]:
    """Every option on which the result of one subject depends."""
    chosen = collect_options(options.read, options.settings, info)
    return {**chosen, "trunk": options.trunk, "shoulders": options.shoulders}


def _method_rows(options: CohortOptions, folder: Path, backend: str) -> tuple[tuple[str, str], ...]:
    table = next((name for name in (PARTICIPANTS, SUBJECTS) if os.path.exists(folder / name)), "no table")
    settings = to_json_values(options.settings)
    chosen = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None and name != "plates")
    return (
        ("Program", f"exciting_dance {program_version()}"),
        ("Recordings", f"{folder.resolve().name}; subjects' data from {table}"),
        ("Settings", f"{chosen}, trunk {options.trunk}, shoulders {options.shoulders}"),
        ("Run by", backend),
        ("Each subject", "its own report lists files, options and time; provenance.json contains them all"),
    )
