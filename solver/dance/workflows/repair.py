"""Balance an authored dance by moving it as little as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...contacts.recorded import NOT_FLAT
from ...coordinates import coordinate_lengths
from ...errors import InvalidValue
from ...feasibility import CheckOptions
from ...feasibility.sentences import plural_names, unsupported
from ...formats.text_table import table
from ...progress import Part, Progress, silent
from ...rig import Rig
from ...scene.words import angle, length, listed, spoken
from ...trajectory.ballistic import airborne_spans
from ..authoring import repair as authoring
from ..authoring.complete import Completed
from ..authoring.gentle_ends import with_gentle_ends
from ..authoring.keys import EXACT, Keyed
from ..authoring.repair import Moved, Repair, RepairOptions
from .answer import Answer
from .check import verdict_table
from .jumps import out_of_reach, too_weak
from .reading import read_keyed, require_support
from .slow import slowed
from .summaries import Conclusion, keyed_summary

SHOWN = 8
RATE = 100.0
"""[1/s] at least, of the repaired motion's samples."""
SEEN = 5e-5
"""[m, rad] A move below this is not mentioned beside others."""
RECORDED = "A recorded run, or what a chair or a box carried, can be retargeted, not repaired"
"""Said of a recording, in which nobody lays strips."""
HOPELESS = 4
"""Programmes at most where a jump is out of the legs' reach, or soles roll: the nearest motion is looked for only."""
SPARED = "little was searched: no motion makes a jump for which legs cannot stretch fast enough"
UNROLLED = "little was searched: soles that rolled would have to lie flat, which legs in a stride do not reach"
ROLLED = "let it be retargeted instead, slower, or keep the recording as it is"
HURRIED = "the search ended at its limit of effort: with a higher one it may repair more"


def repair(  # noqa: PLR0913 what a user asks of a repair, word by word
    dance: Keyed | str | Path,
    checks: CheckOptions | None = None,
    options: RepairOptions | None = None,
    *,
    slow_down: bool = False,
    rate: float = RATE,
    told: Sequence[str] = (),
    progress: Progress = silent,
) -> Answer:
    """Balance an authored dance: planted feet stay, every check holds, fixed keys are left alone.

    A dance that leaves its first posture too abruptly to stand there is begun more gently. What cannot be repaired is
    told: which fixed key stands in the way, why, and by how much.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz); or the file of a motion (.motion.npz): where the
            feet of a recording stand is found.
        checks: what must hold; by default what the dance carries.
        options: of the search.
        slow_down: first make it as slow as the joints' speeds need.
        rate: [1/s] of the repaired motion's samples, `RATE` or more; more where it jumps (`Keyed.sampling`).
        told: what was found of a recording that was read before (`reading.read_keyed`), a sentence each.
        progress: told about the progress; may cancel.

    Raises:
        InputError: no authored dance, or damaged.
        InvalidValue: nothing stands on the floor where something must.

    Example:
        >>> answer = solver.repair("keyed.json")  # doctest: +SKIP
        >>> print(answer.message)  # doctest: +SKIP
        >>> answer.write("repaired")  # doctest: +SKIP
    """
    keyed, found = (dance, ()) if isinstance(dance, Keyed) else read_keyed(dance)
    keyed = keyed.held_to(checks)
    try:
        require_support(keyed, jumps=False)
    except InvalidValue as error:
        raise error if keyed.keys else InvalidValue(f"{error}. {RECORDED}") from None
    notes = list(found)
    if slow_down:
        keyed, pace = slowed(keyed)
        notes += [f"it lasts {pace.after[-1] - pace.after[0]:.2f} s at the pace of its slowest joints"]
    keyed, gentle = with_gentle_ends(keyed, keyed.checks)
    notes += [f"it {note}" for note in gentle]
    options = options or RepairOptions()
    rolling = next((note for note in (*told, *found) if NOT_FLAT in note), "")
    hopeless = SPARED if out_of_reach(keyed) else UNROLLED if rolling else ""
    if hopeless:
        options = replace(options, programmes=min(options.programmes, HOPELESS))
    result = authoring.repair(keyed, keyed.checks, options, rate=max(keyed.sampling(rate, EXACT), RATE),
                              progress=Part(progress, 0.0, 0.95))  # fmt: skip
    notes += [hopeless or HURRIED] * result.hurried
    notes += [f"a step was left out, {flaw}" for flaw in result.flaws]
    thrown = airborne_spans(keyed.schedule)  # all of them short enough to be jumps
    rolls = [f"{rolling}; {ROLLED}"] * bool(rolling and not result.feasible)
    troubles = [*rolls, *unsupported(keyed.schedule, result.after, thrown), *too_weak(result), *explained(result)]
    message = repair_sentence(keyed.rig, result, troubles) + ("; its start or end is gentler now" if gentle else "")
    said = Conclusion("repair", result.status, message, troubles, notes)
    summary = keyed_summary(said, result.keyed, result.after, result.moved)
    return Answer(result.keyed, result.after, summary, repair_report(said, result), result)


