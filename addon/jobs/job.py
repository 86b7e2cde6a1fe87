"""Long computations in a child process: Blender stays responsive, and a crash never affects the scene."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import bpy

from ..base import redraw
from ..base.bpy_access import Status, find_by_session_id, scene, session_id
from ..base.file_cache import clear_caches
from ..base.interpreter import PACKAGE, Interpreter, chosen_interpreter, start_error
from ..base.lifetime import ends_with_file
from ..base.option_fields import use_field_labels
from ..base.process_errors import describe_failure, name_job_files
from ..base.scene_rigs import active_rig, assigning_problem
from ..base.solver_api import errors, termination
from ..base.transaction import all_or_nothing
from .job_messages import JobMessage, describe_duration, dismiss_message, store_message

if TYPE_CHECKING:
    from ..base.solver_api import Lock

POLL_INTERVAL = 0.1
"""[s] Interval between checks of a running child."""
MAX_LINES, MAX_LINE_LENGTH = 200, 65_536
"""Largest number of error lines that are stored, and longest line in characters."""
FIRST_ESTIMATE = 2.0
"""[s] Time from which the time left is estimated."""
SECONDS_PER_LINE = 10.0
"""[s] Between lines of progress in background mode."""
FOLDER_PREFIX = "study-"
"""Prefix of the names of job folders."""
STEP_TIME = 0.1
"""[s] Time of an operator's steps after which Blender responds."""
END_TIMEOUT = 3.0
"""[s] Time for a child to end after it was cancelled, before it is killed."""


class Task:
    """Work that the top of the tab shows and can cancel: here the steps of an operator between which Blender responds.

    Attributes:
        title: what the task does, for the user.
        fraction: fraction of the work that is done.
        message: current step of the task.
        least_fraction: from which on the time left is estimated.
    """

    least_fraction: ClassVar[float] = 1e-3

    def __init__(self, title: str) -> None:
        self.title, self.fraction, self.message = title, 0.0, "starting"
        self.started = time.monotonic()
        self._cancel_time: float | None = None

    def describe(self) -> str:
        """Current step of the task, and the time left once it can be estimated."""
        left = self.estimate_time_left()
        return self.message if left is None else f"{self.message}, {describe_duration(left)} left"

    def estimate_time_left(self) -> float | None:
        """Time [s] that the rest takes at the speed so far; None at the start and while the task is cancelled."""
        spent = time.monotonic() - self.started
        if spent < FIRST_ESTIMATE or not self.least_fraction <= self.fraction < 1.0 or self.cancelled:
            return None
        return spent * (1.0 - self.fraction) / self.fraction

    @property
    def cancelled(self) -> bool:
        """Whether the task was cancelled."""
        return self._cancel_time is not None

    def cancel(self) -> None:
        """Ask the task to end; returns at once."""
        self._cancel_time = time.monotonic()

    def end(self) -> None:
        """Cancel, and wait until nothing runs any more."""
        self.cancel()

    def wait(self, look: Callable[[], None] = lambda: None) -> None:
        """Block until nothing runs any more, with a look at the results at every interval."""

    def poll(self) -> bool:
        """Whether a process runs that must be waited for."""
        return False

    def raise_on_failure(self, *, finished: bool = False) -> None:
        """Raise an error if the ended task did not deliver its results.

        Args:
            finished: whether complete results exist; cancelling and the exit code are then ignored.

        Raises:
            Cancelled: the task was cancelled.
            BackendError: its process failed; with its error output.
        """
        if self.cancelled and not finished:
            raise errors.Cancelled(f"{self.title}: cancelled, nothing was changed")


