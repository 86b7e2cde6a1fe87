"""Access to Blender and to the solver; nothing here knows a job or a study."""
