"""Evaluates all checks of a motion, or of one frame while scrubbing: bonnet2016 (2), (14) to (20).

After one posture of a dance is moved, only the frames that changed are checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import InvalidValue
from ..base.file_arrays import CACHED_FRAMES
from ..contacts.schedule import Phase, Schedule
from ..dynamics.coordinates import Curves
from ..dynamics.kinematics import require_matching_motion
from ..options.checks import CheckOptions
from ..skeleton.rig import Rig
from ..values.motion import Motion
from . import check_table
from .check_definition import Check, CheckItems, NearMargins, smallest_margins
from .check_input import RULE_SOLES, CheckedBody, CheckInput, PlantedPhase
from .check_results import Checks, Margin
from .checks.collisions import FLOOR
from .checks.joint_limits import missing_limits
from .load_derivatives import LinearisedLoads, OtherLimits, linearise_loads

FLOOR_TOLERANCE = 0.02
"""[m] If the lowest sole is planted farther from the floor, the schedule's ground is at the wrong height."""
MIN_SCALE = 1e-9
LARGEST_VALUE = 1e12
"""[m, N, N m] Larger values occur in no motion; computations with them lose their digits and then overflow."""
SAME_FRAME = {"q": 1e-9, "v": 1e-7, "a": 1e-5}
"""[rad, m and their rates] Frames that differ by less are the same; the tolerance of the checks is 1e-4."""


def check_motion(
    rig: Rig,
    motion: Motion,
    schedule: Schedule | None,
    options: CheckOptions | None = None,
    *,
    measured_wrench: np.ndarray | None = None,
) -> Checks:
    """Check a motion against its contact schedule: every margin of `check_table.CHECKS` in every frame.

    Args:
        rig: that moves.
        motion: N frames.
        schedule: which patch is planted where, and when. None if unknown: checks that need contacts are skipped, and
            the result lists them.
        options: the limits.
        measured_wrench: (N, 6) external wrench [N, N m], world axes, about the world origin; by default the wrench that
            the motion requires.

    Raises:
        InvalidValue: the rig has no contact patches, the motion belongs to another rig or leaves the schedule, a
            support polygon has no area, or feet are planted off the floor. A failed check is a result, not an error.
    """
    if schedule is not None:
        return FrameChecker(rig, schedule, options).check_frames(motion, measured_wrench=measured_wrench)
    _require_nonempty(motion)
    nowhere = Schedule.constant((), float(motion.times[0]), float(motion.times[-1]) + 1.0)
    return FrameChecker(rig, nowhere, options, contacts=False).check_frames(motion)