class Job(Task):
    """A run of ``python -m solver VERB ...``."""

    least_fraction = 0.03

    def __init__(
        self, title: str, arguments: list[str], interpreter: Interpreter, *, end_timeout: float = END_TIMEOUT
    ) -> None:
        super().__init__(title)
        self._end_timeout = end_timeout
        self._error_lines: deque[str] = deque(maxlen=MAX_LINES)
        self._interpreter = interpreter
        try:
            self._process = subprocess.Popen(
                interpreter.command(arguments),
                env={**interpreter.environment, termination.LIFELINE: "1"},
                stdin=subprocess.PIPE,  # what is written ends the child, and so does its end after a crash
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
        """Whether the child is running."""
        return self._process.poll() is None

    def wait(self, look: Callable[[], None] = lambda: None) -> None:
        """Block until the child ends. Prints a line of progress now and then, which a window shows in its panel."""
        printed = time.monotonic()
        while self.poll():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_INTERVAL)
            look()
            if time.monotonic() - printed > SECONDS_PER_LINE:
                print(f"{self.title}: {self.describe()}", flush=True)
                printed = time.monotonic()
        self._close()

    def cancel(self) -> None:
        """Terminate the child; returns at once."""
        if self.running and not self.cancelled:
            super().cancel()
            self.message = "stopping" if self._end_timeout <= END_TIMEOUT else "writing partial results"
            assert self._process.stdin is not None
            with suppress(OSError):  # it has just ended
                self._process.stdin.write("stop\n")
                self._process.stdin.flush()

    def poll(self) -> bool:
        """Whether the child is running. A cancelled child that does not end in time is killed."""
        if self._cancel_time is not None and self.running and time.monotonic() - self._cancel_time > self._end_timeout:
            self._process.kill()
        return self.running

    def end(self) -> None:
        """Cancel, and wait until the child has ended, without its time for partial results."""
        self._end_timeout = min(self._end_timeout, END_TIMEOUT)
        self.cancel()
        while self.poll():
            time.sleep(POLL_INTERVAL)
        self._close()

    def raise_on_failure(self, *, finished: bool = False) -> None:
        self._close()
        super().raise_on_failure(finished=finished)
        if self._process.returncode != 0 and not finished:
            message = describe_failure(list(self._error_lines), self._process.returncode, activity=self.message)
            raise errors.BackendError(message + self._interpreter.describe_origin(self._error_lines))

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
                continue  # not a progress line
            if fraction == fraction:  # not NaN
                self.fraction = fraction
                self.message = self.message if self.cancelled else message

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in iter(partial(self._process.stderr.readline, MAX_LINE_LENGTH), ""):
            if line.strip():
                self._error_lines.append(line.rstrip())


class CurrentJob:
    """The running task of this Blender, for the panel that shows it; one at a time."""

    job: ClassVar[Task | None] = None

    @classmethod
    def release(cls) -> Task | None:
        """Return the current job and clear it."""
        job, cls.job = cls.job, None
        return job


def end_current() -> None:
    """End the current job: no job outlives the add-on, the open file, or Blender."""
    job = CurrentJob.release()
    if job is not None:
        job.end()


register, unregister = ends_with_file(end_current)


