"""The child process of the live check: requests go out and answers come in on threads, so that nothing waits."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from ..complaints import last_words
from ..interpreter import Interpreter, cannot_run
from ..values import TIMELINE, SceneTimeline, bounded_lines, dance_folder, discard, errors, own_folder, sweep
from .answers import LONGEST, Answer, answer

OWN_FOLDER = "exciting-dance-live-"
"""Begins the names of the folders of timelines."""
PATIENCE = 3.0
"""[s] a child has to end by itself after it was told to."""
KEPT_LINES = 100
"""Of a child's complaints; it may live long."""
LONGEST_COMPLAINT = 1 << 16
"""Bytes of one line of them."""
MOST = 4096
"""Answers that wait to be taken; a child that says more waits itself."""
KEPT = 3
"""Files of each kind that stay: the child may not have read the last ones yet."""
ORDER = ("pose", "timeline", "look")
"""What goes out first."""


class Child:
    """``python -m solver live``, or whatever else speaks its protocol.

    Of each kind of request only the newest is sent: what a newer one overtook is of no use to anybody.
    """

    def __init__(self, interpreter: Interpreter, arguments: tuple[str, ...] = ("live",)) -> None:
        self._words: list[str] = []
        self._answers: queue.Queue[Answer] = queue.Queue(MOST)
        self._waiting: dict[str, tuple[dict, SceneTimeline | None]] = {}
        self._changed, self._ended = threading.Condition(), False
        self._files: dict[str, list[Path]] = {}
        parent = Path(tempfile.gettempdir())
        sweep(parent, OWN_FOLDER)  # of a Blender that was killed
        self.folder, self._lock = own_folder(parent, OWN_FOLDER)
        try:
            self._process = subprocess.Popen(
                interpreter.command(list(arguments)),
                env=interpreter.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            discard(self.folder, self._lock)
            raise cannot_run(interpreter, error) from None
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._hear, self._write)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it still answers."""
        return self._process.poll() is None

    @property
    def last_words(self) -> str:
        """Why it ended, as far as it said so."""
        return last_words(self._words, self._process.poll())

    def send(self, request: Mapping[str, object], timeline: SceneTimeline | None = None) -> None:
        """Send a request, at once as far as the caller is concerned; a timeline's file is written on the way."""
        with self._changed:
            self._waiting[str(request["do"])] = dict(request), timeline
            self._changed.notify()

    def answers(self) -> list[Answer]:
        """What came since the last call."""
        found: list[Answer] = []
        try:
            while len(found) < MOST:
                found.append(self._answers.get_nowait())
        except queue.Empty:
            pass
        return found

    def end(self, *, wait: bool = False) -> None:
        """Let it end, by force if it does not hurry; returns at once unless asked to wait."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        reaper = threading.Thread(target=self._reap, daemon=not wait)
        reaper.start()
        if wait:
            reaper.join()

    def _reap(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # it had unsent words
        discard(self.folder, self._lock)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in bounded_lines(self._process.stdout.read1, LONGEST):  # type: ignore[attr-defined]
            self._put(answer(line))

    def _put(self, found: Answer) -> None:
        while not self._ended:
            try:
                return self._answers.put(found, timeout=1.0)
            except queue.Full:
                pass  # nobody has looked yet

    def _hear(self) -> None:
        assert self._process.stderr is not None
        for line in bounded_lines(self._process.stderr.read1, LONGEST_COMPLAINT):  # type: ignore[attr-defined]
            words = "a line without end" if line is None else line.decode("utf-8", errors="replace").rstrip()
            self._words = [*self._words[-KEPT_LINES:], words]

    def _write(self) -> None:
        assert self._process.stdin is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or bool(self._waiting))
                if self._ended:
                    return
                kind = min(self._waiting, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
                request, timeline = self._waiting.pop(kind)
            try:
                if timeline is not None:
                    request["path"] = str(self._written(request, timeline))
            except (OSError, errors.SolverError) as error:  # as where the disk is full: the next one may be written
                self._put(Answer("error", request.get("serial", -1), message=str(error)))
                continue
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
            except (OSError, ValueError) as error:
                self._words.append(str(error))
                return  # the child is gone

    def _written(self, request: Mapping, timeline: SceneTimeline) -> Path:
        path = self.folder / f"{request['do']}-{request['serial']}{dance_folder.TIMELINE_END}"
        files = self._files.setdefault(str(request["do"]), [])
        files.append(TIMELINE.write(path, timeline))
        while len(files) > KEPT:
            files.pop(0).unlink(missing_ok=True)
        return path
