"""Postures in, splines within limits with planted feet out."""