class FrameChecker:
    """All checks of a rig, with everything that does not depend on the frame computed once.

    Args:
        rig: L links, F contact patches.
        schedule: which patch is planted where, and when.
        options: `CheckOptions()` by default.
        contacts: the schedule is known. If not, it is a placeholder without contacts.

    Attributes:
        body: the rig with its collision and dynamics models.
        notes: what cannot be checked on this rig, and why.
        skipped: checks that are not evaluated because the contacts are unknown.
    """

    def __init__(
        self, rig: Rig, schedule: Schedule, options: CheckOptions | None = None, *, contacts: bool = True
    ) -> None:
        if contacts:
            rig.require_contacts()
        self.rig, self.options = rig, CheckOptions() if options is None else options
        self.body = CheckedBody(rig, self.options)
        self.notes = (*missing_limits(rig), *self.body.detector.notes)
        self.schedule = schedule
        self.skipped = tuple(check for check in check_table.CHECKS if check.needs_contacts and not contacts)
        self._items = [(check, check.items(self.body)) for check in check_table.CHECKS if check not in self.skipped]
        self._planted: dict[int, PlantedPhase] = {}

    def with_schedule(self, schedule: Schedule) -> FrameChecker:
        """This checker (the same object) with another schedule."""
        self.schedule, self._planted = schedule, {}
        return self

    def check(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, time: float) -> Checks:
        """Check one frame: q (nq,), v (nv,), a (nv,) at a time [s]; the result has N = 1."""
        return self.check_frames(Motion(np.array([time]), q[None], v[None], a[None]))

    def check_frames(
        self, motion: Motion, cache: CheckCache | None = None, *, measured_wrench: np.ndarray | None = None
    ) -> Checks:
        """Check a whole motion; see `check_motion`.

        Args:
            motion: N frames.
            cache: results of the previous motion. Unchanged pieces are taken from it, and all pieces are stored in it.
            measured_wrench: (N, 6) external wrench to use instead of the required one; not together with a cache.

        Raises:
            InvalidValue: as `check_motion`; also if the measured wrench has another number of frames or is given
                together with a cache.
        """
        require_matching_motion(self.rig, motion)
        _require_nonempty(motion)
        if measured_wrench is not None and (cache is not None or np.shape(measured_wrench) != (len(motion), 6)):
            raise InvalidValue(
                f"the measured wrench must have shape ({len(motion)}, 6), and it cannot be combined with a cache"
            )
        pieces = []
        for frames, planted in self._split(motion.times):
            part = Motion(motion.times[frames], motion.q[frames], motion.v[frames], motion.a[frames])
            known = None if cache is None else cache.find(part, planted.phase)
            wrench = None if measured_wrench is None else measured_wrench[frames]
            piece = self._evaluate_piece(planted, part, wrench) if known is None else known
            if cache is not None:
                cache.store(part, planted.phase, piece, known is None)
            pieces.append((frames, planted, piece))
        if cache is not None:
            cache.finish_motion()
        return self._assemble(motion, pieces)

    def _evaluate_piece(
        self, planted: PlantedPhase, part: Motion, measured_wrench: np.ndarray | None = None
    ) -> CheckedPiece:
        curves = Curves(part.q, part.v, part.a)
        inputs = CheckInput.from_motion(self.body, planted, self.schedule.ground, curves, measured_wrench)
        inputs = replace(inputs, times=part.times)
        margins = tuple(_margins(check, items, inputs) for check, items in self._items)
        # without known contacts the ground reaction forces, and so the joint torques, are unknown
        torques = np.full_like(inputs.torques, np.nan) if self.skipped else inputs.torques
        return CheckedPiece(margins, inputs.zmp, inputs.state.com, inputs.state.wrench, inputs.loads, torques)

    def _assemble(self, motion: Motion, pieces: Sequence[tuple[slice, PlantedPhase, CheckedPiece]]) -> Checks:
        count, patches = len(motion), len(self.rig.contacts)
        zmp, com, wrench, torques = (
            np.concatenate([getattr(piece, name) for _, _, piece in pieces])
            for name in ("zmp", "com", "wrench", "torques")
        )
        loads, loaded = np.zeros((count, patches, 6)), np.zeros((count, patches), bool)
        for frames, planted, piece in pieces:
            loads[frames, planted.patch_indices], loaded[frames, planted.patch_indices] = piece.loads, True
        _require_bounded(motion.times, np.concatenate([com, wrench, np.full((count, 1), self.schedule.ground)], axis=1))
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
        """Joint torques and contact loads of frames in one phase, with derivatives.

        The other margins are those of the checks with `Check.limits_transitions`.
        """
        planted = PlantedPhase.from_phase(self.rig, phase, self.options)
        limiting = [(check, items) for check, items in self._items if check.limits_transitions]

        def load_margins(inputs: CheckInput) -> np.ndarray:
            margins = [smallest_margins(_margins(check, items, inputs)) for check, items in limiting]
            return np.array(margins).reshape(-1, len(inputs)).T

        def height_margins(inputs: CheckInput) -> np.ndarray:
            margins = FLOOR.margins(inputs)
            assert not isinstance(margins, NearMargins)
            return margins

        sampling_margins = np.array([check.sampling_margin for check, _ in limiting])
        other_limits = OtherLimits(load_margins, sampling_margins, height_margins, FLOOR.sampling_margin)
        return linearise_loads(self.body, planted, curves, other_limits)

    def _split(self, times: np.ndarray) -> Iterator[tuple[slice, PlantedPhase]]:
        phases = self.schedule.index_at(times)
        starts = np.flatnonzero(np.diff(phases, prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(times)]):
            planted = self._planted_phase(int(phases[first]))
            for start in range(first, last, CACHED_FRAMES):
                yield slice(start, min(start + CACHED_FRAMES, last)), planted

    def _planted_phase(self, number: int) -> PlantedPhase:
        if number not in self._planted:
            planted = PlantedPhase.from_phase(self.rig, self.schedule.phases[number], self.options)
            self._require_floor(planted)
            self._planted[number] = planted
        return self._planted[number]

    def _require_floor(self, planted: PlantedPhase) -> None:
        """Raise `InvalidValue` for patches planted at an impossible height.

        No patch may be planted below the floor. One may be planted above it, on an object, if others are on the floor.
        """
        ground = self.schedule.ground
        for anchor, height in zip(planted.phase.anchors, planted.centres[:, 2] - ground):
            others = len(planted.links) > RULE_SOLES or not all(self.rig.patch(p).sole for p in planted.phase.loaded)
            if others and abs(height) > FLOOR_TOLERANCE:
                raise InvalidValue(
                    f"patch {anchor.patch!r} is planted {height:+.3f} m off the floor at {ground:g} m together with "
                    f"{len(planted.phase.anchors) - 1} others. Hands, knees and more than two feet need one "
                    "level floor: move the patch onto it or remove it from the schedule"
                )
            if height < -FLOOR_TOLERANCE or height > FLOOR_TOLERANCE < self._lowest_anchor - ground:
                raise InvalidValue(
                    f"patch {anchor.patch!r} is planted {height:+.3f} m off the floor at {ground:g} m, and no patch is "
                    "planted lower: move the rig or the schedule's ground"
                )

    @property
    def _lowest_anchor(self) -> float:
        """[m] Smallest height at which a patch is planted."""
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
        raise InvalidValue("the motion has no frames to check")


