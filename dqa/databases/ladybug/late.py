"""Import the modules that opening a database needs, for the fork server of workers."""

from contextlib import suppress
from importlib import import_module

with suppress(ImportError):  # the engine imports it where it is installed
    import_module("pandas")
for module in ("ladybug._lbug", "numpy.ma"):
    import_module(module)
