"""Balance an authored dance by moving it as little as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...contacts.recorded_contacts import NOT_FLAT
from ...coordinates import coordinate_lengths
from ...errors import InvalidValue
from ...feasibility import CheckOptions
from ...feasibility.messages import describe_unsupported, plural_names
from ...formats.text_table import format_table
from ...progress import PartialProgress, Progress, silent
from ...rig import Rig
from ...scene.labels import display_name, format_angle, format_length, join_names
from ...trajectory.ballistic import find_flights
from ..authoring import repair as authoring
from ..authoring.authored_dance import EXACT_FLIGHT_RATE, AuthoredDance
from ..authoring.complete import CompletedDance
from ..authoring.easing import ease_ends
from ..authoring.repair import MoveSizes, RepairedDance, RepairOptions
from .check import format_check_table
from .edited_dance import EditedDance
from .jump_feasibility import explain_infeasible_jumps, jumps_exceed_leg_speed
from .loading import load_authored_with_notes, require_support
from .slow import slow_to_speed_limits
from .summaries import Conclusion, summarise_authored

SHOWN_MOVES = 8
MIN_RATE = 100.0
"""[1/s] at least, of the repaired motion's samples."""
VISIBLE_MOVE = 5e-5
"""[m, rad] A move below this is not mentioned beside others."""
RECORDING_REMEDY = "A recorded run, or what a chair or a box carried, can be retargeted, not repaired"
"""Said of a recording, in which nobody lays strips."""
LIMITED_PROGRAMS = 4
"""Programmes at most where a jump is out of the legs' reach, or soles roll: the nearest motion is looked for only."""
JUMP_NOTE = "little was searched: no motion makes a jump for which legs cannot stretch fast enough"
ROLLING_NOTE = "little was searched: soles that rolled would have to lie flat, which legs in a stride do not reach"
ROLLING_REMEDY = "let it be retargeted instead, slower, or keep the recording as it is"
LIMIT_NOTE = "the search ended at its limit of effort: with a higher one it may repair more"


def repair(  # noqa: PLR0913 what a user asks of a repair, word by word
    dance: AuthoredDance | str | Path,
    checks: CheckOptions | None = None,
    options: RepairOptions | None = None,
    *,
    slow_down: bool = False,
    rate: float = MIN_RATE,
    recording_notes: Sequence[str] = (),
    progress: Progress = silent,
) -> EditedDance:
    """Balance an authored dance: planted feet stay, every check holds, fixed keys are left alone.

    A dance that leaves its first posture too abruptly to stand there is begun more gently. What cannot be repaired is
    recording_notes: which fixed key stands in the way, why, and by how much.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz); or the file of a motion (.motion.npz): where the
            feet of a recording stand is found.
        checks: what must hold; by default what the dance carries.
        options: of the search.
        slow_down: first make it as slow as the joints' speeds need.
        rate: [1/s] of the repaired motion's samples, `RATE` or more; more where it jumps (`Keyed.sampling_rate`).
        recording_notes: what was found of a recording that was read before (`reading.load_authored_with_notes`), a
            sentence each.
        progress: told about the progress; may cancel.

    Raises:
        InputError: no authored dance, or damaged.
        InvalidValue: nothing stands on the floor where something must.

    Example:
        >>> answer = solver.repair("keyed.json")  # doctest: +SKIP
        >>> print(answer.message)  # doctest: +SKIP
        >>> answer.write("repaired")  # doctest: +SKIP
    """
    keyed, found = (dance, ()) if isinstance(dance, AuthoredDance) else load_authored_with_notes(dance)
    keyed = keyed.with_checks(checks)
    try:
        require_support(keyed, accept_jumps=False)
    except InvalidValue as error:
        raise error if keyed.keys else InvalidValue(f"{error}. {RECORDING_REMEDY}") from None
    notes = list(found)
    if slow_down:
        keyed, pace = slow_to_speed_limits(keyed)
        notes += [f"it lasts {pace.after[-1] - pace.after[0]:.2f} s at the pace of its slowest joints"]
    keyed, gentle = ease_ends(keyed, keyed.checks)
    notes += [f"it {note}" for note in gentle]
    options = options or RepairOptions()
    rolling = next((note for note in (*recording_notes, *found) if NOT_FLAT in note), "")
    hopeless = JUMP_NOTE if jumps_exceed_leg_speed(keyed) else ROLLING_NOTE if rolling else ""
    if hopeless:
        options = replace(options, max_programs=min(options.max_programs, LIMITED_PROGRAMS))
    result = authoring.repair(keyed, keyed.checks, options, rate=max(keyed.sampling_rate(rate, EXACT_FLIGHT_RATE),
        MIN_RATE),
                              progress=PartialProgress(progress, 0.0, 0.95))  # fmt: skip
    notes += [hopeless or LIMIT_NOTE] * result.limit_reached
    notes += [f"a step was left out, {flaw}" for flaw in result.rejected_steps]
    thrown = find_flights(keyed.schedule)  # all of them short enough to be jumps
    rolls = [f"{rolling}; {ROLLING_REMEDY}"] * bool(rolling and not result.feasible)
    troubles = [
        *rolls,
        *describe_unsupported(keyed.schedule, result.after, thrown),
        *explain_infeasible_jumps(result),
        *describe_conflicts(result),
    ]
    message = describe_repair(keyed.rig, result, troubles) + ("; its start or end is gentler now" if gentle else "")
    said = Conclusion("repair", result.status, message, troubles, notes)
    summary = summarise_authored(said, result.dance, result.after, result.moved)
    return EditedDance(result.dance, result.after, summary, format_repair_report(said, result), result)


