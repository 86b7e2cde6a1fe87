"""Renders a rehearsal scene to a video, in this process or as a child process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import bpy

from ..solver_api import (
    create_locked_folder,
    errors,
    remove_abandoned_folders,
    remove_locked_folder,
    stopping,
    write_atomically,
    write_folder,
)
from .options import VIDEO_END, Rendering

TRANSPARENT_LAYERS = 24
"""Largest number of transparent surfaces behind each other, of ghost and captions."""
CANCELLED = 130
"""Exit code after cancelling, as used by shells for Ctrl-C."""
NO_CODEC = "this Blender cannot write H.264: the frames are in the folder as images"
Report = Callable[[float, str], None]


def has_graphics_card() -> bool:
    """Whether this Blender has a window that uses a GPU."""
    if bpy.app.background:
        return False
    import gpu

    return gpu.platform.device_type_get() not in ("SOFTWARE", "UNKNOWN")


def set_engine(scene: bpy.types.Scene, rendering: Rendering) -> None:
    """Set a scene's render engine and its options."""
    render = scene.render
    eevee = rendering.engine == "eevee" or (rendering.engine == "auto" and has_graphics_card())
    if eevee:
        render.engine = "BLENDER_EEVEE" if bpy.app.version >= (5, 0) else "BLENDER_EEVEE_NEXT"  # type: ignore[assignment]
        scene.eevee.taa_render_samples = max(rendering.samples, 8)
        for item in scene.objects:  # EEVEE has no shadow catcher
            item.hide_render = item.hide_render or item.is_shadow_catcher
    else:
        render.engine = "CYCLES"  # type: ignore[assignment]
        cycles = scene.cycles  # type: ignore[attr-defined]
        cycles.device, cycles.samples, cycles.use_adaptive_sampling = "CPU", rendering.samples, False
        cycles.use_denoising, cycles.use_light_tree = rendering.denoise, False
        cycles.max_bounces, cycles.transparent_max_bounces = 0, TRANSPARENT_LAYERS
        cycles.min_transparent_bounces = TRANSPARENT_LAYERS
        cycles.light_sampling_threshold = 0.0  # no random termination of paths
        cycles.pixel_filter_type = "BLACKMAN_HARRIS"
    render.use_persistent_data, render.use_motion_blur = True, False
    render.use_compositing = render.use_sequencer = False
    render.film_transparent = False
    scene.view_settings.view_transform = "Standard"  # keeps the colours of a film


def can_write_video() -> bool:
    """Whether this Blender can encode H.264."""
    return bool(bpy.app.build_options.codec_ffmpeg)  # type: ignore[attr-defined]


def render_video(scene: bpy.types.Scene, path: Path, report: Report, *, own_process: bool = False) -> Path:
    """Render a scene to an .mp4 file, or to a folder of PNG images without H.264; writes all or nothing.

    Args:
        scene: the scene.
        path: path of the video.
        report: called after every frame with progress and message.
        own_process: whether this process only renders, so that signals may end it.

    Returns:
        path of the video or the folder.

    Raises:
        InputError: it cannot be written.
        BackendError: Blender cannot render the scene.
    """
    video = can_write_video()
    target = path if video else path.with_suffix("")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned_folders(target.parent, f".{target.name}.")  # left by a Blender that was killed
        building, lock = create_locked_folder(target.parent, f".{target.name}.")
    except OSError as error:
        raise errors.InputError(path, f"cannot be written: {error.strerror}", remedy="Choose another place") from None
    try:
        with clean_up_on_signal(building) if own_process else nullcontext():
            written = _render(scene, building, video, report)
        move_to_target(written, target)
    except OSError as error:
        raise errors.InputError(path, f"cannot be written: {error.strerror}", remedy="Choose another place") from None
    finally:
        remove_locked_folder(building, lock)
    return target


def move_to_target(source: Path, target: Path) -> Path:
    """Move a video or a folder of images to its target, completely or not at all, also between disks.

    Returns:
        the target.

    Raises:
        InputError: the target cannot be written, or is a folder with files of other programs.
    """
    if source.is_dir():
        with write_folder(target) as new:
            for image in sorted(source.iterdir()):
                shutil.move(image, new / image.name)
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.InputError(target, f"cannot be written: {error.strerror}", remedy="Choose another place") from None
    with write_atomically(target, binary=True) as stream, source.open("rb") as video:
        shutil.copyfileobj(video, stream)
    return target


def _render(scene: bpy.types.Scene, building: Path, video: bool, report: Report) -> Path:
    render = scene.render
    settings = render.image_settings
    if video:
        if hasattr(settings, "media_type"):  # Blender 5
            settings.media_type = "VIDEO"
        settings.file_format = "FFMPEG"
        code = render.ffmpeg
        code.format, code.codec, code.audio_codec = "MPEG4", "H264", "NONE"
        code.constant_rate_factor, code.ffmpeg_preset, code.gopsize = "HIGH", "GOOD", round(scene.render.fps)
        render.filepath = str(building / f"video{VIDEO_END}")
    else:
        settings.file_format = "PNG"
        render.filepath = str(building / "images" / "frame ")
    settings.color_mode = "RGB"
    render.use_file_extension = not video
    render.use_overwrite = True
    count = scene.frame_end - scene.frame_start + 1

    def report_frame(*_: object) -> None:
        done = scene.frame_current - scene.frame_start + 1
        report(done / count, f"frame {done} of {count}")

    bpy.app.handlers.render_write.append(report_frame)
    try:
        bpy.ops.render.render(animation=True, scene=scene.name)
    except RuntimeError as error:
        raise errors.BackendError(f"Blender cannot render: {' '.join(str(error).split())}") from None
    finally:
        bpy.app.handlers.render_write.remove(report_frame)
    written = Path(render.filepath) if video else building / "images"
    if not written.exists():
        raise errors.BackendError("Blender wrote no video: see its console for the reason")
    return written


@contextmanager
def clean_up_on_signal(building: Path, signals: Sequence[int] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[None]:
    """Within this context a signal removes the unfinished video and ends the process after the current frame.

    Blender's rendering cannot be stopped from Python in another way.

    Args:
        building: folder to remove.
        signals: signals that end the process.
    """

    def stop(*_: object) -> None:
        shutil.rmtree(building, ignore_errors=True)
        print("cancelled, nothing was written", file=sys.stderr)
        exit_process(CANCELLED)

    before = {number: signal.signal(number, stop) for number in signals}
    stopping.end_with_parent(stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            # A handler that was set in C, such as Blender's own for Ctrl-C, is None here and cannot be restored from
            # Python. After a video the process only has to end, which is the default action.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def print_progress(fraction: float, message: str) -> None:
    """Print one line of progress for the parent process."""
    print(json.dumps({"fraction": fraction, "message": message}), flush=True)


def render_file(source: str, output: str) -> int:
    """Render the scene of a file; returns the exit code of the child process."""
    try:
        with bpy.data.libraries.load(source) as (there, here):  # type: ignore[attr-defined, func-returns-value]
            here.scenes = there.scenes[:1]
        render_video(here.scenes[0], Path(output), print_progress, own_process=True)
    except (errors.SolverError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def run_child(source: str, output: str) -> None:
    """Render the scene of a file and end the process. Errors must not reach Blender, which would print the script."""
    code = 1
    try:
        code = render_file(source, output)
    except BaseException:
        traceback.print_exc()
    exit_process(code)


def exit_process(code: int) -> None:
    """End the process at once, because the exit handlers of Blender's module sometimes never return."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
