"""Dances played in MuJoCo: an independent dynamics and contact engine shows whether they balance and identify."""
