"""Texts of the capture panel."""

from __future__ import annotations

from .session import CaptureSession

QUANTITIES = {"markers": "markers", "segments": "segments", "joints": "joint values"}


def describe_stream(session: CaptureSession, source: str) -> str:
    """State of the stream."""
    state = session.state
    if not state:
        return "Starting"
    if not state.get("quantity"):
        return f"Waiting for a stream on {source}"
    text = f"{state['names']} {QUANTITIES.get(state['quantity'], '')}"
    if state.get("ended"):
        return f"{text}: the stream has ended"
    return f"{text}: no data" if state.get("silent") else text


def describe_latency(session: CaptureSession) -> str:
    """Latency from datagram to pose, and to the display."""
    state = session.state
    own, worst = 1e3 * state.get("latency", 0.0), 1e3 * state.get("latency_99", 0.0)
    return f"Latency {own:.1f} ms (99 %: {worst:.0f} ms), display {1e3 * session.display_latency:.0f} ms"


def describe_balance(session: CaptureSession) -> str:
    """Distance of the zero-moment point from the edge of the support polygon."""
    pose = session.pose
    if pose is None or pose.margin is None:
        return "No foot on the floor"
    what = "CoM" if pose.zmp is None else "ZMP"
    side = "inside" if pose.margin >= 0.0 else "outside"
    return f"{what} {1e3 * abs(pose.margin):.0f} mm {side} the support polygon"


def describe_marker_error(session: CaptureSession) -> str:
    """RMS marker error; empty without markers."""
    pose = session.pose
    if pose is None:
        return ""
    if not pose.tracked:
        return "Too few markers: the last pose is kept"
    return "" if pose.error is None else f"Marker error {1e3 * pose.error:.1f} mm"
