"""The live server under malformed input: each kind by itself, then seeded mutations of requests and of timelines.

After each kind a valid request must be answered; no response may report an internal error, no line a traceback.
"""

from __future__ import annotations

import json
import os
import random
import socket
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from solver.live.protocol import parse_request
from solver.live.server import DEFECT_PREFIX, LiveServer
from solver.rigs import hoap3
from solver.scene.rig import write_rig
from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline

from ..figures.figure import Figure, at_most
from ..live_client import LiveClient, Response

SEED = 8
HUGE = 100 << 20
"""Bytes of one line."""
MANY = 4000
"""Requests at once."""
LONG = 20.0
"""[s] without an answer, after which the server counts as dead."""
FLOOR = -0.3
"""[m] Under the soles of a robot whose root is at the origin."""
WRONG: tuple[object, ...] = (
    None, True, -1, 0, 0.5, 1e300, -1e300, 10**400, "", "nan", "inf", "\0", "\udcff", "x" * 5000, [], [[]], {},
    {"type": "x"}, [0.0] * 7, [1e308, -1e308, 0.0],
)  # fmt: skip
"""What a mutation puts in an entry's place."""


def good_timeline(frames: int = 3) -> SceneTimeline:
    """A robot at rest, its feet down."""
    rig = hoap3()
    times = 0.1 * np.arange(frames)
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (frames, len(rig.links), 1))
    strips = tuple(SceneStrip(patch.name, 0.0, float(times[-1])) for patch in rig.contacts)
    return SceneTimeline(
        "rest", rig, times, np.zeros((frames, 3)), rotations, np.zeros((frames, len(rig.links), 3)),
        (SceneKey(0.0, "fixed", "first"),), strips, FLOOR,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Garbage:
    """One kind.

    Attributes:
        name: in words.
        sent: one after the other, each when the one before is answered.
        answered: by an error each; a flood of good requests is not.
    """

    name: str
    sent: tuple[bytes, ...]
    answered: bool = True


def garbage(folder: Path, shown: SceneTimeline) -> tuple[Garbage, ...]:
    """Every kind.

    Args:
        folder: where its files go.
        shown: a good timeline.
    """
    good = TIMELINE.write(folder / "good.timeline.npz", shown)
    content = good.read_bytes()
    fifo, socket_file = folder / "fifo", folder / "socket"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(socket_file))
    files = {
        "cut.npz": content[: len(content) // 2],
        "flipped.npz": bytes(byte ^ (0x10 if k % 97 == 0 else 0) for k, byte in enumerate(content)),
        "text.npz": b"no archive",
        "empty.npz": b"",
        "deep.json": b"[" * 100_000,
        "list.json": b"[1, 2]",
    }
    for name, held in files.items():
        (folder / name).write_bytes(held)
    named = {name: str(folder / name) for name in files}
    rig = write_rig(folder / "rig.json", shown.rig)
    none = {name: getattr(shown, name)[:0] for name in ("times", "root", "rotations", "translations")}
    wrong = (
        replace(shown, strips=(SceneStrip("heel", 0.0, 0.1),)),
        replace(shown, keys=(SceneKey(9.0, "fixed"),)),
        replace(shown, **none),
    )
    paths = [str(TIMELINE.write(folder / f"wrong{k}.npz", each)) for k, each in enumerate(wrong)]
    flood = _line(do="look", frame=1) + _line(do="pose", serial=1, path=str(good))
    digits = [b"9" * count for count in (400, 5000)]
    types = ((1, 2, True), (1, "a", "no"), (1.5, "a", True), (True, "a", True), (None, None, None))
    return (
        Garbage("no JSON", (b'{"do": "pose"\n', b"hello\n", b"\x00\x01\x02\n")),
        Garbage("JSON of no object", (b"[1]\n", b'"pose"\n', b"3\n", b"null\n")),
        Garbage("NaN", (b'{"do":"look","frame":NaN}\n', b'{"do":"look","frame":1e999}\n')),
        Garbage("a duplicate name", (b'{"do":"end","do":"look"}\n',)),
        Garbage("nested 30,000 deep", (b"[" * 30_000 + b"\n", b'{"do":' * 10_000 + b"\n")),
        Garbage(
            "numbers of 400 and 5,000 digits",
            tuple(b'{"do":"look","frame":%s}\n' % n for n in digits)
            + tuple(b'{"do":"pose","serial":%s,"path":"a"}\n' % n for n in digits),
        ),
        Garbage("bytes that are not UTF-8", (b'{"do":"pose","serial":1,"path":"\xff\xfe"}\n', b"\xff\xff\n")),
        Garbage("unknown verbs and entries", (_line(), _line(do="fly"), _line(do=[]), _line(do="look", frame=1, x=2))),
        Garbage("entries missing", (_line(do="timeline"), _line(do="pose", serial=1), _line(do="look"))),
        Garbage(
            "entries of another type", tuple(_line(do="pose", serial=s, path=p, excitation=e) for s, p, e in types)
        ),
        Garbage("a line of 100 MB", (b"x" * HUGE + b"\n",)),
        Garbage("names of no file", _poses("a\0b", "a\udcff", "a" * 50_000, str(folder / "none"), str(good / "x"))),
        Garbage("no regular files", _poses(str(fifo), str(socket_file), str(folder), "/dev/zero", "/dev/tty")),
        Garbage("damaged archives", _poses(named["cut.npz"], named["flipped.npz"])),
        Garbage("files of something else", _poses(str(rig), *list(named.values())[2:])),
        Garbage("timelines that contradict themselves", tuple(_line(do="timeline", serial=7, path=p) for p in paths)),
        Garbage("4,000 requests of one serial at once", (flood * (MANY // 2),), answered=False),
    )


def garbage_not_survived(folder: Path) -> list[str]:
    """The kinds after which something was wrong, and what."""
    shown, wrong, serial = good_timeline(), [], 10**6
    good = str(TIMELINE.write(folder / "valid.timeline.npz", shown))
    live_client = LiveClient()
    try:
        for kind in garbage(folder, shown):
            serial += 1
            try:
                messages = [_error_message(live_client, each) for each in kind.sent] if kind.answered else []
                live_client.send_bytes(b"" if kind.answered else b"".join(kind.sent))
                live_client.send({"do": "pose", "serial": serial, "path": good})
                last = live_client.receive_until(lambda answer: answer.get("serial") == serial, LONG)[-1]  # noqa: B023
            except (RuntimeError, OSError) as error:
                wrong.append(f"{kind.name}: {error} {live_client.stderr[-200:]}")
                live_client.kill()
                live_client = LiveClient()
                continue
            if last["kind"] != "pose" or any(DEFECT_PREFIX in message for message in messages):
                wrong.append(f"{kind.name}: {messages}, then {last['kind']}")
        live_client.close()
        if live_client.stderr or live_client.process.returncode:
            wrong.append(f"ended with {live_client.process.returncode} and wrote {live_client.stderr[-200:]!r}")
    finally:
        live_client.kill()
    return wrong


def mutated_requests(count: int, folder: Path) -> list[str]:
    """Byte mutations of valid requests; returns those after which the server failed."""
    chance, wrong = random.Random(SEED), []
    path = str(TIMELINE.write(folder / "mutated.timeline.npz", good_timeline()))
    server_of = _Server(folder)
    for _ in range(count):
        do = chance.choice(("pose", "timeline", "look"))
        tree = {"do": do, "frame": 1} if do == "look" else {"do": do, "serial": 3, "path": path, "excitation": False}
        line = bytearray(json.dumps(tree).encode())
        for _ in range(chance.randint(1, 4)):
            _mutate(line, chance)
        for part in bytes(line).split(b"\n"):
            if part.strip() and (message := server_of.answers(part)):
                wrong.append(f"{part!r}: {message}")
    return wrong


def mutated_timelines(count: int, folder: Path) -> list[str]:
    """Timelines with one changed entry, requested as a timeline and as a posture."""
    chance, wrong = random.Random(SEED), []
    first = TIMELINE.write(folder / "first.timeline.json", good_timeline())
    source, path = first.read_text(), folder / "mutated.timeline.json"
    server_of = _Server(folder)
    for number in range(count):
        tree = json.loads(source)
        holder, entry = _place(tree, chance)
        value = chance.choice(WRONG)
        holder[entry] = value
        if chance.random() < 0.1:
            del holder[entry]
        path.write_text(json.dumps(tree))
        for do in ("pose", "timeline"):
            line = json.dumps({"do": do, "serial": number, "path": str(path)}).encode()
            if message := server_of.answers(line):
                wrong.append(f"{entry!r} = {value!r:.40}: {message}")
    return wrong


def rows(quick: bool) -> list[Figure]:
    """Rows for malformed input to the live server."""
    requests, timelines = (3000, 150) if quick else (200_000, 5000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_kind = garbage_not_survived(folder)
        by_byte = mutated_requests(requests, folder)
        by_entry = mutated_timelines(timelines, folder)
    none = at_most(0)
    return [
        Figure("kinds of garbage to the live server not survived", "17 kinds, a good request after each",
               len(by_kind), "kinds", none, note="; ".join(by_kind)),
        Figure("mutated requests to the live server not survived", f"{requests} by bytes, seed {SEED}",
               len(by_byte), "requests", none, note="; ".join(by_byte[:3])),
        Figure("mutated timelines to the live server not survived", f"{timelines} by entries, seed {SEED}",
               len(by_entry), "timelines", none, note="; ".join(by_entry[:3])),
    ]  # fmt: skip


class _Server:
    """A server in this process: what is wrong with its answers to a line."""

    def __init__(self, folder: Path) -> None:
        self._responses: list[Response] = []
        self._server = LiveServer(lambda line: self._responses.append(json.loads(line)))

    def answers(self, line: bytes) -> str:
        """Empty where all is well."""
        self._responses.clear()
        try:
            self._server.accept([parse_request(line)])
            while self._server.work():
                pass
        except Exception as error:  # the server would have died of it
            return f"{type(error).__name__}: {error}"
        return next(
            (str(response["message"]) for response in self._responses if DEFECT_PREFIX in str(response.get("message"))),
            "",
        )


def _error_message(live_client: LiveClient, sent: bytes) -> str:
    """Message of the error with which the server responds."""
    live_client.send_bytes(sent)
    return str(live_client.receive_until(lambda answer: answer["kind"] == "error", LONG)[-1]["message"])


def _line(**request: object) -> bytes:
    return json.dumps(request).encode() + b"\n"


def _poses(*paths: str) -> tuple[bytes, ...]:
    return tuple(_line(do="pose", serial=number, path=path) for number, path in enumerate(paths))


def _mutate(line: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(line) + 1)
    kind = chance.randrange(5)
    if kind == 0 and place < len(line):
        line[place] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del line[place : place + chance.randint(1, 8)]
    elif kind == 2:
        line[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
    elif kind == 3:
        line[place:place] = line[: chance.randrange(len(line) + 1)]
    else:
        text = json.dumps(chance.choice(WRONG)).encode()
        line[place:place] = text


def _place(tree: Any, chance: random.Random) -> tuple[Any, Any]:
    """A container within a tree, and the name or number of one of its entries."""
    while True:
        entry = chance.choice(list(tree)) if isinstance(tree, dict) else chance.randrange(len(tree))
        inner = tree[entry]
        if not (isinstance(inner, dict | list) and inner) or chance.random() < 0.3:
            return tree, entry
        tree = inner


__all__ = [
    "Garbage",
    "garbage",
    "garbage_not_survived",
    "good_timeline",
    "mutated_requests",
    "mutated_timelines",
    "rows",
]
