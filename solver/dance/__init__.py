"""Exciting dances: what excites a body, keeps its balance and hits nothing, and the proof that it does: bonnet2016."""
