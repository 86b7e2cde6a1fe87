"""Names and lengths of bones in, parts of a person and the `Rig` of a body out."""
