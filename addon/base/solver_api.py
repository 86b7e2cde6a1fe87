"""The only module that imports the solver package, which lies beside the add-on.

Each name of ``solver_api.pyi`` is imported when it is first used, so that enabling the extension imports little of the
solver.
"""

from importlib import import_module

_HOUSE = __package__.rpartition("addon")[0]
"""Prefix of the solver's import path: in the extension ``bl_ext.<repository>.exciting_dance.``, otherwise empty."""
__all__, __getattr__, __dir__ = import_module(f"{_HOUSE}solver.base.lazy_imports").lazy_exports(__name__, _HOUSE)
