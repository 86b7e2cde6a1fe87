"""What the user chose for live motion, kept with the scene; whether it runs is not: it ends with the session."""

from __future__ import annotations

import bpy

LOOPBACK, PORT = "127.0.0.1", 9763
"""Where a stream is listened for by default: it never leaves this machine."""


class CaptureSettings(bpy.types.PropertyGroup):
    """Choices of live motion."""

    address: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Address",
        description="Of this computer, at which the stream arrives; 127.0.0.1 never leaves it, any other one needs "
        "Allow Online Access in the preferences",
        default=LOOPBACK,
    )
    port: bpy.props.IntProperty(name="Port", default=PORT, min=1, max=65535)  # type: ignore[valid-type]
    lsl: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="LSL stream",
        description="Name of a stream of the Lab Streaming Layer instead; needs pylsl, and Allow Online Access",
    )
    budget: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Budget", description="Time that one sample may take [ms]", default=5.0, min=0.5, max=100.0, precision=1
    )
    take: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Take", description="Name of the recording and of its action", default="Take"
    )
    show_markers: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Markers", description="Markers as they are seen, with a line to where the body has them", default=True
    )
    show_balance: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Balance", description="Centre of mass, support polygon and zero-moment point (ZMP)", default=True
    )


def capture_settings(scene: bpy.types.Scene) -> CaptureSettings:
    """A scene's choices."""
    return scene.exciting_dance_capture  # type: ignore[attr-defined]


CLASSES = (CaptureSettings,)
