"""Long computations in child processes: requests go out, messages and results come in."""
