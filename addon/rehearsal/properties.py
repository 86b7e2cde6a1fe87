"""Settings for rehearsal videos, stored with the scene."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..base.option_fields import option_group, shown_values
from ..base.solver_api import errors
from .options import VIDEO_END, Film, RehearsalOptions, Rendering, Staging

DEFAULT_STAGING = Staging()
FIELDS: dict[str, Any] = {
    "bpm": {"precision": 0},
    "ghost": {
        "items": (
            ("move", "Next Move", "Play the next move"),
            ("posture", "Next Posture", "Show the posture at the end of the next move"),
            ("none", "None", "Show no ghost"),
        )
    },
    "view": {
        "items": (
            ("front", "Front", "Show the whole dance from the front"),
            ("behind", "Behind", "Show the whole dance from behind"),
            ("camera", "Camera", "Use the chosen camera at its current place"),
        )
    },
    "colours": {"items": (("sides", "Sides", "Left blue, right red"), ("own", "Materials", "Materials of the body"))},
    "engine": {
        "items": (
            ("auto", "Automatic", "Painter, or Cycles if there is a film"),
            ("painter", "Painter", "Fast on every computer; shows no film"),
            ("cycles", "Cycles", "Runs on the CPU, on all computers; slow"),
            ("eevee", "EEVEE", "Runs on the GPU; faster, but without shadows on a film"),
        )
    },
}
BLEND_FOLDER = "//"


def _is_camera(settings: RehearsalSettings, item: bpy.types.Object) -> bool:
    return item.type == "CAMERA"


class RehearsalSettings(option_group(RehearsalOptions, Staging, Rendering, **FIELDS), bpy.types.PropertyGroup):  # type: ignore[misc]
    """Settings for the rehearsal video of a scene."""

    output: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Video",
        description="Video file to write (.mp4)",
        subtype="FILE_PATH",
        default=f"//rehearsal{VIDEO_END}",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    camera: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Camera",
        description="Camera of the video. If empty, the scene's camera",
        type=bpy.types.Object,
        poll=_is_camera,
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
    width: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Width", description="Width of the video in pixels", default=DEFAULT_STAGING.size[0], min=16, max=8192,
        step=2,
    )  # fmt: skip
    height: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Height", description="Height of the video in pixels", default=DEFAULT_STAGING.size[1], min=16, max=8192,
        step=2,
    )  # fmt: skip

    def options(self) -> RehearsalOptions:
        """Options for teaching the dance."""
        return RehearsalOptions(**shown_values(self, RehearsalOptions))

    def staging(self, scene: bpy.types.Scene) -> Staging:
        """Options for the appearance, with the scene's camera if none is chosen."""
        film = None
        if self.film:
            film = Film(
                Path(bpy.path.abspath(self.film)), self.film_offset, self.film_start, self.film_speed, self.film_clock
            )
        camera = self.camera or scene.camera
        return Staging((self.width, self.height), film=film, camera=camera, **shown_values(self, Staging))

    def rendering(self) -> Rendering:
        """Options for rendering."""
        return Rendering(**shown_values(self, Rendering))

    @property
    def needs_saved_file(self) -> bool:
        """Whether the path of the video is relative to a .blend file that was never saved."""
        return self.output.startswith(BLEND_FOLDER) and not bpy.data.filepath

    def video(self) -> Path:
        """Path of the video.

        Raises:
            InvalidValue: the path is relative to a .blend file that was never saved, or does not end in .mp4.
        """
        if self.needs_saved_file:
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
