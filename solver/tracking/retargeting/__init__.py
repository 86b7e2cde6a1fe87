"""Motions of one body danced by another: by joints of the same name, or whole, with feet, limits and pace respected."""

from .joint_transfer import common_links, transfer_motion

__all__ = ["common_links", "transfer_motion"]
