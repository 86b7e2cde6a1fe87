"""OpenSim models (.osim): reading, their motion, a rig of them, and their inertials written back."""
