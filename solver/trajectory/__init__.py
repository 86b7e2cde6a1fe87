"""Curves of coordinates between postures: splines, planted feet, and the programmes that improve them."""
