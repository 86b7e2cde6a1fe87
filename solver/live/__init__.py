"""The live check: checks and excitation of a dance while it is edited, and the server that Blender starts."""