class JobOperator:
    """Mix-in of an operator that runs a solver verb and puts its result into the scene.

    In background mode the operator returns when the job is finished. In a window Blender stays responsive, and the top
    of the tab shows progress, time left and Cancel. A failed job changes nothing and leaves no folder behind.

    Attributes:
        title: what the job does, for the user.
        panel: place of the job's message, which replaces the earlier one at that place.
        shows_success: whether the panel keeps a message about success.
        keeps_folder: whether the results stay on disk.
        end_timeout: [s] time for a cancelled child to end.
        input_names: description, for the user, of each file that is written for the child.
    """

    bl_options: Any = {"REGISTER", "UNDO"}  # noqa: RUF012
    title: ClassVar[str] = "Solving"
    panel: ClassVar[str] = "study"
    shows_success: bool = True
    keeps_folder: bool = False
    end_timeout: ClassVar[float] = END_TIMEOUT
    input_names: ClassVar[Mapping[str, str]] = {}

    def steps(self, context: bpy.types.Context) -> Iterator[float]:
        """Work before the child starts, in steps that yield the fraction done; a window responds between them, at once
        after a step that yields the same fraction again. Undo may exchange all data in between: find them anew in each
        step. By default nothing."""
        return iter(())

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str] | None:
        """The verb and its options; the results go to ``folder``. None: the steps were all, there is no child."""
        raise NotImplementedError

    def apply(self, context: bpy.types.Context, folder: Path) -> JobMessage:
        """Put the results into the scene and return a message for the user."""
        raise NotImplementedError

    def look(self, context: bpy.types.Context) -> None:
        """Put results into the scene that are complete before the job ends; by default none."""

    def interpreter(self, context: bpy.types.Context) -> Interpreter:
        """The program that runs the child; by default the solver's Python."""
        return chosen_interpreter(context)

    def has_results(self, folder: Path) -> bool:
        """Whether results are used although the job was cancelled or ended with an exit code; by default never."""
        return False

    def output_folder(self, context: bpy.types.Context) -> Path | None:
        """The user's output folder, which is never removed; None for a new folder of the add-on."""
        return None

    @classmethod
    def find_problem(cls, context: bpy.types.Context) -> str:
        """Why the operator cannot run, besides another running job, as one sentence; empty by default."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether no other job is running and nothing else prevents this one; otherwise Blender shows the reason."""
        job = CurrentJob.job
        problem = cls.find_problem(context) if job is None else f"{job.title} is running: wait for it, or cancel it"
        if problem:
            cls.poll_message_set(problem)  # type: ignore[attr-defined]
        return not problem

    def execute(self, context: bpy.types.Context) -> Status:
        """Start the job; in background mode also finish it."""
        self._rig_id = None if (rig := active_rig(context)) is None else session_id(rig)
        self._folder: Path | None = None
        self._lock: Lock | None = None  # of the add-on's own folder
        self._problem: Exception | None = None
        self._preparation = self._prepare(context)
        CurrentJob.job = self._job = Task(self.title)
        while self._advance() and bpy.app.background:
            pass
        if bpy.app.background or self._problem is not None:
            self._job.wait(partial(self._look, context))
            return self.finish(context)
        manager = context.window_manager
        self._timer = manager.event_timer_add(POLL_INTERVAL, window=context.window)
        manager.modal_handler_add(self)  # type: ignore[arg-type]
        self._shown_progress: tuple[float, str] | None = None
        return {"RUNNING_MODAL"}

    def _prepare(self, context: bpy.types.Context) -> Generator[float, None, None]:
        """Do the steps, and start the child after them."""
        folder = self.output_folder(context)
        self._folder, self._lock = create_job_folder() if folder is None else (folder, None)
        yield from self.steps(context)
        arguments = self.arguments(context, self._folder)
        if arguments is not None:
            self._job = Job(self.title, arguments, self.interpreter(context), end_timeout=self.end_timeout)
            CurrentJob.job = self._job

    def _advance(self) -> bool:
        """Prepare the job for a moment; whether it is not prepared yet. An error is kept for the end."""
        stop = time.monotonic() + STEP_TIME
        try:
            while not self._job.cancelled and time.monotonic() < stop:
                fraction = next(self._preparation, None)
                if fraction is None:
                    return False
                if fraction == self._job.fraction:  # nothing more to do for a moment
                    break
                self._job.fraction, self._job.message = fraction, f"{100.0 * fraction:.1f} %"
        except (errors.SolverError, OSError) as error:
            self._problem = error
        return self._problem is None and not self._job.cancelled

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Advance the job at every timer event; Esc cancels it before its child starts."""
        if event.type == "ESC" and not isinstance(self._job, Job):
            self._job.cancel()
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        more = self._advance()
        now = (self._job.fraction, self._job.message)
        if now != self._shown_progress:
            self._shown_progress = now
            redraw.redraw_sidebars()
        running = more or self._job.poll()
        if self._waits_for_user():
            return {"PASS_THROUGH"}
        self._look(context)
        if running:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        status = self.finish(context)
        redraw.redraw_sidebars()
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        """End the job; Blender calls this when the window closes or another file is opened."""
        end_current()
        self._discard_folder()

    def _look(self, context: bpy.types.Context) -> None:
        """Put early results into the scene; an error ends the job."""
        try:
            self.look(context)
        except errors.SolverError as error:
            self._problem = error
            self._job.cancel()

    def _waits_for_user(self) -> bool:
        """Whether the result has to wait, because bones in edit mode or actions in tweak mode cannot be changed."""
        rig = self.receiver()
        editing = rig is not None and rig.mode == "EDIT"
        problem = "leave edit mode of the rig (Tab)" if editing else assigning_problem(rig)
        if problem:
            self._job.message = f"finished, {problem} to see the result"
        return bool(problem)

    def receiver(self) -> bpy.types.Object | None:
        """The rig that the result changes; None if there is none any more."""
        return self.existing_rig()

    def finish(self, context: bpy.types.Context) -> Status:
        """Put the results of the ended child into the scene, or report what went wrong."""
        job = CurrentJob.release()
        done, folder = False, self._folder or Path()
        try:
            self._preparation.close()
            if self._problem is not None:
                raise self._problem
            if job is None:
                raise errors.Cancelled(f"{self.title}: stopped, nothing was changed")
            job.raise_on_failure(finished=self.has_results(folder))
            with all_or_nothing():
                message = self.apply(context, folder)
            done = True
            clear_caches()
            self._show_message(context, message)
        except errors.Cancelled as error:
            self.report({"INFO"}, str(error))  # type: ignore[attr-defined]
        except (errors.SolverError, OSError) as error:
            self._show_error(context, name_job_files(str(error), folder, self.input_names))
        finally:
            if done and self.keeps_folder:
                self._release_folder()
            else:
                self._discard_folder()
        return {"FINISHED"} if done else {"CANCELLED"}

    def rig(self) -> bpy.types.Object | None:
        """The rig that was active when the job started; None without one.

        Raises:
            InvalidValue: the rig was deleted.
        """
        return None if self._rig_id is None else find_by_session_id(bpy.data.objects, self._rig_id)

    def existing_rig(self) -> bpy.types.Object | None:
        """The same, but None if the rig was deleted: for results that can use a new rig."""
        return next((item for item in bpy.data.objects if item.session_uid == self._rig_id), None)

    def set_rig(self, rig: bpy.types.Object) -> None:
        """Attach the job to the rig that it created."""
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
        self.report({"ERROR"}, use_field_labels(text))  # type: ignore[attr-defined]

    def _release_folder(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _discard_folder(self) -> None:
        from ..base.solver_api import remove_locked_folder

        if self._lock is not None and self._folder is not None:
            remove_locked_folder(self._folder, self._lock)
            self._lock = None


def create_job_folder() -> tuple[Path, Lock]:
    """Create a locked folder in the extension's folder, or a temporary one if the add-on is not an extension.

    Folders left by a Blender that was killed are removed.

    Raises:
        InputError: the disk is full, or the folder cannot be written.
    """
    import tempfile

    from ..base.solver_api import create_locked_folder, remove_abandoned_folders

    parent = tempfile.gettempdir()
    try:
        if PACKAGE.startswith("bl_ext."):
            parent = bpy.utils.extension_path_user(PACKAGE, path="studies", create=True)
        remove_abandoned_folders(Path(parent), FOLDER_PREFIX)
        return create_locked_folder(Path(parent), FOLDER_PREFIX)
    except OSError as error:
        raise errors.InputError(
            parent, f"cannot create a folder: {error.strerror}", remedy="Free disk space or change permissions"
        ) from None
