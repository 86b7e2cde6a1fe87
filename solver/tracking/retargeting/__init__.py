"""Motions of one body danced by another: by joints of the same name, or whole, with feet, limits and pace respected."""

from .transfer import common_links, transferred

__all__ = ["common_links", "transferred"]
