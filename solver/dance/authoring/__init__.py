"""Authored dances: an animator's keys with roles and contact strips, and their repair, completion and retiming."""
