"""Values in, the files and values that a scene editor needs out; no dynamics library is loaded."""
