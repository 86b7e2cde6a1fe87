"""Dances as an animator keys them: postures with roles, contact strips, and their repair, completion and retiming."""
