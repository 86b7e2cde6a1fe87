"""Exciting dances: motions that excite a body's inertias in balance and without collisions, bonnet2016."""
