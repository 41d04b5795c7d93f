"""What opening a database imports late: a fork server imports it early."""

from contextlib import suppress
from importlib import import_module

with suppress(ImportError):  # the engine imports it where it is installed
    import_module("pandas")
import_module("numpy.ma")
