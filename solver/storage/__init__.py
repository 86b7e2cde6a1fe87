"""Values in, files and folders out that are written whole or not at all, and back again with care."""
