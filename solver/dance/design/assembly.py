"""Assembly of a dance: join the sequences of all stances by steps, mirror motifs and align them to beats."""

from __future__ import annotations

from dataclasses import replace

from ...errors import InvalidValue
from ...trajectory.segment import DanceSegment, hold_posture
from .dance import Dance, TraceEntry
from .mirror import Mirror
from .plan import DesignTask, StancePlan
from .posture_choice import PostureChoice
from .sequence import PostureSequences
from .style import align_to_beats
from .transitions import TransitionPlanner


def assemble_dance(task: DesignTask, plan: StancePlan, choice: PostureChoice, sequences: PostureSequences) -> Dance:
    """Join the sequences of postures by steps from home and back to it.

    Raises:
        InvalidValue: a mirrored motif is not feasible, with what fails.
    """
    options, planner, step_planner = task.options, task.planner, plan.step_planner
    both, home = step_planner.both, step_planner.home
    segments: list[DanceSegment] = [hold_posture("home", home, options.hold, both.solved, both.anchors)]
    postures: list[int] = []
    names: list[str] = []
    trace: list[TraceEntry] = []
    notes: list[str] = []
    here = "both"
    for block in plan.blocks:
        own = sequences.by_configuration[block.motif_configuration]
        if not own:
            continue
        entry, exit_ = plan.ends[block.configuration]
        segments += step_planner.plan_steps(here, entry)
        here = exit_
        if block.mirrored:
            first = len(segments)
            for sequence in own:
                postures += [len(segments) + index for index in sequence.postures]
                names += [f"{name}, mirrored" if name else "" for name in sequence.names]
                for segment in sequence.segments:
                    image, note = _mirror_segment(planner, segment, block.configuration)
                    segments.append(image)
                    notes += note
            notes.append(f"from segment {first} on: the motif of {block.motif_configuration}, mirrored")
            continue
        for sequence in own:
            first = len(segments)
            segments += sequence.segments
            postures += [first + index for index in sequence.postures]
            names += sequence.names
            trace += [replace(entry, segment=first + entry.segment) for entry in sequence.trace]
        if not own[-1].reached_stop:
            footing = plan.stances[block.motif_configuration].footing
            path, _ = planner.plan_straight(
                "to the next step", own[-1].stop, step_planner.standing_posture(exit_), footing
            )
            if path is None:
                break
            segments.append(path)
    else:
        segments += step_planner.plan_steps(here, "both")
    if options.style is not None:
        segments, indices = align_to_beats(segments, options.style)
        postures = [int(indices[k]) for k in postures]
        trace = [replace(entry, segment=int(indices[entry.segment])) for entry in trace]
    complete = len(postures) == plan.requested and not sequences.cancelled
    return Dance(
        task.rig, tuple(segments), options.checks, options.step, tuple(postures), tuple(trace), choice.criterion,
        options.seed, complete,
        tuple(dict.fromkeys([*plan.notes, *sequences.notes, *notes, *step_planner.notes])),
        {"left out": plan.requested - len(postures)}, tuple(names) if options.poses else (),
        tuple(dict.fromkeys([*plan.missing, *sequences.missing])),
    )  # fmt: skip


def _mirror_segment(
    planner: TransitionPlanner, segment: DanceSegment, configuration: str
) -> tuple[DanceSegment, list[str]]:
    """A segment's mirror image, or the straight path between its ends where an asymmetric body fails it; and notes.

    Raises:
        InvalidValue: neither is feasible, with what fails.
    """
    footing = planner.legged.get_footing(configuration)
    image = Mirror(planner.legged).mirror_segment(segment, footing)
    checks, worst = planner.check_segment(image)
    if worst >= 0.0:
        return image, []
    straight = None
    if segment.kind != "hold":
        straight, _ = planner.plan_straight(image.name, image.start, image.stop, footing)
    if straight is None:
        failed = "; ".join(str(failure) for failure in checks.worst_failures if failure.failed)
        raise InvalidValue(
            f"the motif cannot be mirrored: {segment.name} in the mirror: {failed}; dance without mirrored motifs"
        )
    return straight, [f"{image.name}: replaced by the straight path, because its mirror image is not feasible"]
