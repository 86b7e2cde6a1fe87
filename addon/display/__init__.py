"""Result folders in, opened studies and their overlays of forces, momentum and markers out."""