def _require_bounded(times: np.ndarray, values: np.ndarray) -> None:
    if (beyond := ~(np.abs(values) <= LARGEST_VALUE).all(axis=1)).any():
        frame = int(np.argmax(beyond))
        raise InvalidValue(
            f"frame {frame} at {times[frame]:g} s needs a force or has a position above {LARGEST_VALUE:g}: look for a "
            "height, a position, a time or a mass of the wrong order of magnitude"
        )


def _margins(check: Check, items: CheckItems, inputs: CheckInput) -> np.ndarray | NearMargins:
    return check.margins(inputs) if check.applies_to(inputs) else np.full((len(inputs), len(items.names)), np.inf)


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """Results of the checks in n consecutive frames of one contact phase.

    Attributes:
        margins: of each check, in the checker's order: (n, K) values, or those of near items.
        zmp: (n, 2) [m]; com: (n, 3) [m].
        wrench: (n, 6) [N, N m]; loads: (n, P, 6) [N, N m]; torques: (n, nv - 6) [N m].
    """

    margins: tuple[np.ndarray | NearMargins, ...]
    zmp: np.ndarray
    com: np.ndarray
    wrench: np.ndarray
    loads: np.ndarray
    torques: np.ndarray


class CheckCache:
    """Pieces of the motion that one checker checked last, by their first and last times.

    Attributes:
        requested, checked: number of pieces in the last motion, and of those that were not in the cache.
    """

    def __init__(self) -> None:
        self._previous: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._current: dict[tuple[float, float, int], tuple[Motion, Phase, CheckedPiece]] = {}
        self._new = 0
        self.requested = self.checked = 0

    def find(self, part: Motion, phase: Phase) -> CheckedPiece | None:
        """Results for the same frames with the same contacts; None if the frames changed or are new."""
        known = self._previous.get(_key(part))
        if known is None:
            return None
        before, contacts, piece = known
        unchanged = all(
            np.abs(getattr(before, name) - getattr(part, name)).max() <= tolerance
            for name, tolerance in SAME_FRAME.items()
        )
        same = unchanged and contacts.has_same_contacts(phase) and np.array_equal(before.times, part.times)
        return piece if same else None

    def store(self, part: Motion, phase: Phase, piece: CheckedPiece, is_new: bool) -> None:
        """Store a piece for the next motion. A piece from the cache keeps the frames that it was computed for."""
        self._current[_key(part)] = (part, phase, piece) if is_new else self._previous[_key(part)]
        self._new += is_new

    def finish_motion(self) -> None:
        """Keep only the pieces of the motion that was just checked."""
        self.requested, self.checked = len(self._current), self._new
        self._previous, self._current, self._new = self._current, {}, 0


def _key(part: Motion) -> tuple[float, float, int]:
    return float(part.times[0]), float(part.times[-1]), len(part)
