"""Dances on the timeline: poses, keys with roles, contacts, and what the solver proposes."""
