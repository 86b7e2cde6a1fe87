"""Access to Blender and to the solver that everything above uses; nothing here knows what a job or a study is."""
