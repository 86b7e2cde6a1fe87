"""Settings for rehearsal videos, stored with the scene."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..solver_api import errors
from .options import SAMPLES, VIDEO_END, Film, RehearsalOptions, Rendering, Staging

DEFAULT_OPTIONS, DEFAULT_STAGING = RehearsalOptions(), Staging()
BLEND_FOLDER = "//"


def _is_camera(settings: RehearsalSettings, item: bpy.types.Object) -> bool:
    return item.type == "CAMERA"


class RehearsalSettings(bpy.types.PropertyGroup):
    """Settings for the rehearsal video of a scene."""

    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Video",
        description="Video file to write (.mp4)",
        subtype="FILE_PATH",
        default=f"//rehearsal{VIDEO_END}",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    slow: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Preview Tempo", description="Tempo of the slow run before real time; 0 for no slow run",
        default=DEFAULT_OPTIONS.slow, min=0.0, max=1.0,
    )  # fmt: skip
    pause: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Pause",
        description="Pause before each move of the slow run",
        default=DEFAULT_OPTIONS.pause,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    lead: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Lead-in",
        description="Time to get ready before each run",
        default=DEFAULT_OPTIONS.lead,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    loops: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Real-Time Runs", description="Number of times that the dance is shown in real time",
        default=DEFAULT_OPTIONS.loops, min=0, max=100,
    )  # fmt: skip
    title: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Title", description="Text of the title card"
    )
    title_time: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Title Time",
        description="Duration of the title card; 0 for none",
        default=DEFAULT_OPTIONS.title,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    ghost: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Ghost",
        description="What the ghost shows while the body is still",
        items=(
            ("move", "Next Move", "Play the next move"),
            ("posture", "Next Posture", "Show the posture at the end of the next move"),
            ("none", "None", "Show no ghost"),
        ),
    )
    bpm: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Tempo", description="Beats per minute of the music, counted to eight in the picture; 0 to show no counts",
        default=DEFAULT_OPTIONS.bpm, min=0.0, max=400.0, precision=0,
    )  # fmt: skip
    mirror: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Mirror", description="Swap left and right, as for a teacher who faces the learner"
    )
    view: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="View",
        description="Camera of the video",
        items=(
            ("front", "Front", "Show the whole dance from the front"),
            ("behind", "Behind", "Show the whole dance from behind"),
            ("camera", "Camera", "Use the chosen camera at its current place"),
        ),
    )
    camera: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Camera",
        description="Camera of the video. If empty, the scene's camera",
        type=bpy.types.Object,
        poll=_is_camera,
    )
    colours: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Colours",
        description="Colours of the body",
        items=(("sides", "Sides", "Left blue, right red"), ("own", "Materials", "Materials of the body")),
    )
    film: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Film",
        description="Movie, image or folder of numbered images behind the body",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    film_offset: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Offset", description="Time of the video at which the film starts", unit="TIME_ABSOLUTE", min=0.0
    )
    film_start: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Start", description="First time of the film that is shown", unit="TIME_ABSOLUTE", min=0.0
    )
    film_speed: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Speed", description="Speed of the film", default=1.0, min=0.01, max=100.0
    )
    film_clock: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Timing",
        description="What the film is synchronised with",
        items=(
            ("video", "Video", "The film runs at constant speed"),
            ("dance", "Dance", "The film slows down and stops with the dance, as for a film of a performer"),
        ),
    )
    shadow: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Shadow on Film", description="Let the body cast a shadow on the film (Cycles only)", default=True
    )
    width: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Width", description="Width of the video in pixels", default=DEFAULT_STAGING.size[0], min=16, max=8192,
        step=2,
    )  # fmt: skip
    height: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Height", description="Height of the video in pixels", default=DEFAULT_STAGING.size[1], min=16, max=8192,
        step=2,
    )  # fmt: skip
    rate: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Frame Rate",
        description="Frames per second of the video",
        default=DEFAULT_OPTIONS.rate,
        min=1.0,
        max=240.0,
    )
    engine: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Engine",
        description="Render engine",
        items=(
            ("auto", "Automatic", "Painter, or Cycles if there is a film"),
            ("painter", "Painter", "Fast on every computer; shows no film"),
            ("cycles", "Cycles", "Runs on the CPU, on all computers; slow"),
            ("eevee", "EEVEE", "Runs on the GPU; faster, but without shadows on a film"),
        ),
    )
    samples: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Samples", description="Samples per pixel of Cycles and EEVEE", default=SAMPLES, min=1, max=4096
    )

    def options(self) -> RehearsalOptions:
        """Options for teaching the dance."""
        return RehearsalOptions(
            rate=self.rate,
            slow=self.slow,
            pause=self.pause,
            lead=self.lead,
            loops=self.loops,
            title=self.title_time,
            ghost=self.ghost,
            bpm=self.bpm,
        )

    def staging(self, scene: bpy.types.Scene) -> Staging:
        """Options for the appearance, with the scene's camera if none is chosen."""
        film = None
        if self.film:
            film = Film(
                Path(bpy.path.abspath(self.film)), self.film_offset, self.film_start, self.film_speed, self.film_clock
            )
        size = self.width, self.height
        camera = self.camera or scene.camera
        return Staging(size, self.view, self.mirror, self.colours, self.title, film, self.shadow, camera)

    def rendering(self) -> Rendering:
        """Options for rendering."""
        return Rendering(self.engine, self.samples)

    def video(self) -> Path:
        """Path of the video.

        Raises:
            InvalidValue: the path is relative to a .blend file that was never saved, or does not end in .mp4.
        """
        if self.output.startswith(BLEND_FOLDER) and not bpy.data.filepath:
            raise errors.InvalidValue(
                "the path of the video is relative to the .blend file: save the file first, or choose another path"
            )
        path = Path(bpy.path.abspath(self.output))
        if path.suffix.lower() != VIDEO_END:
            raise errors.InvalidValue(f"the name of the video must end in {VIDEO_END}, not {self.output!r}")
        return path


def rehearsal_settings(context: bpy.types.Context) -> RehearsalSettings:
    """The scene's settings."""
    return context.scene.exciting_dance_rehearsal
