"""A live capture: poses from datagrams, their recording, and their balance: centre of mass, zero-moment point, and
margin inside the support polygon.

Forces are not measured. The zero-moment point is computed from the motion: the acceleration is that of a parabola
fitted to the last positions of the centre of mass, so that it is delayed by half of that window.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..base.errors import InvalidValue, SolverError
from ..contacts.support import convex_polygon
from ..dynamics.mechanics import Mechanics
from ..dynamics.workspace import Workspace
from ..scene.live_pose import ScenePose
from ..scene.motion import NEAR_GROUND, joint_movements
from ..skeleton.rig import GRAVITY, Rig
from .datagram import Layout, Sample
from .followers import Follower, FollowOptions, Pose
from .sample_sequencer import SampleSequencer
from .takes import LatencyHistogram, Take, TakeRows, fill_row

MIN_SAMPLES = 12
"""Smallest number of samples of a motion."""
WINDOW = 0.2
"""[s] Window of motion to which the parabola is fitted."""
MIN_WINDOW_SAMPLES = 6
"""Smallest number of samples in the window."""
MAX_GAP = 0.1
"""[s] Longest gap between two samples; after a longer one the window starts again."""


@dataclass(frozen=True, slots=True)
class FollowedSample:
    """A sample and its pose.

    Attributes:
        sample: with its time on the continuous clock.
        arrived: [s] time of arrival, of `time.perf_counter`.
        pose: of the rig.
        latency: [s] from datagram to pose.
    """

    sample: Sample
    arrived: float
    pose: Pose
    latency: float


class StreamCapture:
    """Tracks and records a stream.

    Args:
        options: of tracking.
        report: receives a sentence when a kind of irregularity occurs for the first time.
    """

    def __init__(self, options: FollowOptions, report: Callable[[str], None]) -> None:
        self.options, self._report = options, report
        self.sequencer = SampleSequencer(report)
        self.latencies = LatencyHistogram()
        self.follower: Follower | None = None
        self._layout: Layout | None = None  # of what is followed
        self._skipped_q = np.full(options.rig.nq, np.nan)  # of recorded samples that were not followed yet
        self._spool: TakeRows | None = None
        self._record_requested = False
        self._workspace = Workspace(options.rig)
        self._balance = LiveBalance(options.rig) if options.rig.prior.total_mass > 0.0 else None
        self._slides = np.array([joint.slides and index > 0 for index, joint in enumerate(options.rig.joints)])

    @property
    def recorded_count(self) -> int:
        """Number of recorded samples."""
        return 0 if self._spool is None else self._spool.count

    @property
    def status_text(self) -> str:
        """Status in one line."""
        if self.sequencer.layout is None:
            return "waiting for a stream"
        late = f"latency {1e3 * self.latencies.percentile(0.5):.1f} ms, 99 % below "
        late += f"{1e3 * self.latencies.percentile(0.99):.1f} ms"
        return f"{self.sequencer.counts.summary}; {late}"

    def state(self) -> dict[str, Any]:
        """Status as numbers, for another program."""
        layout = self.sequencer.layout
        return {
            "quantity": layout.quantity if layout else "",
            "names": len(layout.names) if layout else 0,
            "ended": self.sequencer.ended,
            "tally": asdict(self.sequencer.counts),
            "sentence": self.sequencer.counts.summary,
            "latency": self.latencies.percentile(0.5),
            "latency_99": self.latencies.percentile(0.99),
            "recording": self._record_requested,
            "recorded": self.recorded_count,
        }

    def record(self) -> None:
        """Start a new recording."""
        self.discard()
        if self.follower is not None:
            self._spool = self._new_spool(self.follower)
        self._record_requested = True

    def discard(self) -> None:
        """Discard the recording and stop recording."""
        if self._spool is not None:
            self._spool.close()
        self._spool, self._record_requested = None, False

    def receive(self, data: bytes, arrived: float, source: Hashable = None) -> Sample | None:
        """The sample of a datagram, which `follow` or `skip` takes; None without one.

        Raises:
            InvalidValue: the names of the sample's stream do not fit the body.
        """
        self.sequencer.layout_fixed = self.recorded_count >= MIN_SAMPLES
        sample = self.sequencer.receive(data, arrived, source)
        try:
            if self.sequencer.layout is not None:
                self._prepare_follower()  # so that the first sample does not wait
        except InvalidValue:
            if sample is not None:  # a declaration without samples is not an error
                self.sequencer.reject()
                raise
        return sample

    def skip(self, sample: Sample) -> None:
        """Record a sample that the sequencer accepted, to be followed when the take is built: newer ones wait."""
        self.sequencer.counts.skipped += 1
        self.sequencer.report_once("skipped", "samples are not shown, because newer ones wait: they are recorded")
        blank = np.full((len(self._prepare_follower().markers), 3), np.nan)
        self._record_sample(sample, Pose(self._skipped_q, False, False, measured=blank, modelled=blank))

    def follow(self, sample: Sample, arrived: float) -> FollowedSample | None:
        """Track a sample that the sequencer accepted; None while more are needed for the first pose."""
        follower = self._prepare_follower()
        pose = follower.follow(sample.values, sample.time, arrived)
        if pose is None:
            return None
        for words in follower.notes:
            self.sequencer.report_once(words, words)
        latency = time.perf_counter() - arrived
        self.latencies.add(latency)
        counts = self.sequencer.counts
        if not pose.tracked:
            counts.untracked += 1
            self.sequencer.report_once(
                "untracked", f"too little data from {sample.time:.3f} s on: the pose is kept until there is more"
            )
        elif not pose.converged:
            counts.unconverged += 1
            self.sequencer.report_once("unconverged", "a sample used up the time budget before its pose had converged")
        self._record_sample(sample, pose)
        return FollowedSample(sample, arrived, pose, latency)

    def to_scene_pose(self, found: FollowedSample) -> ScenePose:
        """A pose in the form that a scene editor draws."""
        rig, pose = self.options.rig, found.pose
        self._workspace.update_positions(pose.q)
        turns, places = self._workspace.rotations[None].copy(), self._workspace.positions[None].copy()
        rotations, translations = joint_movements(rig, turns, places)
        root = translations[0, 0].copy()
        slides = np.where(self._slides[:, None], translations[0], 0.0)
        com, zmp, polygon, margin = places[0, 0], None, np.zeros((0, 2)), None
        if self._balance is not None:
            balance = self._balance.update(found.sample.time, pose.q)
            com, zmp, polygon, margin = balance.com, balance.zmp, balance.polygon, balance.margin
        return ScenePose(
            found.sample.time, found.arrived, found.latency, root, rotations[0], slides, com, zmp, polygon, margin,
            pose.tracked, None if np.isnan(pose.error) else pose.error, pose.measured, pose.modelled,
        )  # fmt: skip

    def build_take(self, name: str) -> Take:
        """The recorded take.

        Raises:
            InvalidValue: too few samples were recorded.
        """
        if self._spool is None or self._spool.count < MIN_SAMPLES or self.follower is None or self._layout is None:
            raise InvalidValue(
                f"{self.recorded_count} samples were recorded, too few for a motion: {self._explain_empty()}; "
                "nothing is written"
            )
        rows = self._follow_again(self._spool.rows())
        return Take(name, self.options.body, self._layout, self.follower.markers, rows, self.sequencer.counts.summary)

    def _follow_again(self, rows: np.ndarray) -> np.ndarray:
        """Rows whose poses do not depend on the load of this machine: none skipped, and without a time budget."""
        if rows["settled"].all():
            return rows
        assert self._layout is not None
        rows, follower = rows.copy(), self.options.create_follower(self._layout)
        for row in rows:
            pose = follower.follow(row["values"].astype(float), float(row["time"]), np.inf)
            if pose is not None or np.isnan(row["q"]).all():
                fill_row(row, pose or Pose(self.options.rig.neutral, tracked=False))
        return rows

    def _record_sample(self, sample: Sample, pose: Pose) -> None:
        if self._spool is None:
            return
        try:
            self._spool.append(sample, pose)
        except OSError as error:
            self.sequencer.report_once(
                "disk", f"nothing more can be recorded ({error.strerror}): the samples so far are kept"
            )

    def _explain_empty(self) -> str:
        counts = self.sequencer.counts
        if self.sequencer.layout is None:
            came = counts.invalid + counts.before_layout
            return f"{came} datagrams arrived, none of which declared a stream" if came else "no stream arrived"
        return "the stream was too short" if counts.accepted else "a stream was declared, but no sample of it arrived"

    def _prepare_follower(self) -> Follower:
        """The follower of the current layout; a recording of another layout was too short and is discarded."""
        layout = self.sequencer.layout
        assert layout is not None
        if self.follower is None or layout != self._layout:
            try:
                follower = self.options.create_follower(layout)
            except SolverError as error:
                what = f"{len(layout.names)} {layout.quantity}"
                raise InvalidValue(f"the stream of {what} cannot be tracked: {error}") from None
            self.follower, self._layout = follower, layout
            if self._spool is not None:
                self._spool.close()
            self._spool = self._new_spool(follower) if self._record_requested else None
        return self.follower

    def _new_spool(self, follower: Follower) -> TakeRows:
        assert self._layout is not None
        return TakeRows(self.options.rig.nq, self._layout.size, len(follower.markers))


@dataclass(frozen=True, slots=True)
class Balance:
    """Balance at one instant.

    Attributes:
        com: (3,) [m] centre of mass, world.
        zmp: (2,) [m] zero-moment point of the motion on the floor, world; None until the window is long enough, and in
            flight.
        polygon: (V, 2) [m] support polygon of the soles near the floor, counter-clockwise; V = 0 in flight.
        margin: [m] of the zero-moment point, or of the centre of mass while it is unknown, inside the polygon; negative
            outside; None without a polygon.
    """

    com: np.ndarray
    zmp: np.ndarray | None
    polygon: np.ndarray
    margin: float | None


class LiveBalance:
    """Computes the balance of a rig from successive configurations.

    Args:
        rig: with a mass; without soles there is no polygon.
    """

    def __init__(self, rig: Rig) -> None:
        self._rig, self._mechanics, self._workspace = rig, Mechanics(rig), Workspace(rig)
        self._last: deque[tuple[float, np.ndarray]] = deque()

    def update(self, time: float, q: np.ndarray) -> Balance:
        """The balance at a time [s] in a configuration (nq,)."""
        com = self._mechanics.compute_coms(q[None])[0]
        if self._last and not 0.0 < time - self._last[-1][0] < MAX_GAP:
            self._last.clear()
        self._last.append((time, com))
        while time - self._last[0][0] > WINDOW:
            self._last.popleft()
        corners = self._sole_corners(q)
        standing = corners[corners[:, 2] <= NEAR_GROUND, :2]
        try:
            polygon = convex_polygon(standing) if len(standing) else None
        except InvalidValue:  # on the tip of a toe
            polygon = None
        if polygon is None:
            return Balance(com, None, np.zeros((0, 2)), None)
        zmp = self._zero_moment_point()
        held = com[:2] if zmp is None else zmp
        return Balance(com, zmp, polygon.vertices, float(polygon.margin(held[None])[0]))

    def _sole_corners(self, q: np.ndarray) -> np.ndarray:
        """(P, 3) [m] corners of all soles, world."""
        self._workspace.update_positions(q)
        found = [np.zeros((0, 3))]
        for contact in self._rig.soles:
            link = self._rig.index(contact.link)
            found.append(contact.vertices @ self._workspace.rotations[link].T + self._workspace.positions[link])
        return np.concatenate(found)

    def _zero_moment_point(self) -> np.ndarray | None:
        """(2,) [m] zero-moment point on the floor z = 0, of a point mass at the end of the parabola."""
        if len(self._last) < MIN_WINDOW_SAMPLES or self._last[-1][0] - self._last[0][0] < 0.5 * WINDOW:
            return None
        times = np.array([time for time, _ in self._last]) - self._last[-1][0]
        places = np.array([com for _, com in self._last])
        end, _, half = np.linalg.lstsq(np.vander(times, 3, increasing=True), places, rcond=None)[0]
        lift = GRAVITY + 2.0 * half[2]
        if lift < 0.2 * GRAVITY:
            return None  # falling: the floor does not carry the body
        return end[:2] - end[2] / lift * 2.0 * half[:2]
