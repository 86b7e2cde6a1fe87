"""Live motion: a stream is followed by a child process, moves the rig, and is recorded to an action."""
