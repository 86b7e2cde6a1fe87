"""Options of retargeting."""

from dataclasses import dataclass
from typing import Annotated

from .declared import ANY, POSITIVE, Option, Options


@dataclass(frozen=True, slots=True)
class RetargetOptions(Options):
    """Options of retargeting.

    Attributes:
        keep_timing: keep the timing even where joints are too fast or forces fail, and report it.
        slower: factor on the duration, besides what speed limits need.
        stride_ratio: ratio of horizontal distances to the recorded ones, scaled.
        stance_widening: [m] by which the feet are further apart sideways than the followed ones, scaled.
        allow_collisions: leave links that intersect as they are, instead of separating them.
        no_step_completion: leave steps that the recording cuts off at its start or end as they are, instead of
            completing them.
    """

    keep_timing: Annotated[bool, Option(label="Keep Timing")] = False
    slower: Annotated[float, Option(POSITIVE, label="Slowdown", slider=(1.0, 10.0))] = 1.0
    stride_ratio: Annotated[float, Option(POSITIVE, in_code_only=True)] = 1.0
    stance_widening: Annotated[float, Option(ANY, in_code_only=True)] = 0.0
    allow_collisions: Annotated[bool, Option(label="Allow Collisions")] = False
    no_step_completion: Annotated[bool, Option(label="No Step Completion")] = False
