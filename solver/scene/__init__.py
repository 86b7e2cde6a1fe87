"""Values and files that the solver and a scene editor exchange; they need no dynamics library."""
