"""What is drawn: primitives of overlays, legends, ellipsoids and rendered pictures."""
