"""A dance in, a video that teaches it out."""
