"""``live``: check a timeline while it is edited."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..base.progress import Progress
from ..base.standard_streams import response_descriptor
from .bodies import add_body, body_of
from .options import add_verb

if TYPE_CHECKING:
    from ..live.pipes import RequestReader
    from ..live.protocol import Request
    from ..live.server import LiveServer

EXPLANATION = """
Reads requests from the standard input and writes responses to the standard output, one JSON object per line, until
the input ends and every request has its response. Frames near the current one are checked first, and only frames that
an edit changed are checked again. solver/scene/checked_frame.py describes the lines. Without BODY the timelines name
the body.

Examples:
  python -m solver live
  python -m solver live hoap3.json
  python -m solver live human --height 1.75 --mass 70 --sex male
"""


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Put the verb on the command line."""
    parser = add_verb(verbs, "live", "check a timeline while it is edited, for other programs", EXPLANATION, run)
    add_body(parser, required=False)


def run(options: argparse.Namespace, progress: Progress) -> None:
    """Serve until the input ends."""
    with response_descriptor() as output:
        from ..base.threads import one_blas_thread
        from ..live.pipes import RequestReader, ResponseWriter
        from ..live.protocol import EndRequest, parse_request
        from ..live.server import LiveServer

        rig = None if options.body is None else body_of(options)
        inbox = RequestReader(sys.stdin.fileno(), parse_request, lambda item: isinstance(item, EndRequest))
        outbox = ResponseWriter(output, lambda: inbox.ended)
        with one_blas_thread():
            _serve(LiveServer(outbox.write, rig), inbox)
        outbox.flush()


def _serve(server: LiveServer, inbox: RequestReader[Request]) -> None:
    from ..live.protocol import EndRequest

    busy = False
    while True:
        requests = inbox.take(wait=not busy)
        if any(isinstance(item, EndRequest) for item in requests) or not (requests or busy):
            return
        server.accept(requests)
        busy = server.work()
