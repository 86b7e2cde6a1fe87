"""Checks of real force plates: findings in unmodified recordings, and in the same modified in software."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from solver.base.threads import one_blas_thread
from solver.options.plates import FREE_MOMENT, POSITION
from solver.skeleton.rig import Rig
from solver.study.plates.finding import Action, Finding, format_warnings
from solver.study.prepare import prepare
from solver.study.values import StudyData, TrialRecord

from .figure import Bound, Figure, at_least, at_most, within
from .foreign import foreign_figures
from .mismatched import CASES, is_reported, scale_free_moments, with_forces
from .runs import OTHERS, RUNS, track_runs
from .subject import SUBJECT, TRIALS

MODIFIED = "subject_e, one run to the other"
LATERAL_BOUND = within(5.5, 3.5)
"""[mm] An analysis of the data by others found about 7 mm."""


def subject_figures(prepared: StudyData) -> list[Figure]:
    """What is found in the subject's own plates as the files are."""
    signs = _select_findings(prepared, FREE_MOMENT)
    undone = [name for finding in signs if finding.done is Action.UNDONE for name in finding.trials]
    places = [finding for finding in _select_findings(prepared, POSITION) if finding.done is Action.UNDONE]
    where = f"real, {SUBJECT}"
    return [
        Figure(
            "free moment reversed in the files: trials in which it is found", where, len(undone), "", at_least(TRIALS),
            note="; ".join(f"{', '.join(finding.trials)}: {_format_finding(finding)}" for finding in signs),
        ),
        Figure(
            "plates of walking, sideways against the others", where,
            abs(places[0].evidence) if len(places) == 1 else float("nan"), "mm", LATERAL_BOUND,
            note="; ".join(f"{', '.join(finding.trials)}: {_format_finding(finding)}" for finding in places),
        ),
    ]  # fmt: skip


def plate_figures(data: Path, quick: bool) -> list[Figure]:
    """Findings in other people's recordings: unmodified, reversed, and modified in twelve ways."""
    wanted: Mapping[str, tuple[str, ...]] = RUNS if quick else {**RUNS, **OTHERS}
    with one_blas_thread():
        bodies = {
            name: track_runs(tuple(data / file for file in files))
            for name, files in wanted.items()
            if all((data / file).exists() for file in files)
        }
        if len(bodies) < len(wanted):
            return [Figure("force-plate checks", "real", None, "", at_most(0), note="no data")]
        reversed_runs = _reversed_figure({name: bodies[name] for name in RUNS})
        return [
            *_unmodified_figures(bodies),
            reversed_runs,
            _mismatched_figure(bodies[MODIFIED]),
            *foreign_figures(bodies),
        ]


def _unmodified_figures(bodies: Mapping[str, tuple[Rig, Sequence[TrialRecord]]]) -> list[Figure]:
    texts = {name: format_warnings(prepare(rig, records).findings) for name, (rig, records) in bodies.items()}
    where = f"real, {', '.join(bodies)}"
    messages = "; ".join(f"{name}: {text}" for name, found in texts.items() for text in found)
    return [Figure("warnings about correct plates", where, sum(map(len, texts.values())), "", at_most(0),
                   note=messages)]  # fmt: skip


def _reversed_figure(bodies: Mapping[str, tuple[Rig, Sequence[TrialRecord]]]) -> Figure:
    turn, found, messages = with_forces(lambda wrenches: scale_free_moments(wrenches, -1.0)), 0, []
    for name, (rig, records) in bodies.items():
        signs = _select_findings(prepare(rig, list(turn(records))), FREE_MOMENT)
        found += all(finding.done is Action.UNDONE for finding in signs) and bool(signs)
        messages += [f"{name}: {_format_finding(finding)}" for finding in signs]
    what = "free moment reversed in software: recordings in which it is found and undone"
    return Figure(what, f"real, {', '.join(bodies)}", found, "", at_least(len(bodies)), note="; ".join(messages))


def _mismatched_figure(body: tuple[Rig, Sequence[TrialRecord]]) -> Figure:
    rig, records = body
    mass = prepare(rig, records).mass
    weighed = rig.prior.total_mass if mass is None else mass.mass
    missed = [case.name for case in CASES if not is_reported(case, rig, records, weighed)[0]]
    bound = Bound(len(CASES), len(CASES), f"{len(CASES)}")
    note = f"not reported: {', '.join(missed)}" if missed else "; ".join(case.name for case in CASES)
    what = "mismatched sets reported with their cause"
    return Figure(what, f"real, {MODIFIED}, modified in software", len(CASES) - len(missed), "", bound, note=note)


def _select_findings(prepared: StudyData, kind: str) -> list[Finding]:
    return [finding for finding in prepared.findings if finding.kind == kind]


def _format_finding(finding: Finding) -> str:
    low, high = finding.interval
    return f"{finding.evidence:.2f} ({low:.2f} to {high:.2f}) {finding.unit}".strip()
