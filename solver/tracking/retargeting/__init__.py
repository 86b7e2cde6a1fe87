"""Retargeting: transfers motions to another body, by joints of the same name, or as a whole within contacts and
limits.
"""

from .joint_transfer import common_links, transfer_motion

__all__ = ["common_links", "transfer_motion"]
