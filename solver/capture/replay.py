"""Sending a recording as a live stream, to test a capture without hardware."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidValue
from ..base.progress import Progress, silent
from ..base.so3 import to_quaternion
from ..signals.trial import Recording
from ..values.motion import rate_of
from .datagram import JOINTS, MARKERS, SEGMENTS, Layout, Sample, end_datagram, layout_datagram, sample_datagram

DECLARATION_INTERVAL = 1.0
"""[s] Time of the stream between declarations of its layout."""
MAX_SLEEP = 0.1
"""[s]"""


@dataclass(frozen=True, slots=True)
class Stream:
    """A recording in the form of a stream.

    Attributes:
        layout: of its samples.
        times: (N,) [s].
        values: (N, n).
    """

    layout: Layout
    times: np.ndarray
    values: np.ndarray


def build_stream(recording: Recording) -> Stream:
    """Build a stream of a recording's markers, or else its segments, or else its joint coordinates.

    Raises:
        InvalidValue: it holds none of them, or angles in degrees.
    """
    if recording.markers is not None:
        times, values = recording.markers.times, recording.markers.positions
        layout = Layout(MARKERS, recording.markers.names, rate=rate_of(times))
    elif recording.segments is not None:
        segments = recording.segments
        times = segments.times
        places = np.full((*segments.rotations.shape[:2], 3), np.nan)
        if segments.positions is not None:
            places = segments.positions
        values = np.concatenate([to_quaternion(segments.rotations), places], axis=2)
        layout = Layout(SEGMENTS, segments.names, rate=rate_of(times))
    elif recording.joints is not None:
        joints = recording.joints
        if "deg or m" in joints.units:
            raise InvalidValue(
                f"recording {recording.name!r} has angles in degrees, but a stream needs radians: track it, and send "
                "the .csv that tracking writes"
            )
        times, values = joints.times, joints.values
        if joints.root is not None:
            values = np.concatenate([joints.root, values], axis=1)
        layout = Layout(JOINTS, joints.names, joints.root is not None, rate_of(times))
    else:
        raise InvalidValue(f"recording {recording.name!r} holds no markers, segments or joint coordinates to send")
    return Stream(layout, times, values.reshape(len(times), -1))


def stream_datagrams(stream: Stream, repeats: int = 1) -> Iterator[tuple[float, bytes]]:
    """Datagrams with the times [s] at which they are due, from 0 on; repeated with continuing time."""
    layout, declared, sequence, start = stream.layout, -np.inf, 0, 0.0
    times = stream.times - stream.times[0]
    step = 1.0 / layout.rate if layout.rate > 0.0 else 0.01
    time_now = 0.0
    for _ in range(repeats):
        for local, values in zip(times.tolist(), stream.values):
            time_now = start + local
            if time_now - declared >= DECLARATION_INTERVAL:
                declared = time_now
                yield time_now, layout_datagram(layout, sequence, time_now)
            yield time_now, sample_datagram(layout, Sample(sequence, time_now, values))
            sequence += 1
        start = time_now + step
    yield time_now, end_datagram(layout, sequence, time_now)


def replay(
    datagrams: Iterator[tuple[float, bytes]],
    send: Callable[[bytes], None],
    speed: float = 1.0,
    progress: Progress = silent,
    duration: float = 0.0,
) -> int:
    """Send datagrams when they are due; their number.

    Args:
        datagrams: see `datagrams`.
        send: sends one.
        speed: seconds of the stream in one of ours.
        progress: receives the position in the stream; may cancel.
        duration: [s] of the stream, for the progress.
    """
    start, count, last_report = time.perf_counter(), 0, 0.0
    for due, data in datagrams:
        while (left := due / speed - (time.perf_counter() - start)) > 0.0:
            time.sleep(min(left, MAX_SLEEP))
        send(data)
        count += 1
        if due - last_report >= 1.0:
            last_report = due
            progress(min(due / duration, 1.0) if duration > 0.0 else 0.0, f"sent {due:.0f} s")
    return count
