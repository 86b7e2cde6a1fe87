"""Long work as a child process: the window stays alive, a crash costs the job and never the scene."""

from __future__ import annotations

import atexit
import json
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy

from . import redraw
from .complaints import by_name, last_words
from .file_cache import read_again
from .interpreter import PACKAGE, Interpreter, cannot_run, chosen
from .scene_rigs import rig_in
from .told import Said, forget, tell
from .typed import Status, found_again, known_by, scene
from .values import errors, stopping
from .whole import all_or_nothing

if TYPE_CHECKING:
    from .values import Lock

LOOK_EVERY = 0.1
"""[s] between looks at a running child."""
KEPT_LINES, LONGEST_LINE = 200, 65_536
"""Of what a child says: complaints that are kept, and letters after which a line counts as ended."""
OWN_FOLDER = "study-"
"""Begins the names of jobs' folders."""
PATIENCE = 3.0
"""[s] a child has to end by itself after it was told to."""


class Job:
    """A run of ``python -m solver VERB ...``.

    Attributes:
        title: what it does, for people.
        place: the panel that shows it.
        fraction: of the work that is done, in [0, 1].
        message: what it does now.
    """

    def __init__(
        self,
        title: str,
        arguments: list[str],
        interpreter: Interpreter,
        *,
        patience: float = PATIENCE,
        place: str = "",
    ) -> None:
        self.title, self.place, self.fraction, self.message = title, place, 0.0, "starting"
        self._patience = patience
        self.started = time.monotonic()
        self._told_to_end: float | None = None
        self._words: deque[str] = deque(maxlen=KEPT_LINES)
        self._interpreter = interpreter
        try:
            self._process = subprocess.Popen(
                interpreter.command(arguments),
                env={**interpreter.environment, stopping.LIFELINE: "1"},
                stdin=subprocess.PIPE,  # nothing is written: it ends when this process does, however that ends
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise cannot_run(interpreter, error) from None
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._progress, self._complaints)]
        for reader in self._readers:
            reader.start()

    @property
    def running(self) -> bool:
        """Whether the child still works."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Block until the child ends."""
        self._process.wait()
        self._close()

    @property
    def cancelled(self) -> bool:
        """Whether the child was told to end."""
        return self._told_to_end is not None

    def cancel(self) -> None:
        """Tell the child to end, and return at once."""
        if self.running and not self.cancelled:
            self._told_to_end = time.monotonic()
            self.message = "stopping" if self._patience <= PATIENCE else "finishing what is done"
            self._process.terminate()

    def look(self) -> bool:
        """Whether the child still works; one that was told to end and does not is killed."""
        if self._told_to_end is not None and self.running and time.monotonic() - self._told_to_end > self._patience:
            self._process.kill()
        return self.running

    def end(self) -> None:
        """Cancel, and wait until the child is gone; nobody waits for what it could still finish."""
        self._patience = min(self._patience, PATIENCE)
        self.cancel()
        while self.look():
            time.sleep(LOOK_EVERY)
        self._close()

    def check(self, *, finished: bool = False) -> None:
        """Raise unless the ended child did its work.

        Args:
            finished: it left its results whole, so that neither a cancel nor its exit code matters.

        Raises:
            Cancelled: it was cancelled.
            BackendError: it failed; with its last words.
        """
        self._close()
        if finished:
            return
        if self.cancelled:
            raise errors.Cancelled(f"{self.title}: cancelled, nothing was changed")
        if self._process.returncode != 0:
            words = last_words(list(self._words), self._process.returncode, doing=self.message)
            raise errors.BackendError(words + self._interpreter.doubt(self._words))

    def _close(self) -> None:
        for reader in self._readers:
            reader.join(PATIENCE)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _progress(self) -> None:
        assert self._process.stdout is not None
        for line in iter(partial(self._process.stdout.readline, LONGEST_LINE), ""):
            try:
                step = json.loads(line)
                fraction, message = min(max(float(step["fraction"]), 0.0), 1.0), str(step["message"])
            except (ValueError, TypeError, KeyError, RecursionError):
                continue  # a table or a note, not for us
            if fraction == fraction:  # not NaN
                self.fraction = fraction
                self.message = self.message if self.cancelled else message

    def _complaints(self) -> None:
        assert self._process.stderr is not None
        for line in iter(partial(self._process.stderr.readline, LONGEST_LINE), ""):
            if line.strip():
                self._words.append(line.rstrip())


class Current:
    """The job that runs in this Blender, for the panel that shows it; one at a time."""

    job: ClassVar[Job | None] = None

    @classmethod
    def take(cls) -> Job | None:
        """The job, which from now on is no longer the current one."""
        job, cls.job = cls.job, None
        return job


def end_current() -> None:
    """No job outlives the add-on, the file it works for, or Blender."""
    job = Current.take()
    if job is not None:
        job.end()


@bpy.app.handlers.persistent
def _before_another_file(*_: object) -> None:
    end_current()


def register() -> None:
    """End the job before another file is opened and when Blender quits."""
    bpy.app.handlers.load_pre.append(_before_another_file)
    atexit.register(end_current)


def unregister() -> None:
    """End the job."""
    end_current()
    atexit.unregister(end_current)
    if _before_another_file in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_before_another_file)


