"""The language between the solver and a scene editor: plain values and files that need no dynamics library."""
