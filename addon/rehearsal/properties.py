"""How a dance is rehearsed, kept with the scene."""

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
    """The rehearsal video of a scene's dance."""

    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Video",
        description="File to write (.mp4)",
        subtype="FILE_PATH",
        default=f"//rehearsal{VIDEO_END}",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    slow: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Preview Tempo", description="Of the slow run before real time; "
            "0 for none", default=DEFAULT_OPTIONS.slow, min=0.0,
        max=1.0,
    )  # fmt: skip
    pause: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Pause",
        description="Before each move of the slow run",
        default=DEFAULT_OPTIONS.pause,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    lead: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Lead",
        description="Time to get ready before each run",
        default=DEFAULT_OPTIONS.lead,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    loops: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Real-time Runs", description="How often the dance is shown in "
            "real time", default=DEFAULT_OPTIONS.loops, min=0,
        max=100,
    )  # fmt: skip
    title: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Title", description="On the card at the start; empty: the action's name"
    )
    title_time: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Title Time",
        description="0 for no title card",
        default=DEFAULT_OPTIONS.title,
        unit="TIME_ABSOLUTE",
        min=0.0,
        max=60.0,
    )
    ghost: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Ghost",
        items=(
            ("move", "Plays Next Move", "While the body stands, the ghost dances what comes next"),
            ("posture", "Next Posture", "While the body stands, the ghost stands where the next move leads"),
            ("none", "None", "No ghost"),
        ),
    )
    bpm: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Tempo", description="Beats a minute of the music, counted to eight in the picture; 0: not counted",
        default=DEFAULT_OPTIONS.bpm, min=0.0, max=400.0, precision=0,
    )  # fmt: skip
    mirror: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Mirror", description="Left and right swapped, as a teacher who faces the pupil"
    )
    view: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="View",
        items=(
            ("front", "Front", "From a place in front that sees the whole dance"),
            ("behind", "Behind", "From a place behind that sees the whole dance"),
            ("camera", "Camera", "The chosen camera, where it stands now"),
        ),
    )
    camera: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Camera", description="Empty: the scene's", type=bpy.types.Object, poll=_is_camera
    )
    colours: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Colours",
        items=(("sides", "Sides", "Left blue, right red"), ("own", "Own", "The materials that the body has")),
    )
    film: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Film",
        description="Movie, image or folder of numbered images behind the body",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    film_offset: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Offset", description="Of the video before the film starts", unit="TIME_ABSOLUTE", min=0.0
    )
    film_start: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Start", description="Where in the film it starts", unit="TIME_ABSOLUTE", min=0.0
    )
    film_speed: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Speed", description="Of the film", default=1.0, min=0.01, max=100.0
    )
    film_clock: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Runs with",
        items=(
            ("video", "Video", "It runs on whatever the dance does"),
            ("dance", "Dance", "It slows down and stops with the dance: for a film of somebody who dances it"),
        ),
    )
    shadow: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Shadow on Film", description="The body casts its shadow on the film (Cycles)", default=True
    )
    width: bpy.props.IntProperty(name="Width", default=DEFAULT_STAGING.size[0], min=16, max=8192, step=2)  # type: ignore[valid-type]
    height: bpy.props.IntProperty(name="Height", default=DEFAULT_STAGING.size[1], min=16, max=8192, step=2)  # type: ignore[valid-type]
    rate: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Frame Rate",
        description="Frames of the video per second",
        default=DEFAULT_OPTIONS.rate,
        min=1.0,
        max=240.0,
    )
    engine: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Engine",
        items=(
            ("auto", "Automatic", "EEVEE where this window has a graphics card, otherwise Cycles"),
            ("cycles", "Cycles", "On the processor; works everywhere"),
            ("eevee", "EEVEE", "On the graphics card; faster, no shadow on a film"),
        ),
    )
    samples: bpy.props.IntProperty(name="Samples", default=SAMPLES, min=1, max=4096)  # type: ignore[valid-type]

    def options(self) -> RehearsalOptions:
        """How the dance is taught."""
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
        """How it looks; through the scene's camera where none is chosen."""
        film = None
        if self.film:
            film = Film(
                Path(bpy.path.abspath(self.film)), self.film_offset, self.film_start, self.film_speed, self.film_clock
            )
        size = self.width, self.height
        camera = self.camera or scene.camera
        return Staging(size, self.view, self.mirror, self.colours, self.title, film, self.shadow, camera)

    def rendering(self) -> Rendering:
        """How its frames are made."""
        return Rendering(self.engine, self.samples)

    def video(self) -> Path:
        """The file to write.

        Raises:
            InvalidValue: it is not named, or beside a .blend file that was never saved.
        """
        if self.output.startswith(BLEND_FOLDER) and not bpy.data.filepath:
            raise errors.InvalidValue("the video is to stand beside the .blend file: save that first, or name a place")
        path = Path(bpy.path.abspath(self.output))
        if path.suffix.lower() != VIDEO_END:
            raise errors.InvalidValue(f"the video's name must end in {VIDEO_END}: {self.output!r}")
        return path


def rehearsal_settings(context: bpy.types.Context) -> RehearsalSettings:
    """The scene's settings."""
    return context.scene.exciting_dance_rehearsal
