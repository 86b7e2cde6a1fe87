"""Settings for live capture, stored with the scene; whether it runs is not stored."""

from __future__ import annotations

import bpy

LOOPBACK, PORT = "127.0.0.1", 9763
"""Default address and port of the stream; the address is only reachable from this machine."""


class CaptureSettings(bpy.types.PropertyGroup):
    """Settings for live capture."""

    address: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Address",
        description="Address of this computer that receives the stream. All addresses except 127.0.0.1 need "
        "Allow Online Access in the preferences",
        default=LOOPBACK,
    )
    port: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Port", description="UDP port that receives the stream", default=PORT, min=1, max=65535
    )
    lsl: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="LSL Stream",
        description="Name of a Lab Streaming Layer stream to use instead. Needs pylsl and Allow Online Access",
    )
    budget: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Time Budget",
        description="Maximum computing time per sample in milliseconds",
        default=5.0,
        min=0.5,
        max=100.0,
        precision=1,
    )
    take: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Take", description="Name of the recording and of its action", default="Take"
    )
    show_markers: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Markers", description="Show measured markers with lines to their modelled positions", default=True
    )
    show_balance: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Balance", description="Show centre of mass, support polygon and zero-moment point (ZMP)", default=True
    )


def capture_settings(scene: bpy.types.Scene) -> CaptureSettings:
    """A scene's settings."""
    return scene.exciting_dance_capture  # type: ignore[attr-defined]


CLASSES = (CaptureSettings,)
