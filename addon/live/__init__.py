"""A changed timeline in, checks by a child process and their overlays out."""
