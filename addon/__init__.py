"""The Blender side: data in, data out, operators, panels, overlays. No mathematics: that is the solver's."""