class JobOperator:
    """Mix-in of an operator that runs a verb and puts its result into the scene.

    In the background the operator returns when all is done; in a window it stays responsive and shows progress, and the
    panel's Cancel ends it. A failure leaves the scene as it was and no folder behind.
    """

    title: ClassVar[str] = "Solving"
    place: ClassVar[str] = "study"
    tells_success: bool = True
    keeps_folder: bool = False
    patience: ClassVar[float] = PATIENCE
    handed: ClassVar[Mapping[str, str]] = {}
    """What the files that are written for the child are to the user."""

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        """The verb and its options; results go into ``folder``."""
        raise NotImplementedError

    def apply(self, context: bpy.types.Context, folder: Path) -> Said:
        """Put the results into the scene; what to tell the user."""
        raise NotImplementedError

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        """What runs the child: the solver's Python, unless said here."""
        return chosen(context)

    def finished(self, folder: Path) -> bool:
        """Whether results count although the child was told to end or ended with a code; never, unless said here."""
        return False

    def wanted_folder(self, context: bpy.types.Context) -> Path | None:
        """The folder that the user named, which stays whatever happens; None for a new one of the add-on's own."""
        return None

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        """What stands in the way besides another job, in one sentence; nothing, unless said here."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """One job at a time, and nothing that is missing; what it is is said."""
        said = f"{Current.job.title}: wait for it, or cancel it" if Current.job is not None else cls.missing(context)
        if said:
            cls.poll_message_set(said)  # type: ignore[attr-defined]
        return not said

    def execute(self, context: bpy.types.Context) -> Status:
        """Start; and where there is no window, finish."""
        if not self.begin(context) or Current.job is None:
            return {"CANCELLED"}
        if bpy.app.background:
            Current.job.wait()
            return self.finish(context)
        manager = context.window_manager
        self._job, self._timer = Current.job, manager.event_timer_add(LOOK_EVERY, window=context.window)
        manager.modal_handler_add(self)  # type: ignore[arg-type]
        self._shown: tuple[float, str] | None = None
        return {"RUNNING_MODAL"}

    def begin(self, context: bpy.types.Context) -> bool:
        """Start the child; whether it runs. What stands in the way is told."""
        self._about = None if (rig := rig_in(context)) is None else known_by(rig)
        self._folder: Path | None = None
        self._lock: Lock | None = None  # of a folder that is the add-on's own
        try:
            wanted = self.wanted_folder(context)
            self._folder, self._lock = new_folder() if wanted is None else (wanted, None)
            words = self.arguments(context, self._folder)
            Current.job = Job(self.title, words, self.interpreter(context), patience=self.patience, place=self.place)
        except (errors.SolverError, OSError) as error:
            self._clean()
            self._fail(context, str(error))
        return Current.job is not None

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Look after the child now and then."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        now = (self._job.fraction, self._job.message)
        if now != self._shown:
            self._shown = now
            redraw.sidebars()
        if self._job.look() or self._being_edited():
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        status = self.finish(context)
        redraw.sidebars()
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator: the window closes or another file is opened."""
        end_current()
        self._clean()

    def _being_edited(self) -> bool:
        """Whether the result has to wait: bones in edit mode take nothing, and it would be lost."""
        rig = self.rig_if_there()
        waits = rig is not None and rig.mode == "EDIT"
        if waits:
            self._job.message = "done, leave edit mode to see it (Tab)"
        return waits

    def finish(self, context: bpy.types.Context) -> Status:
        """Put what the ended child left into the scene, or tell what went wrong."""
        job = Current.take()
        done = False
        assert self._folder is not None
        try:
            if job is None:
                raise errors.Cancelled(f"{self.title}: stopped, nothing was changed")
            job.check(finished=self.finished(self._folder))
            with all_or_nothing():
                said = self.apply(context, self._folder)
            done = True
            read_again()
            self._say(context, said)
        except errors.Cancelled as error:
            self.report({"INFO"}, str(error))  # type: ignore[attr-defined]
        except errors.SolverError as error:
            self._fail(context, by_name(str(error), self._folder, self.handed))
        finally:
            if done and self.keeps_folder:
                self._keep()
            else:
                self._clean()
        return {"FINISHED"} if done else {"CANCELLED"}

    def rig(self) -> bpy.types.Object | None:
        """The rig that was meant when the job began, whichever is selected now; None without one.

        Raises:
            InvalidValue: it was deleted.
        """
        return None if self._about is None else found_again(bpy.data.objects, self._about)

    def rig_if_there(self) -> bpy.types.Object | None:
        """The same; None where it was deleted meanwhile: for a result that can stand on a rig of its own."""
        return next((item for item in bpy.data.objects if item.session_uid == self._about), None)

    def is_about(self, rig: bpy.types.Object) -> None:
        """From now on the job is about this rig, which it made."""
        self._about = known_by(rig)

    def _say(self, context: bpy.types.Context, said: Said) -> None:
        self.report({"INFO"}, said.message)  # type: ignore[attr-defined]
        about = self.rig()
        if self.tells_success:
            tell(scene(context), about, self.place, said)
        else:
            forget(scene(context), about, self.place)

    def _fail(self, context: bpy.types.Context, words: str) -> None:
        said = Said(words, "failed")
        tell(scene(context), self.rig_if_there(), self.place, said)
        self.report({"ERROR"}, said.message)  # type: ignore[attr-defined]

    def _keep(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _clean(self) -> None:
        from .values import discard

        if self._lock is not None and self._folder is not None:
            discard(self._folder, self._lock)
            self._lock = None


def new_folder() -> tuple[Path, Lock]:
    """A new folder in the extension's own, or a temporary one where the add-on is no extension; and its lock.

    Those that a Blender which was killed left there are removed.

    Raises:
        InputError: the disk is full, or nothing can be written there.
    """
    from .values import own_folder, sweep

    parent = tempfile.gettempdir()
    try:
        if PACKAGE.startswith("bl_ext."):
            parent = bpy.utils.extension_path_user(PACKAGE, path="studies", create=True)
        sweep(Path(parent), OWN_FOLDER)
        return own_folder(Path(parent), OWN_FOLDER)
    except OSError as error:
        raise errors.InputError(
            parent, f"holds no new folder: {error.strerror}", remedy="Make room or access"
        ) from None
