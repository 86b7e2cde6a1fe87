"""Checks a recording against its body: other readings of a wrong one are tried, and one that alone passes is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..base.errors import InputError, InvalidValue
from ..signals.trial import Recording
from ..skeleton.rig import Rig
from . import check_table
from .check_definition import InputCheck, InputProblem, InputToCheck


def check_recording(recording: Recording, rig: Rig | None = None, parts: Mapping[str, str] | None = None) -> Recording:
    """The recording as it must be read: as it is if it passes every check, or by the only other reading that does.

    Args:
        recording: from a reader, a stream or Blender.
        rig: the body that it is used with; None if none is known yet.
        parts: segment of each part of a person, as the user stated; None: by names and shape.

    Returns:
        the recording with the notes among its warnings, and with what was found of the body.

    Raises:
        InputError: a check fails, and no other reading or several pass. It names the file, what was compared, the
            readings that were tried and what makes it right.
        InvalidValue: joint coordinates that are not the rig's, or without a pose of the root.
    """
    inputs = InputToCheck(recording, rig, parts)
    try:
        found = find_problems(inputs)
    except InvalidValue as error:
        raise InvalidValue(f"trial {recording.name!r}: {error}") from None
    used, notes = "", [f"{recording.name}: {problem.text}. {problem.remedy}" for _, problem in found if problem.is_note]
    if failed := [(check, problem) for check, problem in found if not problem.is_note]:
        readings = [reading for check, _ in failed for reading in check.readings(inputs)]
        others = [inputs.read_as(reading.apply(recording)) for reading in readings]
        passing = [k for k, other in enumerate(others) if all(problem.is_note for _, problem in find_problems(other))]
        text = "; ".join(problem.text for _, problem in failed)
        if len(passing) != 1:
            tried = ", ".join(f"{r.name} ({'passes' if k in passing else 'fails'})" for k, r in enumerate(readings))
            text += f"; other readings tried: {tried}" if readings else ""
            file = next(iter(recording.inputs), recording.name)
            raise InputError(file, text, remedy=". ".join(problem.remedy for _, problem in failed))
        inputs, used, overrule = others[passing[0]], readings[passing[0]].name, readings[passing[0]].overrule
        overrules = f" ({overrule} overrules this)" if overrule else ""
        notes.append(f"{recording.name}: {text}; it is read with {used}{overrules}")
    warnings = tuple(dict.fromkeys((*inputs.recording.warnings, *notes)))
    return replace(inputs.recording, warnings=warnings, found=inputs.found_body(used))


def find_problems(inputs: InputToCheck) -> list[tuple[InputCheck, InputProblem]]:
    """What the checks find. One that the user overruled by its option gives a note."""
    found = [(check, check.measure(inputs)) for check in check_table.CHECKS]
    stated = inputs.recording.stated
    return [
        (check, replace(problem, is_note=problem.is_note or check.option in stated))
        for check, problem in found
        if problem is not None
    ]