def repair_sentence(rig: Rig, result: Repair, troubles: list[str]) -> str:
    """What was done, in one sentence."""
    if result.status == authoring.UNCHANGED:
        return "Nothing to repair: every check holds as it is"
    failed, left = ({f.check.name for f in checks.first_failures} for checks in (result.before, result.after))
    gone = plural_names(f.check for f in result.before.first_failures if f.check.name not in left)
    if result.feasible:
        return f"Repaired ({listed(gone)}): moved at most {far(rig, result.moved)}"
    why = troubles[0] if troubles else remaining(result)
    if result.status == authoring.FAILED:
        return f"Not repaired: {why}"
    counted = f"{len(gone)} of {len(failed)} checks hold again" if gone else "less fails than before"
    if fresh := len(left - failed):
        counted += f", but {fresh} that held {'do' if fresh > 1 else 'does'} not"
    return f"Only partly repaired, {counted}: {why}"


def remaining(result: Repair) -> str:
    """What fails most after the repair."""
    return str(result.after.worst_failures[0])


def far(rig: Rig, moved: Moved) -> str:
    """The largest move and the largest turn, and what turned: ``"4.1 cm and 6.0 deg (left knee)"``."""
    sliding = np.array([True, False, *coordinate_lengths(rig)])
    shift = float(np.where(sliding, moved.largest, 0.0).max())
    turn = int(np.argmax(np.where(sliding, -1.0, moved.largest)))
    name = "the body" if turn == 1 else spoken(moved.names[turn])
    said = [length(shift)] if shift > SEEN else []
    if moved.largest[turn] > SEEN or not said:
        said.append(f"{angle(moved.largest[turn])} ({name})")
    return " and ".join(said)


def explained(result: Repair | Completed) -> list[str]:
    """Fixed keys that stand in the way, with what can be done."""
    still, fast = "change its posture or mark it as preferred", "move more gently there or mark it as preferred"
    return [f"{trouble}; {still if trouble.failure.check.static else fast}" for trouble in result.troubles]


def repair_report(said: Conclusion, result: Repair | Completed) -> str:
    """The report for people, plain text."""
    moved = result.moved
    order = [k for k in np.argsort(-moved.rms)[:SHOWN] if moved.largest[k] > SEEN]
    rows = [(spoken(moved.names[k]), f"{moved.largest[k]:.4f}", f"{moved.rms[k]:.4f}") for k in order]
    parts = [said.message, "", verdict_table(result.after), "", f"{result.status} in {result.iterations} steps"]
    parts += ["", "moved most [m, rad]", table(("", "at most", "rms"), rows)] if rows else []
    parts += [f"stands in the way: {trouble}" for trouble in said.troubles]
    parts += [f"note: {note}" for note in (*said.notes, *result.after.notes)]
    return "\n".join(parts)
