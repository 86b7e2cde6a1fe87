"""Where the real recordings are, unless ``--data`` names another folder."""

from pathlib import Path

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
