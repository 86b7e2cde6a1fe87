"""Figures of `python -m benchmarks identification` and other verbs, one file per subject."""
