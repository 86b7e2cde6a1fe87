"""Live capture: a child process receives a stream and tracks it; the rig follows, and takes become actions."""
