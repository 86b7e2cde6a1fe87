"""A video to learn a dance from."""
