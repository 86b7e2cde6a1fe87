"""How Hypothesis looks for values that break a law: the same ones in every run, a few dozen, nothing kept on disk."""

from hypothesis import settings

settings.register_profile("laws", derandomize=True, max_examples=60, deadline=None, database=None)
settings.load_profile("laws")
