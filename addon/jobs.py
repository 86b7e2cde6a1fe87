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
from .bpy_access import Status, find_by_session_id, scene, session_id
from .file_cache import clear_caches
from .interpreter import PACKAGE, Interpreter, chosen_interpreter, start_error
from .job_messages import JobMessage, dismiss_message, store_message
from .process_errors import describe_failure, name_job_files
from .scene_rigs import active_rig
from .solver_api import errors, stopping
from .transaction import all_or_nothing

if TYPE_CHECKING:
    from .solver_api import Lock

POLL_INTERVAL = 0.1
"""[s] between looks at a running child."""
MAX_LINES, MAX_LINE_LENGTH = 200, 65_536
"""Of what a child says: complaints that are kept, and letters after which a line counts as ended."""
FOLDER_PREFIX = "study-"
"""Begins the names of jobs' folders."""
END_TIMEOUT = 3.0
"""[s] a child has to end by itself after it was told to."""


class Job:
    """A run of ``python -m solver VERB ...``.

    Attributes:
        title: what it does, for people.
        panel: the panel that shows it.
        fraction: of the work that is done, in [0, 1].
        message: what it does now.
    """

    def __init__(
        self,
        title: str,
        arguments: list[str],
        interpreter: Interpreter,
        *,
        end_timeout: float = END_TIMEOUT,
        panel: str = "",
    ) -> None:
        self.title, self.panel, self.fraction, self.message = title, panel, 0.0, "starting"
        self._end_timeout = end_timeout
        self.started = time.monotonic()
        self._cancel_time: float | None = None
        self._error_lines: deque[str] = deque(maxlen=MAX_LINES)
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
            raise start_error(interpreter, error) from None
        self._readers = [
            threading.Thread(target=read, daemon=True) for read in (self._read_progress, self._read_errors)
        ]
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
        return self._cancel_time is not None

    def cancel(self) -> None:
        """Tell the child to end, and return at once."""
        if self.running and not self.cancelled:
            self._cancel_time = time.monotonic()
            self.message = "stopping" if self._end_timeout <= END_TIMEOUT else "finishing what is done"
            self._process.terminate()

    def poll(self) -> bool:
        """Whether the child still works; one that was told to end and does not is killed."""
        if self._cancel_time is not None and self.running and time.monotonic() - self._cancel_time > self._end_timeout:
            self._process.kill()
        return self.running

    def end(self) -> None:
        """Cancel, and wait until the child is gone; nobody waits for what it could still finish."""
        self._end_timeout = min(self._end_timeout, END_TIMEOUT)
        self.cancel()
        while self.poll():
            time.sleep(POLL_INTERVAL)
        self._close()

    def raise_on_failure(self, *, finished: bool = False) -> None:
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
            words = describe_failure(list(self._error_lines), self._process.returncode, activity=self.message)
            raise errors.BackendError(words + self._interpreter.describe_origin(self._error_lines))

    def _close(self) -> None:
        for reader in self._readers:
            reader.join(END_TIMEOUT)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _read_progress(self) -> None:
        assert self._process.stdout is not None
        for line in iter(partial(self._process.stdout.readline, MAX_LINE_LENGTH), ""):
            try:
                step = json.loads(line)
                fraction, message = min(max(float(step["fraction"]), 0.0), 1.0), str(step["message"])
            except (ValueError, TypeError, KeyError, RecursionError):
                continue  # a table or a note, not for us
            if fraction == fraction:  # not NaN
                self.fraction = fraction
                self.message = self.message if self.cancelled else message

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in iter(partial(self._process.stderr.readline, MAX_LINE_LENGTH), ""):
            if line.strip():
                self._error_lines.append(line.rstrip())


class CurrentJob:
    """The job that runs in this Blender, for the panel that shows it; one at a time."""

    job: ClassVar[Job | None] = None

    @classmethod
    def release(cls) -> Job | None:
        """The job, which from now on is no longer the current one."""
        job, cls.job = cls.job, None
        return job


def end_current() -> None:
    """No job outlives the add-on, the file it works for, or Blender."""
    job = CurrentJob.release()
    if job is not None:
        job.end()


@bpy.app.handlers.persistent
def _end_before_load(*_: object) -> None:
    end_current()


def register() -> None:
    """End the job before another file is opened and when Blender quits."""
    bpy.app.handlers.load_pre.append(_end_before_load)
    atexit.register(end_current)


def unregister() -> None:
    """End the job."""
    end_current()
    atexit.unregister(end_current)
    if _end_before_load in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(_end_before_load)