def describe_repair(rig: Rig, result: RepairedDance, problems: list[str]) -> str:
    """What was done, in one sentence."""
    if result.status == authoring.UNCHANGED:
        return "Nothing to repair: every check holds as it is"
    failed, left = ({f.check.name for f in checks.first_failures} for checks in (result.before, result.after))
    gone = plural_names(f.check for f in result.before.first_failures if f.check.name not in left)
    if result.feasible:
        return f"Repaired ({join_names(gone)}): moved at most {describe_moves(rig, result.moved)}"
    why = problems[0] if problems else describe_remaining(result)
    if result.status == authoring.FAILED:
        return f"Not repaired: {why}"
    counted = f"{len(gone)} of {len(failed)} checks hold again" if gone else "less fails than before"
    if fresh := len(left - failed):
        counted += f", but {fresh} that held {'do' if fresh > 1 else 'does'} not"
    return f"Only partly repaired, {counted}: {why}"


def describe_remaining(result: RepairedDance) -> str:
    """What fails most after the repair."""
    return str(result.after.worst_failures[0])


def describe_moves(rig: Rig, moved: MoveSizes) -> str:
    """The largest move and the largest turn, and what turned: ``"4.1 cm and 6.0 deg (left knee)"``."""
    sliding = np.array([True, False, *coordinate_lengths(rig)])
    shift = float(np.where(sliding, moved.largest, 0.0).max())
    turn = int(np.argmax(np.where(sliding, -1.0, moved.largest)))
    name = "the body" if turn == 1 else display_name(moved.names[turn])
    said = [format_length(shift)] if shift > VISIBLE_MOVE else []
    if moved.largest[turn] > VISIBLE_MOVE or not said:
        said.append(f"{format_angle(moved.largest[turn])} ({name})")
    return " and ".join(said)


def describe_conflicts(result: RepairedDance | CompletedDance) -> list[str]:
    """Fixed keys that stand in the way, with what can be done."""
    still, fast = "change its posture or mark it as preferred", "move more gently there or mark it as preferred"
    return [f"{trouble}; {still if trouble.failure.check.fails_at_rest else fast}" for trouble in result.conflicts]


def format_repair_report(conclusion: Conclusion, result: RepairedDance | CompletedDance) -> str:
    """The report for people, plain text."""
    moved = result.moved
    order = [k for k in np.argsort(-moved.rms)[:SHOWN_MOVES] if moved.largest[k] > VISIBLE_MOVE]
    rows = [(display_name(moved.names[k]), f"{moved.largest[k]:.4f}", f"{moved.rms[k]:.4f}") for k in order]
    parts = [
        conclusion.message,
        "",
        format_check_table(result.after),
        "",
        f"{result.status} in {result.iterations} steps",
    ]
    parts += ["", "moved most [m, rad]", format_table(("", "at most", "rms"), rows)] if rows else []
    parts += [f"stands in the way: {trouble}" for trouble in conclusion.problems]
    parts += [f"note: {note}" for note in (*conclusion.notes, *result.after.notes)]
    return "\n".join(parts)
