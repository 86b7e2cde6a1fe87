"""A live capture: datagrams in, poses out, and what was recorded of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..dynamics.workspace import Workspace
from ..errors import InvalidValue, SolverError
from ..scene.motion import joint_movements
from ..scene.pose import ScenePose
from .balance import BalanceWatch
from .datagram import Layout, Sample
from .following import Follower, Following, Pose
from .intake import Intake
from .spool import Latencies, Spool
from .takes import Take

FEWEST = 12
"""Samples that make a motion."""


@dataclass(frozen=True, slots=True)
class Followed:
    """One sample that was followed.

    Attributes:
        sample: it, on the clock that runs forwards.
        arrived: [s] when it came, of `time.perf_counter`.
        pose: what it made of the rig.
        latency: [s] from datagram to pose.
    """

    sample: Sample
    arrived: float
    pose: Pose
    latency: float


class Capture:
    """Follows a stream.

    Args:
        how: its samples are followed.
        tell: receives a sentence where something is noticed for the first time.
    """

    def __init__(self, how: Following, tell: Callable[[str], None]) -> None:
        self.how, self._tell = how, tell
        self.intake = Intake(tell)
        self.latencies = Latencies()
        self.follower: Follower | None = None
        self._layout: Layout | None = None  # of what is followed
        self._spool: Spool | None = None
        self._wanted = False
        self._workspace = Workspace(how.rig)
        self._balance = BalanceWatch(how.rig) if how.rig.prior.total_mass > 0.0 else None
        self._slides = np.array([joint.slides and index > 0 for index, joint in enumerate(how.rig.joints)])

    @property
    def recorded(self) -> int:
        """Samples that were recorded so far."""
        return 0 if self._spool is None else self._spool.count

    @property
    def recording(self) -> bool:
        """Whether what comes is recorded."""
        return self._spool is not None

    @property
    def sentence(self) -> str:
        """How it goes, in one line."""
        if self.intake.layout is None:
            return "waiting for a stream"
        late = f"latency {1e3 * self.latencies.percentile(0.5):.1f} ms, 99 % below "
        late += f"{1e3 * self.latencies.percentile(0.99):.1f} ms"
        return f"{self.intake.tally.sentence}; {late}"

    def state(self) -> dict[str, Any]:
        """The same as numbers, for another program."""
        layout = self.intake.layout
        return {
            "quantity": layout.quantity if layout else "",
            "names": len(layout.names) if layout else 0,
            "ended": self.intake.ended,
            "tally": asdict(self.intake.tally),
            "sentence": self.intake.tally.sentence,
            "latency": self.latencies.percentile(0.5),
            "latency_99": self.latencies.percentile(0.99),
            "recording": self._wanted,
            "recorded": self.recorded,
        }

    def record(self) -> None:
        """From now on keep what comes, in a recording of its own."""
        self.drop()
        if self.follower is not None:
            self._spool = self._new_spool(self.follower)
        self._wanted = True

    def drop(self) -> None:
        """Keep nothing."""
        if self._spool is not None:
            self._spool.close()
        self._spool, self._wanted = None, False

    def take(self, data: bytes, arrived: float, source: Hashable = None) -> Followed | None:
        """Follow a datagram; None where it holds no sample to follow.

        Raises:
            InvalidValue: the stream's names do not fit the body.
        """
        self.intake.pinned = self.recorded >= FEWEST
        sample = self.intake.datagram(data, arrived, source)
        if sample is not None:
            return self.follow(sample, arrived)
        if self.intake.layout is not None:
            with suppress(InvalidValue):  # a declaration without samples, of whoever, is no stream to complain of
                self._ready()  # so that the first sample need not wait
        return None

    def follow(self, sample: Sample, arrived: float) -> Followed | None:
        """Follow a sample that the intake accepted."""
        try:
            follower = self._ready()
        except InvalidValue:
            self.intake.refuse()
            raise
        pose = follower.follow(sample.values, sample.time, arrived)
        if pose is None:
            return None
        for words in follower.told:
            self.intake.once(words, words)
        latency = time.perf_counter() - arrived
        self.latencies.add(latency)
        tally = self.intake.tally
        if not pose.tracked:
            tally.held += 1
            self.intake.once("held", f"too little is seen from {sample.time:.3f} s: the pose is held until more is")
        elif not pose.settled:
            tally.unsettled += 1
            self.intake.once("unsettled", "a sample used up the time budget before its pose had settled")
        self._keep(sample, pose)
        return Followed(sample, arrived, pose, latency)

    def shown(self, found: Followed) -> ScenePose:
        """A pose as a scene editor draws it."""
        rig, pose = self.how.rig, found.pose
        self._workspace.place(pose.q)
        turns, places = self._workspace.rotations[None].copy(), self._workspace.positions[None].copy()
        rotations, translations = joint_movements(rig, turns, places)
        root = translations[0, 0].copy()
        slides = np.where(self._slides[:, None], translations[0], 0.0)
        com, zmp, polygon, margin = places[0, 0], None, np.zeros((0, 2)), None
        if self._balance is not None:
            balance = self._balance.take(found.sample.time, pose.q)
            com, zmp, polygon, margin = balance.com, balance.zmp, balance.polygon, balance.margin
        return ScenePose(
            found.sample.time, found.arrived, found.latency, root, rotations[0], slides, com, zmp, polygon, margin,
            pose.tracked, None if np.isnan(pose.error) else pose.error, pose.measured, pose.modelled,
        )  # fmt: skip

    def keep(self, name: str) -> Take:
        """What was recorded.

        Raises:
            InvalidValue: too little was.
        """
        if self._spool is None or self._spool.count < FEWEST or self.follower is None or self._layout is None:
            raise InvalidValue(
                f"{self.recorded} samples were recorded, which is no motion: {self._why_none()}, nothing is written"
            )
        rows = self._spool.rows()
        return Take(name, self.how.body, self._layout, self.follower.markers, rows, self.intake.tally.sentence)

    def _keep(self, sample: Sample, pose: Pose) -> None:
        if self._spool is None:
            return
        try:
            self._spool.add(sample, pose)
        except OSError as error:
            self.intake.once("disk", f"nothing more can be recorded ({error.strerror}): what was so far is kept")

    def _why_none(self) -> str:
        tally = self.intake.tally
        if self.intake.layout is None:
            came = tally.garbled + tally.early
            return f"{came} datagrams came, none of which declared a stream" if came else "no stream was there"
        return "the stream was too short" if tally.taken else "a stream was declared, but no sample of it came"

    def _ready(self) -> Follower:
        """What follows the intake's layout; what was recorded of another one was no motion and is dropped."""
        layout = self.intake.layout
        assert layout is not None
        if self.follower is None or layout != self._layout:
            try:
                follower = self.how.of(layout)
            except SolverError as error:
                what = f"{len(layout.names)} {layout.quantity}"
                raise InvalidValue(f"the stream of {what} cannot be followed: {error}") from None
            self.follower, self._layout = follower, layout
            if self._spool is not None:
                self._spool.close()
            self._spool = self._new_spool(follower) if self._wanted else None
        return self.follower

    def _new_spool(self, follower: Follower) -> Spool:
        assert self._layout is not None
        return Spool(self.how.rig.nq, self._layout.size, len(follower.markers))
