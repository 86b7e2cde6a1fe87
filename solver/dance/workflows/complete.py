"""Fill the free keys of an authored dance."""

from __future__ import annotations

from pathlib import Path

from ...errors import InvalidValue
from ...feasibility import CheckOptions
from ...feasibility.sentences import unsupported
from ...progress import Part, Progress, silent
from ..authoring import complete as authoring
from ..authoring.complete import Completed, CompleteOptions
from ..authoring.keys import EXACT, Keyed
from ..authoring.repair import UNCHANGED, RepairOptions
from .answer import Answer
from .reading import load_keyed, require_support
from .repair import HURRIED, RATE, explained, far, remaining, repair_report
from .summaries import Conclusion, keyed_summary


def complete(
    dance: Keyed | str | Path,
    options: CompleteOptions | None = None,
    checks: CheckOptions | None = None,
    repairing: RepairOptions | None = None,
    *,
    rate: float = RATE,
    progress: Progress = silent,
) -> Answer:
    """Give every free key of an authored dance a posture that excites, or the calm way, and repair the dance.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz).
        options: how to fill.
        checks: what must hold; by default what the dance carries.
        repairing: of the repair's search.
        rate: [1/s] of the repaired motion's samples, `RATE` or more; more where it jumps (`Keyed.sampling`).
        progress: told about the progress; may cancel.

    Raises:
        InputError: no authored dance, or damaged.
        InvalidValue: no free key, the first or the last key is free, or nothing stands on the floor.

    Example:
        >>> answer = solver.complete("keyed.json")  # doctest: +SKIP
        >>> answer.feasible, answer.message  # doctest: +SKIP
    """
    keyed = (dance if isinstance(dance, Keyed) else load_keyed(dance)).held_to(checks)
    require_support(keyed)
    require_gaps(keyed)
    options, repairing = options or CompleteOptions(), repairing or RepairOptions()
    done = authoring.complete(keyed, keyed.checks, options, repairing, rate=max(keyed.sampling(rate, EXACT), RATE),
                              progress=Part(progress, 0.0, 0.95))  # fmt: skip
    troubles = [*unsupported(keyed.schedule, done.after), *explained(done)]
    message = completion_sentence(keyed, done, troubles)
    notes = [*done.notes, *[HURRIED] * done.hurried]
    notes += [f"a step was left out, {flaw}" for found in done.gaps for flaw in found.repair.flaws]
    notes += [f"elsewhere, where nothing was touched: {failure}" for failure in done.elsewhere]
    status = "completed" if done.feasible else done.status
    said = Conclusion("complete", status, message, troubles, notes)
    summary = keyed_summary(said, done.keyed, done.after, done.moved)
    return Answer(done.keyed, done.after, summary, repair_report(said, done), done)


def require_gaps(keyed: Keyed) -> None:
    """Refuse a dance without free keys, or with nothing to hold on to around them.

    Raises:
        InvalidValue: what is missing, and how to get it.
    """
    roles = [key.role for key in keyed.keys]
    if "free" not in roles:
        raise InvalidValue(
            f"dance {keyed.name!r} has no free key to complete: mark a key as free, in Blender by the keyframe type "
            "Breakdown"
        )
    if len(roles) - roles.count("free") < 2:
        raise InvalidValue(
            f"dance {keyed.name!r} has {len(roles) - roles.count('free')} keys that are not free: the first and the "
            "last key must be fixed or preferred"
        )
    for key, which in ((keyed.keys[0], "first"), (keyed.keys[-1], "last")):
        if key.role == "free":
            raise InvalidValue(f"{key} is the {which} one: make it fixed or preferred, what is free lies between keys")


def completion_sentence(keyed: Keyed, done: Completed, troubles: list[str]) -> str:
    """What was done, in one sentence."""
    count = len(done.filled)
    exciting = count - len(done.calm)
    filled = f"filled {count} free key{'' if count == 1 else 's'}"
    if 0 < exciting < count:
        filled += f", {exciting} with exciting postures and {count - exciting} the calm way"
    else:
        filled += " with exciting postures" if exciting else " the calm way"
    if not done.feasible:
        return f"Not feasible yet, {filled}: {troubles[0] if troubles else remaining(done.worst)}"
    there = " there" if done.elsewhere else ""
    moved = f", the postures moved at most {far(keyed.rig, done.moved)} for it" if done.status != UNCHANGED else ""
    return f"{filled[0].upper()}{filled[1:]}; every check holds{there}{moved}"
