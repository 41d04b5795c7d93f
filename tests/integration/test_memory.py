"""Memories of LDM2 in real servers: the same as in a file."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.servers import parse_url
from dqa.databases.store_locations import StoreLocation, open_store, write
from dqa_ldm2 import open_memory
from tests.ldm2.memory_contract import FORMED, MemoryContract, make_tuple, state


def kept(location: str) -> StoreLocation:
    """Return a server's database, for what the tests themselves write."""
    url = parse_url(location)
    return StoreLocation(url.render_as_string(hide_password=False), None, "memory", "")


class TestRelationalServers(MemoryContract):
    """PostgreSQL, and MariaDB or MySQL."""

    @pytest.fixture
    def location(self, own_database: str) -> str:
        """Return the URL of an empty database."""
        return own_database

    def test_a_password_is_not_shown(self, location: str) -> None:
        """Nor is a database with other tables made a memory."""
        password = str(parse_url(location).password)
        with open_memory(location, create=True) as memory:
            assert password not in memory.location
            memory.add([make_tuple("a")], FORMED)
            found = memory.find(1, "put", "see", state("a"), 1)
            assert password not in f"{found} {memory!r}"
        wrong = location.replace(password, "wrong-word")
        with pytest.raises((DatabaseUnavailableError, UsageError)) as caught:
            open_memory(wrong)
        assert "wrong-word" not in str(caught.value)

    def test_a_database_with_tables_of_its_own_is_refused(self, location: str) -> None:
        """It may be the one that is asked."""
        engine = open_store(kept(location), writing=True)
        with write(engine) as connection:
            connection.execute(text("CREATE TABLE orders_of_a_shop (id INTEGER)"))
        engine.dispose()
        with pytest.raises(UsageError, match="other tables"):
            open_memory(location, create=True)
