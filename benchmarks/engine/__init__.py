"""Dances danced in MuJoCo: a dynamics and contact engine that is not ours says whether they stand and identify."""
