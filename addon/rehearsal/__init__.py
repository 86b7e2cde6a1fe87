"""Videos that teach a dance."""
