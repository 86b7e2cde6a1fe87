"""Motion, plates' errors and inertials estimated together, each from the others in turn."""
