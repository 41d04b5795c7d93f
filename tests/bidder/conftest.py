"""The database of suppliers and an empty history."""

from tests.ldm2.conftest import history
from tests.suppliers import suppliers

__all__ = ["history", "suppliers"]
