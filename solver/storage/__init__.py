"""Storage of this program's own values: files and folders that are written whole or not at all, and read with care."""
