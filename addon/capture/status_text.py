"""What the panel says of a capture, in words."""

from __future__ import annotations

from .session import CaptureSession

QUANTITIES = {"markers": "markers", "segments": "segments", "joints": "joint values"}


def describe_stream(session: CaptureSession, source: str) -> str:
    """What comes, or what is waited for."""
    state = session.state
    if not state:
        return "Starting"
    if not state.get("quantity"):
        return f"Waiting for a stream on {source}"
    words = f"{state['names']} {QUANTITIES.get(state['quantity'], '')}"
    if state.get("ended"):
        return f"{words}: the stream has ended"
    return f"{words}: nothing comes" if state.get("silent") else words


def describe_latency(session: CaptureSession) -> str:
    """From datagram to pose, and to the bones."""
    state = session.state
    own, worst = 1e3 * state.get("latency", 0.0), 1e3 * state.get("latency_99", 0.0)
    return f"{own:.1f} ms to the pose (99 %: {worst:.0f}), {1e3 * session.display_latency:.0f} ms to the bones"


def describe_balance(session: CaptureSession) -> str:
    """How far inside the support the zero-moment point is."""
    pose = session.pose
    if pose is None or pose.margin is None:
        return "No sole on the floor"
    what = "CoM" if pose.zmp is None else "ZMP"
    side = "inside" if pose.margin >= 0.0 else "outside"
    return f"{what} {1e3 * abs(pose.margin):.0f} mm {side} the support"


def describe_marker_error(session: CaptureSession) -> str:
    """How well the markers are met; empty without markers."""
    pose = session.pose
    if pose is None:
        return ""
    if not pose.tracked:
        return "Too little is seen: the pose is held"
    return "" if pose.error is None else f"Markers are met to {1e3 * pose.error:.1f} mm"