class JobOperator:
    """Mix-in of an operator that runs a verb and puts its result into the scene.

    In the background the operator returns when all is done; in a window it stays responsive and shows progress, and the
    panel's Cancel ends it. A failure leaves the scene as it was and no folder behind.
    """

    title: ClassVar[str] = "Solving"
    panel: ClassVar[str] = "study"
    shows_success: bool = True
    keeps_folder: bool = False
    end_timeout: ClassVar[float] = END_TIMEOUT
    input_names: ClassVar[Mapping[str, str]] = {}
    """What the files that are written for the child are to the user."""

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        """The verb and its options; results go into ``folder``."""
        raise NotImplementedError

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        """Put the results into the scene; what to tell the user."""
        raise NotImplementedError

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        """What runs the child: the solver's Python, unless said here."""
        return chosen_interpreter(context)

    def has_results(self, folder: Path) -> bool:
        """Whether results count although the child was told to end or ended with a code; never, unless said here."""
        return False

    def output_folder(self, context: bpy.types.Context) -> Path | None:
        """The folder that the user named, which stays whatever happens; None for a new one of the add-on's own."""
        return None

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """What stands in the way besides another job, in one sentence; nothing, unless said here."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """One job at a time, and nothing that is missing; what it is is said."""
        said = (
            f"{CurrentJob.job.title}: wait for it, or cancel it"
            if CurrentJob.job is not None
            else cls.find_problem(context)
        )
        if said:
            cls.poll_message_set(said)  # type: ignore[attr-defined]
        return not said

    def execute(self, context: bpy.types.Context) -> Status:
        """Start; and where there is no window, finish."""
        if not self.begin(context) or CurrentJob.job is None:
            return {"CANCELLED"}
        if bpy.app.background:
            CurrentJob.job.wait()
            return self.finish(context)
        manager = context.window_manager
        self._job, self._timer = CurrentJob.job, manager.event_timer_add(POLL_INTERVAL, window=context.window)
        manager.modal_handler_add(self)  # type: ignore[arg-type]
        self._shown_progress: tuple[float, str] | None = None
        return {"RUNNING_MODAL"}

    def begin(self, context: bpy.types.Context) -> bool:
        """Start the child; whether it runs. What stands in the way is told."""
        self._rig_id = None if (rig := active_rig(context)) is None else session_id(rig)
        self._folder: Path | None = None
        self._lock: Lock | None = None  # of a folder that is the add-on's own
        try:
            wanted = self.output_folder(context)
            self._folder, self._lock = create_job_folder() if wanted is None else (wanted, None)
            words = self.arguments(context, self._folder)
            CurrentJob.job = Job(
                self.title, words, self.interpreter(context), end_timeout=self.end_timeout, panel=self.panel
            )
        except (errors.SolverError, OSError) as error:
            self._discard_folder()
            self._show_error(context, str(error))
        return CurrentJob.job is not None

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Look after the child now and then."""
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        now = (self._job.fraction, self._job.message)
        if now != self._shown_progress:
            self._shown_progress = now
            redraw.redraw_sidebars()
        if self._job.poll() or self._waits_for_edit_mode():
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        status = self.finish(context)
        redraw.redraw_sidebars()
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator: the window closes or another file is opened."""
        end_current()
        self._discard_folder()

    def _waits_for_edit_mode(self) -> bool:
        """Whether the result has to wait: bones in edit mode take nothing, and it would be lost."""
        rig = self.existing_rig()
        waits = rig is not None and rig.mode == "EDIT"
        if waits:
            self._job.message = "done, leave edit mode to see it (Tab)"
        return waits

    def finish(self, context: bpy.types.Context) -> Status:
        """Put what the ended child left into the scene, or tell what went wrong."""
        job = CurrentJob.release()
        done = False
        assert self._folder is not None
        try:
            if job is None:
                raise errors.Cancelled(f"{self.title}: stopped, nothing was changed")
            job.raise_on_failure(finished=self.has_results(self._folder))
            with all_or_nothing():
                said = self.apply(context, self._folder)
            done = True
            clear_caches()
            self._show_message(context, said)
        except errors.Cancelled as error:
            self.report({"INFO"}, str(error))  # type: ignore[attr-defined]
        except errors.SolverError as error:
            self._show_error(context, name_job_files(str(error), self._folder, self.input_names))
        finally:
            if done and self.keeps_folder:
                self._release_folder()
            else:
                self._discard_folder()
        return {"FINISHED"} if done else {"CANCELLED"}

    def rig(self) -> bpy.types.Object | None:
        """The rig that was meant when the job began, whichever is selected now; None without one.

        Raises:
            InvalidValue: it was deleted.
        """
        return None if self._rig_id is None else find_by_session_id(bpy.data.objects, self._rig_id)

    def existing_rig(self) -> bpy.types.Object | None:
        """The same; None where it was deleted meanwhile: for a result that can stand on a rig of its own."""
        return next((item for item in bpy.data.objects if item.session_uid == self._rig_id), None)

    def set_rig(self, rig: bpy.types.Object) -> None:
        """From now on the job is about this rig, which it made."""
        self._rig_id = session_id(rig)

    def _show_message(self, context: bpy.types.Context, message: JobMessage) -> None:
        self.report({"INFO"}, message.message)  # type: ignore[attr-defined]
        about = self.rig()
        if self.shows_success:
            store_message(scene(context), about, self.panel, message)
        else:
            dismiss_message(scene(context), about, self.panel)

    def _show_error(self, context: bpy.types.Context, text: str) -> None:
        said = JobMessage(text, "failed")
        store_message(scene(context), self.existing_rig(), self.panel, said)
        self.report({"ERROR"}, said.message)  # type: ignore[attr-defined]

    def _release_folder(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _discard_folder(self) -> None:
        from .solver_api import remove_locked_folder

        if self._lock is not None and self._folder is not None:
            remove_locked_folder(self._folder, self._lock)
            self._lock = None


def create_job_folder() -> tuple[Path, Lock]:
    """A new folder in the extension's own, or a temporary one where the add-on is no extension; and its lock.

    Those that a Blender which was killed left there are removed.

    Raises:
        InputError: the disk is full, or nothing can be written there.
    """
    from .solver_api import create_locked_folder, remove_abandoned_folders

    parent = tempfile.gettempdir()
    try:
        if PACKAGE.startswith("bl_ext."):
            parent = bpy.utils.extension_path_user(PACKAGE, path="studies", create=True)
        remove_abandoned_folders(Path(parent), FOLDER_PREFIX)
        return create_locked_folder(Path(parent), FOLDER_PREFIX)
    except OSError as error:
        raise errors.InputError(
            parent, f"holds no new folder: {error.strerror}", remedy="Make room or access"
        ) from None
