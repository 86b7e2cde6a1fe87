"""Foot motion and soles in, contacts over time, rolling feet and support polygons out."""
