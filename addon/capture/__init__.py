"""A child process's samples in, a rig that follows them and takes as actions out."""
