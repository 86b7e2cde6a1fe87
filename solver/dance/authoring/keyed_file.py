"""The file of an authored dance: rig by value, keys, contact schedule, and a timeline's samples.

q follows Pinocchio: root position, root quaternion xyzw, joints in the rig's order.
"""

from __future__ import annotations

from ...formats.codec import FileKind
from .authored_dance import AuthoredDance

AUTHORED_DANCE = FileKind(
    AuthoredDance, "exciting dance authored dance", remedy="Write the dance again from the timeline"
)
"""JSON."""
