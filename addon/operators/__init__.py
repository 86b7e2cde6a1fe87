"""What the user can do; each operator is a few lines around a plain function."""
