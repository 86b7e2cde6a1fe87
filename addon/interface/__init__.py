"""State of the scene in, the next step to offer and the overlays to show out."""
