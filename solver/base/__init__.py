"""What knows nothing of bodies: arrays, rotations, clocks, files, errors, progress and processes."""
