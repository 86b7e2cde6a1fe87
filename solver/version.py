"""The version, said once for Python; pyproject.toml and blender_manifest.toml repeat it and a test compares them."""

__version__ = "0.1.0"
