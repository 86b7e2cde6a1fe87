"""A dance that is being edited in, its checks and excitation out while the user works."""
