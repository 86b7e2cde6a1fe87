"""Dances on the timeline: poses, keys with roles, contacts, and dances proposed by the solver."""
