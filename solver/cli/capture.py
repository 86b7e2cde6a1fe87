"""``capture``: a live stream of markers, segments or joint values, followed as it comes, and recorded."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..base.errors import InvalidValue
from ..base.progress import Progress
from ..base.standard_streams import response_descriptor
from ..options.study import Settings
from .argument_types import add_options, path, positive
from .bodies import add_rig, rig_of
from .options import add_calibration, add_output, add_verb, settings_of

if TYPE_CHECKING:
    from ..capture.capture_loop import Source
    from ..capture.followers import FollowOptions

EXPLANATION = """
Listens for a stream of datagrams (docs/capture.md describes them; `replay` sends a recording), by default on this
machine only (with --address 0.0.0.0 other computers in the network can send to it, too), or takes a stream of the Lab
Streaming Layer if pylsl is installed. Every sample is followed within a time budget. The take is written, as `track`
writes a recording, when the stream says that it ends, or at Ctrl-C: whole or not at all. Lost, late, repeated and
damaged samples are counted and never end a capture.

Examples:
  python -m solver capture --calibration subject/calibration.json --output take1
  python -m solver capture --rig hrp2 --output take2 --silence 5
  python -m solver capture --calibration subject/calibration.json --lsl Qualisys --output take3
"""
BUDGET = 5.0
"""[ms]"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "capture", "follow a live stream, and record it", EXPLANATION, run)
    add_calibration(parser)
    add_rig(parser)
    add_options(parser, Settings, "filter")
    add_stream(parser)
    parser.add_argument("--lsl", metavar="NAME", help="of a stream of the Lab Streaming Layer, instead of datagrams")
    parser.add_argument("--mapping", type=path, metavar="FILE", help="mapping of segments to links, .json")
    words = f"time budget of a sample in milliseconds, after which its refinement ends (default: {BUDGET:g})"
    parser.add_argument("--budget", type=positive, default=BUDGET, metavar="MS", help=words)
    parser.add_argument("--silence", type=positive, metavar="S", help="end after so many seconds without a sample")
    parser.add_argument("--seconds", type=positive, metavar="S", help="end so many seconds after the first sample")
    parser.add_argument("--name", default="take", help="name of the take (default: take)")
    words = (
        "for other programs: poses and messages on the standard output, one JSON object per line, requests on the input"
    )
    parser.add_argument("--serve", action="store_true", help=words)
    add_output(parser, required=False)


def add_stream(parser: argparse.ArgumentParser) -> None:
    """Where a stream goes."""
    words = "address of the stream (default: 127.0.0.1, this machine only)"
    parser.add_argument("--address", default="127.0.0.1", help=words)
    parser.add_argument("--port", type=int, default=9763, choices=range(1 << 16), metavar="N", help="(default: 9763)")


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Run the verb."""
    if options.serve == (options.output is not None):
        raise InvalidValue("name the folder of the take with --output, or serve another program with --serve")
    from ..base.threads import one_blas_thread
    from ..storage.manifest import FileName

    FileName(options.name)
    how = _following(options)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        with one_blas_thread():
            (_serve if options.serve else _record)(options, how, progress)
    finally:
        sys.setswitchinterval(interval)


SWITCH = 5e-4
"""[s] after which the thread that reads datagrams gets its turn, so that their time of arrival is right."""


def listening_message(options: argparse.Namespace) -> str:
    """What is listened to, and whether other computers can send to it."""
    from ..capture.udp import is_loopback

    is_open = options.lsl is None and not is_loopback(options.address)
    where = options.lsl or f"{options.address}, port {options.port}"
    return (
        f"listening to {where}{', to which other computers in the network can send' if is_open else ''}; "
        "Ctrl-C ends and writes"
    )


def _record(options: argparse.Namespace, how: FollowOptions, progress: Progress) -> None:
    from ..base.termination import interruptible
    from ..capture.capture_loop import StopConditions, run_capture
    from ..capture.session import StreamCapture

    capture = StreamCapture(how, lambda words: print(words, file=sys.stderr, flush=True))
    source = _source(options)
    print(listening_message(options), flush=True)
    try:
        with interruptible():
            run_capture(source, capture, StopConditions(options.silence, options.seconds), progress)
    except KeyboardInterrupt:
        pass
    finally:
        source.close()
    progress(1.0, "writing the take")
    capture.build_take(options.name).write(options.output, settings_of(options).filter)
    print(f"{capture.status_text}\nwritten: {options.output}")


def _serve(options: argparse.Namespace, how: FollowOptions, progress: Progress) -> None:
    with response_descriptor() as output:
        from ..capture.server import CaptureServer, parse_request
        from ..capture.session import StreamCapture
        from ..live.pipes import RequestReader, ResponseWriter

        inbox = RequestReader(sys.stdin.fileno(), parse_request, lambda request: request.do == "end")
        outbox = ResponseWriter(output, lambda: inbox.ended)
        source = _source(options)
        server: CaptureServer | None = None
        capture = StreamCapture(how, lambda words: server.report(words) if server is not None else None)
        server = CaptureServer(source, capture, outbox.write)
        while not inbox.ended:
            for request in inbox.take(wait=False):
                server.execute(request)
            server.step(WAIT)
        source.close()
        outbox.flush()


WAIT = 0.01
"""[s] to wait for a datagram between two looks at requests."""


def _source(options: argparse.Namespace) -> Source:
    from ..capture.lsl import LslReceiver
    from ..capture.udp import UdpReceiver

    return LslReceiver(options.lsl) if options.lsl is not None else UdpReceiver(options.address, options.port)


def _following(options: argparse.Namespace) -> FollowOptions:
    from ..calibration.calibration import CALIBRATION
    from ..capture.followers import FollowOptions
    from ..tracking import TrackingOptions
    from ..tracking.bone_mapping import MAPPING

    if (options.calibration is None) == (options.rig is None):
        raise InvalidValue("a capture needs a body: --calibration for markers, or --rig for segments "
                           "and joint values")  # fmt: skip
    body = rig_of(options) if options.calibration is None else CALIBRATION.read(options.calibration)
    assert body is not None
    mapping = None if options.mapping is None else MAPPING.read(options.mapping)
    return FollowOptions(body, TrackingOptions(time_budget=1e-3 * options.budget), mapping, options.planted_foot)
