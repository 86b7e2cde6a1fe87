"""What is danced on which footing, in which order, and how many postures of each are designed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...errors import InvalidValue
from .options import DanceOptions
from .style import Style

CONFIGURATION_ORDER = ("both", "left", "right_forward", "right")
"""Order in which foot configurations are danced: of all orders the one with the fewest steps between them."""


@dataclass(frozen=True, slots=True)
class Block:
    """Moves on one footing.

    Attributes:
        configuration: foot configuration.
        designed_in: configuration whose moves they are; empty: its own.
        mirrored: seen in the mirror.
    """

    configuration: str
    designed_in: str = ""
    mirrored: bool = False

    @property
    def motif_configuration(self) -> str:
        """Configuration that the moves were designed in."""
        return self.designed_in or self.configuration


def order_blocks(configurations: Sequence[str], style: Style | None) -> list[Block]:
    """What is danced where, in order: with mirrored motifs each side's and, at the end, the first."""
    blocks = [Block(name) for name in configurations]
    if style is None or not style.mirrored:
        return blocks
    for place, block in reversed(list(enumerate(blocks))):
        if block.configuration == "left":
            blocks.insert(place + 1, Block("right", "left", mirrored=True))
    return [*blocks, *(Block("both", "both", mirrored=True) for block in blocks if block.configuration == "both")]


def apply_style(options: DanceOptions) -> DanceOptions:
    """The postures to design: half of those that come again in the mirror, none on one foot for a beginner.

    Raises:
        InvalidValue: a beginner's dance on one foot alone.
    """
    style = options.style
    if style is None:
        return options
    postures = dict(options.postures)
    if not style.skill_limits.allows_one_leg:
        postures = {name: count for name, count in postures.items() if name not in ("left", "right")}
        if not any(postures.values()):
            raise InvalidValue(f"{style.skill}s do not stand on one foot: ask for postures on both feet as well")
    if style.mirrored:
        postures["both"] = -(-postures.get("both", 0) // 2)
        postures["left"] = -(-(postures.get("left", 0) + postures.pop("right", 0)) // 2)
    return replace(options, postures=postures)
