"""The live check: a child process checks the timeline while the user works, and overlays show its results."""
