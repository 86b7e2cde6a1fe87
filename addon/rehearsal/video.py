"""Renders a rehearsal scene to a video, in this process or as a child process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import bpy
import numpy as np

from ..base.solver_api import (
    create_locked_folder,
    errors,
    remove_abandoned_folders,
    remove_locked_folder,
    termination,
    write_atomically,
    write_clicks,
    write_folder,
)
from ..drawing.painting.png import write_png
from .film import has_film
from .options import VIDEO_END, Rendering
from .painter import FramePainter

TRANSPARENT_LAYERS = 24
"""Largest number of transparent surfaces behind each other, of ghost and captions."""
CANCELLED = 130
"""Exit code after cancelling, as used by shells for Ctrl-C."""
INCOMPLETE = 1
"""Exit code if rendering was stopped and the frames before were written."""
ENGINE_KEY = "exciting_dance_engine"
"""Custom property of a scene: what renders it."""
COUNTS_KEY = "exciting_dance_counts"
"""Custom property of a scene: the count of each frame, of which a change is heard as a click; missing without any."""
ENCODING_FROM = 0.9
"""Progress at which the images are encoded."""
PAINTING_THREADS = 2
"""Frames that are painted at a time, while the next one is read from Blender."""
IMAGE_NAME = "frame {:05d}.png"
NO_CODEC = "this Blender cannot write H.264: the frames are in the folder as images"
Report = Callable[[float, str], None]


class StopRequest:
    """Whether a signal requested that this process stop rendering; what is rendered by then is kept.

    Attributes:
        requested: whether one did.
    """

    def __init__(self) -> None:
        self.requested = False


@dataclass(frozen=True, slots=True)
class Video:
    """What was written.

    Attributes:
        path: of the video, or of the folder of images.
        frames, planned: number of its frames, and of those that were planned; fewer if rendering was stopped.
        rate: [1/s] frame rate.
    """

    path: Path
    frames: int
    planned: int
    rate: float

    @property
    def is_complete(self) -> bool:
        """Whether every frame was rendered."""
        return self.frames == self.planned

    def describe(self) -> str:
        """The path, and how much is missing."""
        if self.is_complete:
            return str(self.path)
        return f"{self.path}: stopped after {self.frames / self.rate:.0f} s of {self.planned / self.rate:.0f} s"


def set_engine(scene: bpy.types.Scene, rendering: Rendering) -> None:
    """Set how a scene is rendered, and the options of its engine.

    Automatic is the painter, which needs no graphics card; a film needs Cycles, which can show it.
    """
    render = scene.render
    engine = rendering.engine
    if engine == "auto":
        engine = "cycles" if has_film(scene) else "painter"
    if engine == "painter" and has_film(scene):
        raise errors.InvalidValue("the painter shows no film: choose the engine Cycles, or no film")
    scene[ENGINE_KEY] = engine
    if engine == "eevee":
        render.engine = "BLENDER_EEVEE" if bpy.app.version >= (5, 0) else "BLENDER_EEVEE_NEXT"  # type: ignore[assignment]
        scene.eevee.taa_render_samples = max(rendering.samples, 8)
        for item in scene.objects:  # EEVEE has no shadow catcher
            item.hide_render = item.hide_render or item.is_shadow_catcher
    elif engine == "cycles":
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


def render_video(scene: bpy.types.Scene, path: Path, report: Report) -> Video:
    """Render a scene to an .mp4 file, or to a folder of PNG images without H.264.

    Frames are rendered as images and encoded at the end. Ctrl-C stops rendering, and what is rendered by then is
    encoded; a second Ctrl-C leaves nothing.

    Args:
        scene: from `scene.build_scene`, with an engine.
        path: path of the video.
        report: called after every frame with progress and message.

    Raises:
        InputError: it cannot be written.
        BackendError: Blender cannot render the scene.
        Cancelled: rendering was stopped before the first frame.
    """
    target = path if can_write_video() else path.with_suffix("")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned_folders(target.parent, f".{target.name}.")  # left by a Blender that was killed
        building, lock = create_locked_folder(target.parent, f".{target.name}.")
    except OSError as error:
        raise errors.InputError(path, f"cannot be written: {error.strerror}", remedy="Choose another place") from None
    planned = scene.frame_end - scene.frame_start + 1
    try:
        with stop_on_signal(building) as stop:
            images = building / "images"
            images.mkdir()
            frames = _render_images(scene, images, report, stop)
            if not frames:
                raise errors.Cancelled("stopped before the first frame; nothing was written")
            report(ENCODING_FROM, f"writing {frames} frames")
            written = encode_video(images, building / f"video{VIDEO_END}", scene) if can_write_video() else images
        move_to_target(written, target)
    except OSError as error:
        raise errors.InputError(path, f"cannot be written: {error.strerror}", remedy="Choose another place") from None
    finally:
        remove_locked_folder(building, lock)
    return Video(target, frames, planned, scene.render.fps / scene.render.fps_base)


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


def _render_images(scene: bpy.types.Scene, folder: Path, report: Report, stop: StopRequest) -> int:
    """Render frames to numbered images until the end or a stop; returns how many."""
    render = scene.render
    set_media_type(render.image_settings, "IMAGE")
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.use_file_extension = render.use_overwrite = True
    planned = scene.frame_end - scene.frame_start + 1
    images = [folder / IMAGE_NAME.format(number) for number in range(1, planned + 1)]
    frames = zip(range(scene.frame_start, scene.frame_end + 1), images, strict=True)
    painted = scene[ENGINE_KEY] == "painter"
    written = _paint_images(FramePainter(scene), frames) if painted else _render_one_by_one(scene, frames)
    done = 0
    while not stop.requested and done < planned:
        next(written)
        done += 1
        report(ENCODING_FROM * done / planned, f"frame {done} of {planned}")
    written.close()
    for image in images[done:]:  # painted ahead
        image.unlink(missing_ok=True)
    return done


def _paint_images(painter: FramePainter, frames: Iterable[tuple[int, Path]]) -> Generator[None, None, None]:
    """Paint and write images in threads, while the next frames are read from Blender; yields after each image."""

    def write(image: Path, paint: Callable[[], np.ndarray]) -> None:
        write_png(image, paint())

    with ThreadPoolExecutor(PAINTING_THREADS) as pool:
        waiting: deque[Future[None]] = deque()
        for frame, image in frames:
            waiting.append(pool.submit(write, image, painter.read(frame)))
            if len(waiting) > PAINTING_THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _render_one_by_one(scene: bpy.types.Scene, frames: Iterable[tuple[int, Path]]) -> Generator[None, None, None]:
    for frame, image in frames:
        _render_image(scene, frame, image)
        yield


def _render_image(scene: bpy.types.Scene, frame: int, image: Path) -> None:
    scene.frame_set(frame)
    scene.render.filepath = str(image)
    try:
        bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        raise errors.BackendError(f"Blender cannot render: {' '.join(str(error).split())}") from None
    if not image.exists():
        raise errors.BackendError("Blender wrote no image: see its console for the reason")


def encode_video(images: Path, path: Path, like: bpy.types.Scene) -> Path:
    """Encode numbered images with the size and frame rate of a scene, and a click on each of its counts.

    Raises:
        BackendError: Blender cannot encode them.
    """
    files = sorted(images.iterdir())
    scene = bpy.data.scenes.new("Encoding")
    try:
        render, settings = scene.render, scene.render.image_settings
        render.resolution_x, render.resolution_y = like.render.resolution_x, like.render.resolution_y
        render.fps, render.fps_base, render.resolution_percentage = like.render.fps, like.render.fps_base, 100
        scene.frame_start, scene.frame_end = 1, len(files)
        scene.view_settings.view_transform = "Standard"
        editor = scene.sequence_editor_create()
        strip = editor.strips.new_image("Frames", str(files[0]), 1, 1, fit_method="ORIGINAL")
        for file in files[1:]:
            strip.elements.append(file.name)  # type: ignore[attr-defined]
        counts = np.array(like.get(COUNTS_KEY, ()), int)[: len(files)]
        if counts.any():
            clicks = write_clicks(path.with_suffix(".wav"), counts, render.fps / render.fps_base)
            editor.strips.new_sound("Clicks", str(clicks), 2, 1)
        render.use_sequencer, render.use_compositing = True, False
        set_media_type(settings, "VIDEO")
        settings.file_format, settings.color_mode = "FFMPEG", "RGB"
        code = render.ffmpeg
        code.format, code.codec, code.audio_codec = "MPEG4", "H264", "AAC" if counts.any() else "NONE"
        code.constant_rate_factor, code.ffmpeg_preset, code.gopsize = "HIGH", "GOOD", render.fps
        render.filepath, render.use_file_extension = str(path), False
        bpy.ops.render.render(animation=True, scene=scene.name)
    except RuntimeError as error:
        raise errors.BackendError(f"Blender cannot encode: {' '.join(str(error).split())}") from None
    finally:
        bpy.data.scenes.remove(scene)
    if not path.exists():
        raise errors.BackendError("Blender wrote no video: see its console for the reason")
    return path


def count_frames(path: Path) -> int:
    """Number of frames of a video, or of images in a folder."""
    if path.is_dir():
        return len(list(path.iterdir()))
    clip = bpy.data.movieclips.load(str(path.resolve()))
    try:
        return clip.frame_duration
    finally:
        bpy.data.movieclips.remove(clip)


def set_media_type(settings: bpy.types.ImageFormatSettings, kind: Literal["IMAGE", "VIDEO"]) -> None:
    """Choose between ``"IMAGE"`` and ``"VIDEO"``, which Blender 5 does before the file format."""
    if hasattr(settings, "media_type"):
        settings.media_type = kind


@contextmanager
def stop_on_signal(building: Path, signals: Sequence[int] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[StopRequest]:
    """Within this context the first signal requests a stop, and the second removes a folder and ends the process.

    The end of the parent process ends this one too, without a video.

    Args:
        building: folder to remove.
        signals: signals that request it.
    """
    stop = StopRequest()

    def leave() -> None:
        shutil.rmtree(building, ignore_errors=True)
        print("cancelled, nothing was written", file=sys.stderr)
        exit_process(CANCELLED)

    def request(*_: object) -> None:
        if stop.requested:
            leave()
        stop.requested = True

    before = {number: signal.signal(number, request) for number in signals}
    termination.end_with_parent(leave)
    try:
        yield stop
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
        video = render_video(here.scenes[0], Path(output), print_progress)
    except errors.Cancelled as error:
        print(error, file=sys.stderr)
        return CANCELLED
    except (errors.SolverError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0 if video.is_complete else INCOMPLETE


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
