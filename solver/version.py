"""The version, said once for Python; pyproject.toml and blender_manifest.toml repeat it and a test compares them."""

VERSION = "0.1.0"
