"""``replay``: a recording sent as a live stream."""

from __future__ import annotations

import argparse

from ..base.errors import InvalidValue
from ..base.progress import Progress
from .argument_types import count, positive
from .capture import add_stream
from .options import add_recordings, add_verb, read_options

EXPLANATION = """
Sends markers, segments or joint coordinates at the rate they were recorded at, or another, as `capture` and Blender
receive them: to try a capture without hardware. Nothing leaves this machine unless another address is named.

Examples:
  python -m solver replay walk.trc
  python -m solver replay dance.joints.csv --speed 0.5 --repeat 10
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "replay", "send a recording as a live stream", EXPLANATION, run)
    add_recordings(parser)
    add_stream(parser)
    parser.add_argument("--trial", metavar="NAME", help="which, of several recordings")
    parser.add_argument("--speed", type=positive, default=1.0, help="seconds of the recording in one (default: 1)")
    parser.add_argument("--repeat", type=count, default=1, metavar="N", help="times over (default: 1)")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    from ..capture.replay import build_stream, replay, stream_datagrams
    from ..capture.udp import UdpSender
    from ..study.recordings import load

    recordings = load(options.files, read_options(options))
    chosen = [r for r in recordings if options.trial in (None, r.name)]
    if len(chosen) != 1:
        names = ", ".join(recording.name for recording in recordings)
        raise InvalidValue(f"name one of the trials {names} with --trial")
    stream = build_stream(chosen[0])
    sender = UdpSender(options.address, options.port)
    duration = float(stream.times[-1] - stream.times[0]) * options.repeat
    what, rate = f"{len(stream.layout.names)} {stream.layout.quantity}", stream.layout.rate * options.speed
    print(f"sending {what} of {chosen[0].name} at {rate:.6g} Hz to {options.address}, port {options.port}", flush=True)
    try:
        sent = stream_datagrams(stream, options.repeat)
        number = replay(sent, sender.send, options.speed, progress, duration)
    finally:
        sender.close()
    print(f"sent {number} datagrams")
