"""Long work as a child process: the window stays alive, a crash costs the job and never the scene."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import ClassVar

import bpy

from .interpreter import PACKAGE, Interpreter, chosen
from .values import errors
from .whole import all_or_nothing

LOOK_EVERY = 0.1
"""[s] between looks at a running child."""
PATIENCE = 3.0
"""[s] a child has to end by itself after it was told to."""
LAST_LINES = 6
"""Lines of a failed child's words that are shown."""


class Job:
    """A run of ``python -m solver VERB ...``.

    Attributes:
        title: what it does, for people.
        fraction: of the work that is done, in [0, 1].
        message: what it does now.
    """

    def __init__(self, title: str, arguments: list[str], interpreter: Interpreter) -> None:
        self.title, self.fraction, self.message = title, 0.0, "starting"
        self.cancelled = False
        self._words: list[str] = []
        self._process = subprocess.Popen(
            interpreter.command(arguments),
            env=interpreter.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
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

    def cancel(self) -> None:
        """End the child, politely first."""
        self.cancelled = True
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._close()

    def check(self) -> None:
        """Raise unless the ended child did its work.

        Raises:
            Cancelled: it was cancelled.
            BackendError: it failed; with its last words.
        """
        self._close()
        if self.cancelled:
            raise errors.Cancelled(f"{self.title}: cancelled, nothing was changed")
        if self._process.returncode != 0:
            crashed = any(word.startswith("Traceback") for word in self._words)
            words = " ".join(self._words[-1:] if crashed else self._words[-LAST_LINES:]).removeprefix("error: ")
            raise errors.BackendError(words or f"{self.title} ended with code {self._process.returncode}")

    def _close(self) -> None:
        for reader in self._readers:
            reader.join(PATIENCE)

    def _progress(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                step = json.loads(line)
                self.fraction, self.message = float(step["fraction"]), str(step["message"])
            except (ValueError, TypeError, KeyError):
                continue  # a table or a note, not for us

    def _complaints(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.strip():
                self._words.append(line.strip())


class Current:
    """The job that runs in this Blender, for the panel that shows it; one at a time."""

    job: ClassVar[Job | None] = None


class JobOperator:
    """Mix-in of an operator that runs a verb and puts its result into the scene.

    In the background the operator returns when all is done; in a window it stays responsive, shows progress, and Esc
    cancels. A failure leaves the scene as it was.
    """

    title: ClassVar[str] = "Solving"

    def arguments(self, context: bpy.types.Context, folder: Path) -> list[str]:
        """The verb and its options; results go into ``folder``."""
        raise NotImplementedError

    def apply(self, context: bpy.types.Context, folder: Path) -> str:
        """Put the results into the scene; what to tell the user."""
        raise NotImplementedError

    def folder(self, context: bpy.types.Context) -> Path:
        """A new folder for the results, where the extension may write."""
        return new_folder()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """One job at a time."""
        return Current.job is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start; and where there is no window, finish."""
        try:
            self._folder = self.folder(context)
            Current.job = Job(self.title, self.arguments(context, self._folder), chosen(context))
        except (errors.SolverError, OSError) as error:
            self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        if bpy.app.background:
            Current.job.wait()
            return self._finish(context)
        manager = context.window_manager
        self._timer = manager.event_timer_add(LOOK_EVERY, window=context.window)
        manager.modal_handler_add(self)
        manager.progress_begin(0.0, 1.0)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Look after the child now and then."""
        job = Current.job
        if job is None:
            return self._end(context, {"CANCELLED"})
        if event.type == "ESC" and event.value == "PRESS":
            job.cancel()
        if event.type != "TIMER" and not job.cancelled:
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(job.fraction)
        redraw(context)
        if job.running:
            return {"PASS_THROUGH"}
        return self._end(context, self._finish(context))

    def _finish(self, context: bpy.types.Context) -> set[str]:
        job, Current.job = Current.job, None
        assert job is not None
        try:
            job.check()
            with all_or_nothing():
                self.report({"INFO"}, self.apply(context, self._folder))  # type: ignore[attr-defined]
        except errors.Cancelled as error:
            self.report({"INFO"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        except errors.SolverError as error:
            self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        return {"FINISHED"}

    def _end(self, context: bpy.types.Context, status: set[str]) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        redraw(context)
        return status


def new_folder() -> Path:
    """A new empty folder in the extension's own, or a temporary one where the add-on is no extension."""
    parent = None
    if PACKAGE.startswith("bl_ext."):
        parent = bpy.utils.extension_path_user(PACKAGE, path="studies", create=True)
    return Path(tempfile.mkdtemp(prefix="study-", dir=parent))


def redraw(context: bpy.types.Context) -> None:
    """Draw the sidebars again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
