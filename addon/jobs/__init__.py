"""Requests in, messages and result folders of child processes out: Blender stays responsive."""
