"""Bones of a skeleton in, parts of a person out: by their names, their tree and their lengths."""
