"""All checks of a motion, or of one frame while scrubbing: bonnet2016 (2), (14) to (20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..check_options import CheckOptions
from ..contacts.schedule import Phase, Schedule
from ..coordinates import Curves
from ..dynamics.kinematics import require_matching_motion as require_motion_of
from ..errors import InvalidValue
from ..motion import Motion
from ..rig import Rig
from . import check_table as table
from .cache import CheckCache, CheckedPiece
from .check_definition import Check, CheckItems, NearMargins, smallest_margins
from .check_input import Body, CheckInput, PlantedPhase
from .check_results import Checks, Margin
from .joint_limits import missing_limits
from .load_derivatives import LinearisedLoads, OtherLimits, linearise_loads

CHUNK_FRAMES = 512
"""Frames treated at once: bounds the memory of a long dance."""
FLOOR_TOLERANCE = 0.02
"""[m] Where the lowest sole is planted farther from the floor, nothing stands on it: the floor is elsewhere."""
MIN_SCALE = 1e-9
LARGEST_VALUE = 1e12
"""[m, N, N m] No dance comes near; what is computed of more loses its digits, and then overflows."""


def check_motion(
    rig: Rig,
    motion: Motion,
    schedule: Schedule | None,
    options: CheckOptions | None = None,
    *,
    measured_wrench: np.ndarray | None = None,
) -> Checks:
    """Check a motion against its contact schedule: every margin of `table.CHECKS` in every frame.

    Without a schedule those are left out that must know which patch stands where; the result says which.

    Args:
        rig: that moves.
        motion: N frames of it.
        schedule: when which patch stands where; None where nobody knows.
        options: what must hold.
        measured_wrench: (N, 6) what pushed [N, N m], world axes about the world origin; by default what the motion
            needs.

    Raises:
        InvalidValue: a rig without contact patches, a motion of another rig or outside the schedule, a support
            polygon without area, feet planted off the floor. What fails a check is data, not an error.
    """
    if schedule is not None:
        return FrameChecker(rig, schedule, options).check_frames(motion, measured_wrench=measured_wrench)
    _require_nonempty(motion)
    nowhere = Schedule.constant((), float(motion.times[0]), float(motion.times[-1]) + 1.0)
    return FrameChecker(rig, nowhere, options, contacts=False).check_frames(motion)


class FrameChecker:
    """The checks with everything prepared that does not depend on the frame.

    Args:
        rig: L links, F contact patches.
        schedule: when which patch stands where.
        options: `CheckOptions()` by default.
        contacts: the schedule tells what stands; otherwise it is airborne for want of a better one.

    Attributes:
        body: the rig prepared.
        notes: what cannot be checked on this rig, and why.
        skipped: checks that are not made, because nothing tells what stands.
    """

    def __init__(
        self, rig: Rig, schedule: Schedule, options: CheckOptions | None = None, *, contacts: bool = True
    ) -> None:
        if contacts:
            rig.require_contacts()
        self.rig, self.options = rig, CheckOptions() if options is None else options
        self.body = Body(rig, self.options)
        self.notes = (*missing_limits(rig), *self.body.detector.notes)
        self.schedule = schedule
        self.skipped = tuple(check for check in table.CHECKS if check.needs_contacts and not contacts)
        self._items = [(check, check.items(self.body)) for check in table.CHECKS if check not in self.skipped]
        self._planted: dict[int, PlantedPhase] = {}

    def with_schedule(self, schedule: Schedule) -> FrameChecker:
        """This checker (the same object) with another schedule."""
        self.schedule, self._planted = schedule, {}
        return self

    def check(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, time: float) -> Checks:
        """One frame: q (nq,), v (nv,), a (nv,) at a time [s]; the result has N = 1."""
        return self.check_frames(Motion(np.array([time]), q[None], v[None], a[None]))

    def check_frames(
        self, motion: Motion, cache: CheckCache | None = None, *, measured_wrench: np.ndarray | None = None
    ) -> Checks:
        """A whole motion; see `require_matching_motion`.

        Args:
            motion: to check.
            cache: of what was checked before; pieces that did not move are taken from it, all are put into it.
            measured_wrench: (N, 6) what pushed, instead of what the motion needs; not together with a memory.

        Raises:
            InvalidValue: besides those of `require_matching_motion`, measured wrenches of other frames, or together
                with a memory.
        """
        require_motion_of(self.rig, motion)
        _require_nonempty(motion)
        if measured_wrench is not None and (cache is not None or np.shape(measured_wrench) != (len(motion), 6)):
            raise InvalidValue("measured wrenches are (frames, 6), and no memory keeps what was found with them")
        pieces = []
        for cut, planted in self._split(motion.times):
            part = Motion(motion.times[cut], motion.q[cut], motion.v[cut], motion.a[cut])
            known = None if cache is None else cache.find(part, planted.phase)
            pushed = None if measured_wrench is None else measured_wrench[cut]
            piece = self._evaluate_piece(planted, part, pushed) if known is None else known
            if cache is not None:
                cache.store(part, planted.phase, piece, known is None)
            pieces.append((cut, planted, piece))
        if cache is not None:
            cache.finish_motion()
        return self._assemble(motion, pieces)

    def _evaluate_piece(
        self, planted: PlantedPhase, part: Motion, measured_wrench: np.ndarray | None = None
    ) -> CheckedPiece:
        now = CheckInput.from_motion(
            self.body, planted, self.schedule.ground, Curves(part.q, part.v, part.a), measured_wrench
        )
        margins = tuple(_margins(check, items, now) for check, items in self._items)
        # what the floor gives the joints to carry is not known where nothing tells what stands
        torques = np.full_like(now.torques, np.nan) if self.skipped else now.torques
        return CheckedPiece(margins, now.zmp, now.state.com, now.state.wrench, now.loads, torques)

    def _assemble(self, motion: Motion, pieces: Sequence[tuple[slice, PlantedPhase, CheckedPiece]]) -> Checks:
        count, patches = len(motion), len(self.rig.contacts)
        zmp, com, wrench, torques = (
            np.concatenate([getattr(piece, name) for _, _, piece in pieces])
            for name in ("zmp", "com", "wrench", "torques")
        )
        loads, loaded = np.zeros((count, patches, 6)), np.zeros((count, patches), bool)
        for cut, planted, piece in pieces:
            loads[cut, planted.patch_indices], loaded[cut, planted.patch_indices] = piece.loads, True
        floor = np.full((count, 1), self.schedule.ground)
        _require_bounded(motion.times, np.concatenate([com, wrench, floor], axis=1))
        margins = tuple(
            self._join(check, items, [piece.margins[k] for _, _, piece in pieces])
            for k, (check, items) in enumerate(self._items)
            if items.names or isinstance(pieces[0][2].margins[k], NearMargins)
        )
        return Checks(
            motion.times, margins, self.schedule, self.rig.patches, loaded, zmp, com, wrench, loads, torques,
            self.notes, self.skipped,
        )  # fmt: skip

    def loads(self, curves: Curves, phase: Phase) -> LinearisedLoads:
        """What frames of one phase ask of joints and floor, with slopes; others are the checks of `transitions`."""
        planted = PlantedPhase.from_phase(self.rig, phase, self.options)
        wanted = [(check, items) for check, items in self._items if check.limits_transitions]

        def others(now: CheckInput) -> np.ndarray:
            return (
                np.array([smallest_margins(_margins(check, items, now)) for check, items in wanted])
                .reshape(-1, len(now))
                .T
            )

        def heights(now: CheckInput) -> np.ndarray:
            found = table.FLOOR.margins(now)
            assert not isinstance(found, NearMargins)
            return found

        slack = np.array([check.sampling_margin for check, _ in wanted])
        return linearise_loads(
            self.body, planted, curves, OtherLimits(others, slack, heights, table.FLOOR.sampling_margin)
        )

    def _split(self, times: np.ndarray) -> Iterator[tuple[slice, PlantedPhase]]:
        phases = self.schedule.index_at(times)
        starts = np.flatnonzero(np.diff(phases, prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(times)]):
            planted = self._planted_phase(int(phases[first]))
            for start in range(first, last, CHUNK_FRAMES):
                yield slice(start, min(start + CHUNK_FRAMES, last)), planted

    def _planted_phase(self, number: int) -> PlantedPhase:
        if number not in self._planted:
            planted = PlantedPhase.from_phase(self.rig, self.schedule.phases[number], self.options)
            self._require_floor(planted)
            self._planted[number] = planted
        return self._planted[number]

    def _require_floor(self, planted: PlantedPhase) -> None:
        """No patch is planted below the floor, nor any above it unless others stand on it: that one is on something."""
        ground = self.schedule.ground
        for anchor, height in zip(planted.phase.anchors, planted.centres[:, 2] - ground):
            if planted.load_distribution is not None and abs(height) > FLOOR_TOLERANCE:
                raise InvalidValue(
                    f"patch {anchor.patch!r} is planted {height:+.3f} m off the floor at {ground:g} m together with "
                    f"{len(planted.phase.anchors) - 1} others: hands, knees and more than two feet carry on one floor "
                    "only; move the patch onto it or take it out of the schedule"
                )
            if height < -FLOOR_TOLERANCE or height > FLOOR_TOLERANCE < self._lowest_anchor - ground:
                raise InvalidValue(
                    f"patch {anchor.patch!r} is planted {height:+.3f} m off the floor at {ground:g} m, and none lower: "
                    "move the rig or the schedule's ground"
                )

    @property
    def _lowest_anchor(self) -> float:
        """[m] Of the heights at which patches are planted."""
        anchors = [anchor for phase in self.schedule.phases for anchor in phase.anchors]
        return min(float(anchor.points(self.rig)[:, 2].mean()) for anchor in anchors)

    def _join(self, check: Check, items: CheckItems, pieces: list[np.ndarray | NearMargins]) -> Margin:
        scale, tolerance = max(check.comfortable_margin(self.body), MIN_SCALE), self.options.tolerance
        near = [piece for piece in pieces if isinstance(piece, NearMargins)]
        if not near:
            return Margin(check, items.names, items.links, tuple(pieces), scale, tolerance)
        columns = tuple(np.unique(np.concatenate([piece.indices for piece in near])).astype(int).tolist())
        if columns:
            items = CheckItems(tuple(items.names[k] for k in columns), tuple(items.links[k] for k in columns))
        else:
            items = CheckItems((check.no_items_label,), ((),))
        return Margin(check, items.names, items.links, tuple(pieces), scale, tolerance, near[0].far_margin, columns)


def _require_nonempty(motion: Motion) -> None:
    if not len(motion):
        raise InvalidValue("a motion without frames cannot be checked")


def _require_bounded(times: np.ndarray, values: np.ndarray) -> None:
    if (beyond := ~(np.abs(values) <= LARGEST_VALUE).all(axis=1)).any():
        frame = int(np.argmax(beyond))
        raise InvalidValue(
            f"frame {frame} at {times[frame]:g} s needs forces, or lies at a place, beyond all measure: look for a "
            "height, a place, a time or a mass of a wrong order of magnitude"
        )


def _margins(check: Check, items: CheckItems, now: CheckInput) -> np.ndarray | NearMargins:
    return check.margins(now) if check.applies_to(now) else np.full((len(now), len(items.names)), np.inf)
