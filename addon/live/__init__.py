"""The live check: a child process, what it is told, and what is drawn of what it says."""
