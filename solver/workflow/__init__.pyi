from .pipeline import identify_motions as identify_motions
