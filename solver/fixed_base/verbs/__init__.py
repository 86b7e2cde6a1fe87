"""The command line of fixed-base robots: `cli.extensions` finds this package.

``VERBS`` are added to the command line; `compare` handles results of fixed-base robots for the verb ``compare``.
"""

from . import excite, identify_fixed_base
from .comparison import compare

VERBS = (excite, identify_fixed_base)

__all__ = ["VERBS", "compare"]
