"""Results in the scene: opened studies, their settings, and overlays of forces, momentum and markers."""
