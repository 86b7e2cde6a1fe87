"""A stream of samples in, a motion that follows it within a time budget out, and a recording of it."""
