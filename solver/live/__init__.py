"""The checks while somebody edits: checker, excitation, protocol, server."""
