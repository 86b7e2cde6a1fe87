"""Results of the checks: margins, worst items and failures as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..base.arrays import HELD, frozen, frozen_times, take_ownership
from ..base.errors import InvalidValue, UnknownName
from ..contacts.schedule import Schedule
from ..scene.labels import append_time
from .check_definition import Check, NearMargins, smallest_margins


@dataclass(frozen=True, eq=False)
class Margin:
    """One check over all frames.

    Attributes:
        check: its row of the table.
        items: K names: joint coordinates, patches or pairs.
        links: (K,) links to colour when the item fails.
        pieces: values (n, K) of consecutive frames, or of the items that are near in them. They are joined when
            `values` is first read, because for most of a long dance only the smallest margins are needed.
        scale: a comfortable margin. Margins in different units are divided by it to be compared.
        tolerance: a limit counts as satisfied down to minus this margin.
        far_margin: margin of items that are too far away to be measured; infinite if all are measured.
        indices: (K,) of the check's items, if the pieces hold near ones only.
        smallest: (N,) smallest margin of each frame.
    """

    check: Check
    items: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]
    pieces: tuple[np.ndarray | NearMargins, ...] = field(repr=False)
    scale: float
    tolerance: float
    far_margin: float = np.inf
    indices: tuple[int, ...] = ()
    smallest: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.links) != len(self.items) or not self.items:
            raise InvalidValue(f"check {self.name!r} has {len(self.items)} items and links for {len(self.links)}")
        smallest = np.concatenate([smallest_margins(part) for part in self.pieces])
        smallest.setflags(write=False)
        object.__setattr__(self, "smallest", smallest)
        if np.isnan(smallest).any():  # a comparison with NaN would count as satisfied
            frame, item = np.argwhere(np.isnan(self.values))[0].tolist()
            raise InvalidValue(f"check {self.name!r} of {self.items[item]!r} is NaN in frame {frame}")
        if len(smallest) * len(self.items) * self.smallest.itemsize > HELD:
            _ = self.values  # large arrays are moved to a file at once

    @cached_property
    def values(self) -> np.ndarray:
        """(N, K) margins: negative beyond the limit, infinite where the check does not apply."""
        whole = [self._expand(part) if isinstance(part, NearMargins) else part for part in self.pieces]
        joined = frozen(
            self.name,
            take_ownership(whole[0] if len(whole) == 1 else np.concatenate(whole)),
            (None, len(self.items)),
            finite=False,
        )
        object.__setattr__(self, "pieces", (joined,))
        return joined

    def _expand(self, part: NearMargins) -> np.ndarray:
        values = np.full((len(part.values), len(self.items)), part.far_margin)
        values[:, np.searchsorted(self.indices, part.indices)] = part.values
        return values

    @property
    def name(self) -> str:
        """Name of the check."""
        return self.check.name

    @property
    def unit(self) -> str:
        """Unit of the margins."""
        return self.check.unit

    @property
    def relative_margin(self) -> np.ndarray:
        """(N,) smallest margin plus tolerance over the scale: negative for a failure, 1 or more if comfortable."""
        return (self.smallest + self.tolerance) / self.scale

    @property
    def worst_items(self) -> np.ndarray:
        """Index (N,) of the item with the smallest margin in each frame."""
        return self.values.argmin(axis=1)

    @property
    def failed(self) -> np.ndarray:
        """(N,) True where an item exceeds its limit by more than the tolerance."""
        return self.smallest < -self.tolerance

    @property
    def total_violation(self) -> float:
        """Sum of the violations beyond the tolerance, over all items and frames."""
        total, first, failed = 0.0, 0, self.failed
        for part in self.pieces:
            values = part.values if isinstance(part, NearMargins) else part
            fails = failed[first : first + len(values)]
            first += len(values)
            if fails.any():
                total -= float((values[fails] + self.tolerance).clip(max=0.0).sum())
        return total

    def worst(self, frame: int, time: float) -> Failure:
        """The item with the smallest margin in a frame."""
        column = int(self.values[frame].argmin())
        value = float(self.values[frame, column])
        return Failure(self.check, self.items[column], frame, time, value, value < -self.tolerance)


@dataclass(frozen=True, slots=True)
class Failure:
    """The worst item of one check in one frame.

    Attributes:
        check: its row of the table.
        item: name.
        frame: index; time: [s].
        margin: in the check's unit.
        failed: the limit is exceeded by more than the tolerance.
    """

    check: Check
    item: str
    frame: int
    time: float
    margin: float
    failed: bool

    @property
    def description(self) -> str:
        """What fails, and by how much: ``"joint torque of right ankle is 12 % beyond its limit"``."""
        return self.check.describe(self.item, self.margin, self.failed)

    def __str__(self) -> str:
        return append_time(self.description, self.time)


@dataclass(frozen=True, slots=True)
class Checks:
    """Results of all checks of a motion with a contact schedule. Frames first.

    Attributes:
        times: (N,) [s].
        margins: of each check, in a fixed order.
        schedule: contacts that were assumed; without any contact if none was given.
        patches: F names, the columns of ``foot_wrenches`` and ``loaded``.
        loaded: (N, F) True where the schedule puts load.
        zmp: (N, 2) [m] zero-moment point on the ground; NaN while airborne.
        com: (N, 3) [m] world.
        wrench: (N, 6) required external wrench [N, N m], world axes, about the world origin.
        foot_wrenches: (N, F, 6) its distribution over the patches, world axes, about the world origin.
        torques: (N, nv - 6) [N m] of the joints; NaN if no schedule was given.
        notes: what could not be checked, and why.
        skipped: checks that were not evaluated because no schedule was given.
    """

    times: np.ndarray
    margins: tuple[Margin, ...]
    schedule: Schedule
    patches: tuple[str, ...]
    loaded: np.ndarray
    zmp: np.ndarray
    com: np.ndarray
    wrench: np.ndarray
    foot_wrenches: np.ndarray
    torques: np.ndarray
    notes: tuple[str, ...] = ()
    skipped: tuple[Check, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        for name in ("loaded", "zmp", "com", "wrench", "foot_wrenches", "torques"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.times)

    def get_margin(self, name: str) -> Margin:
        """One check.

        Raises:
            UnknownName: no such check.
        """
        for margin in self.margins:
            if margin.name == name:
                return margin
        raise UnknownName(name, [margin.name for margin in self.margins])

    @property
    def feasible(self) -> bool:
        """Every evaluated check is satisfied in every frame."""
        return not self.failed.any()

    @property
    def failing(self) -> float:
        """Mean number of checks that a frame fails: also of frames that all fail one check, fewer may fail others."""
        return float(sum(margin.failed.mean() for margin in self.margins))

    @property
    def failed(self) -> np.ndarray:
        """(N,) True where a check fails."""
        return np.any([margin.failed for margin in self.margins], axis=0)

    @property
    def relative_margin(self) -> np.ndarray:
        """(N,) smallest relative margin of all checks, as the timeline draws it."""
        return np.min([margin.relative_margin for margin in self.margins], axis=0)

    def worst(self, frame: int) -> Failure:
        """The check with the smallest relative margin in a frame."""
        return self._worst_of(min(self.margins, key=lambda m: (m.values[frame].min() + m.tolerance) / m.scale), frame)

    @property
    def first_failures(self) -> tuple[Failure, ...]:
        """First failure of each failed check, earliest first."""
        return self.find_first_failures(np.ones(len(self), bool))

    def find_first_failures(self, frames: np.ndarray) -> tuple[Failure, ...]:
        """First failures within selected frames, a mask (N,)."""
        failing = [(m, m.failed & frames) for m in self.margins]
        found = [self._worst_of(m, int(np.argmax(failed))) for m, failed in failing if failed.any()]
        return tuple(sorted(found, key=lambda failure: failure.frame))

    @property
    def worst_failures(self) -> tuple[Failure, ...]:
        """Worst failure of each failed check, largest relative violation first."""
        failing = [m for m in self.margins if m.failed.any()]
        failing.sort(key=lambda m: float(m.smallest.min()) / m.scale)
        return tuple(self._worst_of(m, int(np.argmin(m.smallest))) for m in failing)

    @property
    def failed_ranges(self) -> tuple[tuple[int, int], ...]:
        """Intervals (start, stop) of failing frames, for markers on the timeline."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.failed, [False]]).astype(int)))
        return tuple((int(start), int(stop)) for start, stop in edges.reshape(-1, 2))

    def _worst_of(self, margin: Margin, frame: int) -> Failure:
        return margin.worst(frame, float(self.times[frame]))
