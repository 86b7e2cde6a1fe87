"""A rig from any skinned character: bones matched to the parts of a person, volumes from the mesh and its weights."""
