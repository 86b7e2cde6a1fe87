"""Mouse and pins in, postures of the rig out."""
