"""What verbs tell besides their tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def warn(warnings: Iterable[str]) -> None:
    """Each different warning once, on the error stream."""
    for text in dict.fromkeys(warnings):
        print(f"warning: {text}", file=sys.stderr)
