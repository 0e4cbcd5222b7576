"""Every SQL function, declared once; see ``declaration``, and ``reading`` for what text means it.

An import of any part of the package has all functions: they are put together here, of every module of the folder. One
that has no ``DECLARED`` says only what text means, in a way of its own.
"""

from importlib import import_module
from pkgutil import walk_packages

from workbench.sql.functions import calls, reading

_MODULES = [import_module(found.name) for found in walk_packages(__path__, f"{__name__}.")]
DECLARED = [function for module in _MODULES for function in getattr(module, "DECLARED", ())]
"""All functions that an expression may call, but for those of the analyst."""
calls.FUNCTIONS.update((function.name, function) for function in DECLARED)
for _function in DECLARED:
    reading.read_as(_function)
