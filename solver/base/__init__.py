"""Access to arrays, files, clocks, rotations and processes; nothing here knows a body."""
