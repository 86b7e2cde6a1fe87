"""Fill the free keys of an authored dance."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import checked
from ...base.progress import PartialProgress, Progress, silent
from ...feasibility import CheckOptions
from ...feasibility.messages import describe_unsupported
from ...options.authoring import CompleteOptions, RepairOptions
from ..authoring import complete as authoring
from ..authoring.authored_dance import EXACT_FLIGHT_RATE, AuthoredDance
from ..authoring.complete import CompletedDance
from ..authoring.repair import UNCHANGED
from .edited_dance import EditedDance
from .loading import load_authored_dance, require_support
from .repair import LIMIT_NOTE, MIN_RATE, describe_conflicts, describe_moves, describe_remaining, format_repair_report
from .summaries import Conclusion, summarise_authored


@checked
def complete(
    dance: AuthoredDance | str | Path,
    options: CompleteOptions | None = None,
    checks: CheckOptions | None = None,
    repair_options: RepairOptions | None = None,
    *,
    rate: float = MIN_RATE,
    progress: Progress = silent,
) -> EditedDance:
    """Fill every free key of an authored dance with an exciting posture or by interpolation, and repair the dance.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz).
        options: how to fill.
        checks: that must hold; by default those stored with the dance.
        repair_options: of the repair's search.
        rate: [1/s] of the repaired motion's samples, at least `MIN_RATE`; higher with jumps (`Keyed.sampling_rate`).
        progress: receives the progress; may cancel.

    Raises:
        InputError: not an authored dance, or a damaged file.
        InvalidValue: no free key, the first or the last key is free, or no foot is on the floor.

    Example:
        >>> answer = solver.complete("keyed.json")  # doctest: +SKIP
        >>> answer.feasible, answer.message  # doctest: +SKIP
    """
    keyed = (dance if isinstance(dance, AuthoredDance) else load_authored_dance(dance)).with_checks(checks)
    require_support(keyed)
    options, repair_options = options or CompleteOptions(), repair_options or RepairOptions()
    done = authoring.complete(keyed, keyed.checks, options, repair_options, rate=max(keyed.sampling_rate(rate,
        EXACT_FLIGHT_RATE), MIN_RATE),
                              progress=PartialProgress(progress, 0.0, 0.95))  # fmt: skip
    troubles = [*describe_unsupported(keyed.schedule, done.after), *describe_conflicts(done)]
    message = describe_completion(keyed, done, troubles)
    notes = [
        *done.notes,
        *[LIMIT_NOTE] * done.limit_reached,
        *(f"a search step was rejected, {flaw}" for found in done.gaps for flaw in found.repair.rejected_steps),
        *(f"elsewhere, where nothing was changed: {failure}" for failure in done.failures_elsewhere),
    ]
    said = Conclusion("complete", "completed" if done.feasible else done.status, message, troubles, notes)
    summary = summarise_authored(said, done.dance, done.after, done.moved)
    return EditedDance(done.dance, done.after, summary, format_repair_report(said, done), done)


def describe_completion(keyed: AuthoredDance, done: CompletedDance, problems: list[str]) -> str:
    """The result in one sentence."""
    count = len(done.filled_times)
    exciting = count - len(done.interpolated_times)
    filled = f"filled {count} free key{'' if count == 1 else 's'}"
    if 0 < exciting < count:
        filled += f", {exciting} with exciting postures and {count - exciting} by interpolation"
    else:
        filled += " with exciting postures" if exciting else " by interpolation"
    if not done.feasible:
        return f"Not feasible yet, {filled}: {problems[0] if problems else describe_remaining(done.worst_repair)}"
    moved = (
        f"; the repair moved the postures by at most {describe_moves(keyed.rig, done.moved)} for it"
        if done.status != UNCHANGED
        else ""
    )
    return f"{filled[0].upper()}{filled[1:]}; every check holds{' there' * bool(done.failures_elsewhere)}{moved}"
