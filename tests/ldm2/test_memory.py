"""A memory in a file: the contract, and locations without a memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import DataError, MissingKeyError, RefusedStatementError, UsageError
from dqa_ldm2 import memory, open_memory
from tests.ldm2.memory_contract import FORMED, REFINED, MemoryContract, make_tuple, state
from tests.sqlite_files import run_script


class TestFile(MemoryContract):
    """A SQLite file."""

    @pytest.fixture
    def location(self, tmp_path: Path) -> str:
        """Return a file that does not exist."""
        return str(tmp_path / "memory.db")


@pytest.fixture
def two_tuples(tmp_path: Path) -> Path:
    """Create a memory of two tuples."""
    file = tmp_path / "memory.db"
    with open_memory(file, create=True) as opened:
        opened.add([make_tuple("a", "one"), make_tuple("b", "two")], FORMED)
    return file


def test_a_missing_memory_names_the_command(tmp_path: Path) -> None:
    """The check creates nothing."""
    with pytest.raises(UsageError, match="'dqa memory build --world"):
        open_memory(tmp_path / "none.db")
    memory.require_place(f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(UsageError, match="does not exist"):
        memory.require_place(f"sqlite:///{tmp_path / 'nowhere' / 'none.db'}")
    assert not list(tmp_path.iterdir())


def test_other_locations_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a text, a user's database, RAM, other URLs, a missing folder."""
    (tmp_path / "text.db").write_text("no database")
    run_script(tmp_path / "shop.db", "CREATE TABLE orders (id)")
    for location, create, error, says in (
        (str(tmp_path), False, UsageError, "is not a file"),
        (str(tmp_path / "text.db"), False, DataError, "text.db"),
        (str(tmp_path / "text.db"), True, DataError, "text.db"),
        (str(tmp_path / "shop.db"), False, UsageError, "does not contain a memory"),
        (str(tmp_path / "shop.db"), True, UsageError, r"other tables \(orders\)"),
        ("sqlite://", True, UsageError, "Name a file"),
        (str(tmp_path / "no" / "memory.db"), True, UsageError, "folder does not exist"),
        ("duckdb:///x.duckdb", True, UsageError, "SQLAlchemy"),
        ("nonsense://host/x", False, UsageError, "SQLAlchemy"),
        ("bolt://me:secret@host:7687", True, UsageError, "SQL database"),
        ("/proc/memory.db", True, UsageError, "cannot be|may not"),
    ):
        with pytest.raises(error, match=says) as caught:
            open_memory(location, create=create)
        assert "secret" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingKeyError, match=r"psycopg") as missing:
        open_memory("postgresql://me:secret@host/x")
    assert "secret" not in str(missing.value)


def test_other_versions_and_damaged_memories_are_refused(two_tuples: Path) -> None:
    """The message says what to do; the file is unchanged."""
    run_script(two_tuples, "UPDATE dqa_memory SET schema_version = 2, written_by = '0.3'")
    with pytest.raises(UsageError, match=r"version 2, written by dqa 0\.3\b"):
        open_memory(two_tuples, create=True)
    run_script(two_tuples, "UPDATE dqa_memory SET schema_version = 3; DROP TABLE dqa_memory_tuples")
    with pytest.raises(DataError, match="damaged: it lacks dqa_memory_tuples"):
        open_memory(two_tuples)
    two_tuples.write_bytes(two_tuples.read_bytes()[:5000] + b"x" * 5000)
    with pytest.raises(DataError, match="damaged"):
        open_memory(two_tuples)


def test_a_read_only_memory_is_searched(two_tuples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be changed."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    with open_memory(two_tuples) as opened:
        assert len(opened.find(1, "put", "see", state("a"), 9)) == 2
        with pytest.raises(UsageError, match="may not write"):
            opened.add([make_tuple("c")], REFINED, batch=1)
        with pytest.raises(UsageError, match="may not write"):
            opened.undo(1)


def test_an_addition_that_fails_leaves_nothing(
    two_tuples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one transaction."""
    with open_memory(two_tuples) as opened:
        before = (opened.versions(), list(opened.tuples()), opened.goal_types(1))
        with monkeypatch.context() as patched:
            patched.setattr(memory, "Version", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                opened.add([make_tuple("c", kinds=("new", "new"))], REFINED, batch=1)
        assert (opened.versions(), list(opened.tuples()), opened.goal_types(1)) == before


def test_agents_do_not_see_a_memory_in_their_database(two_tuples: Path) -> None:
    """It could contain answers that are excluded for the question."""
    run_script(two_tuples, "CREATE TABLE orders (id)")
    opened = plugins.backend_for(str(two_tuples)).open(str(two_tuples), isolation="none")
    assert [table.name for table in opened.schema().tables] == ["orders"]
    with pytest.raises(RefusedStatementError):
        opened.query("SELECT action FROM dqa_memory_tuples")
    opened.close()
