"""Low-pass filters by name; without imports, so that options are checked before numerical libraries are loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..base.errors import InvalidValue, UnknownPreset


@dataclass(frozen=True, slots=True)
class FilterPreset:
    """A low-pass Butterworth filter applied forwards and backwards.

    Two passes double the attenuation: at the nominal cut-off the amplitude is 1/2, not 1/sqrt(2). The papers give the
    nominal figure of one pass, so that is the default. With ``corrected`` the single pass is designed at
    cutoff / (sqrt(2) - 1)^(1 / (2 order)), so that both passes together have 1/sqrt(2) at ``cutoff``.

    Attributes:
        name: of the preset.
        order: of one pass.
        cutoff: [Hz].
        note: source of the figures.
        corrected: whether ``cutoff`` is that of both passes together.
    """

    name: str
    order: int
    cutoff: float
    note: str = ""
    corrected: bool = False

    def __post_init__(self) -> None:
        if self.order < 1 or not 0.0 < self.cutoff < math.inf:
            raise InvalidValue(f"filter {self.name!r}: order {self.order} and cut-off {self.cutoff:g} must be positive")

    @property
    def design_cutoff(self) -> float:
        """Cut-off of the single pass [Hz]."""
        return self.cutoff / (math.sqrt(2.0) - 1.0) ** (0.5 / self.order) if self.corrected else self.cutoff


PRESETS: Mapping[str, FilterPreset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            FilterPreset("jovic_hrp2", 3, 20.0, "jovic2016 VI, sensors of HRP-2"),
            FilterPreset("jovic_human", 3, 6.0, "jovic2016 VI, markers of the human; the wrench gets the same"),
            FilterPreset("bonnet_hoap3", 5, 10.0, "bonnet2016 V.C, all data of HOAP-3, zero phase"),
            FilterPreset("ayusawa", 3, 10.0, "ayusawa IV, thrown chain, forward and reverse"),
            FilterPreset("human_8hz", 3, 8.0, "whole-body motion with landings; both sides of our comparison figures"),
        )
    }
)
"""Named filters. bonnet2016 states none for its human, bailly2019's are complementary ones, not low-passes of data."""


def preset_of(name: str) -> FilterPreset:
    """The preset of that name.

    Raises:
        UnknownPreset: none has it.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise UnknownPreset(name, PRESETS) from None
