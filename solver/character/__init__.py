"""A skinned character in, a `Rig` with its volumes and inertias out."""
