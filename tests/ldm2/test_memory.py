"""A memory in a file: what every memory does, and what files can be that are none."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dqa.core.errors import DataError, MissingKeyError, ParseError, UsageError
from dqa_ldm2 import export_memory, import_memory, open_memory
from tests.ldm2.memory_contract import FORMED, REFINED, MemoryContract, placed, state


class TestFile(MemoryContract):
    """A SQLite file."""

    @pytest.fixture
    def location(self, tmp_path: Path) -> str:
        """Return a file that is not there yet."""
        return str(tmp_path / "memory.db")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a memory with something in it."""
    file = tmp_path / "kept.db"
    with open_memory(file, create=True) as memory:
        memory.add([placed("a", "one"), placed("b", "two")], FORMED)
    return file


def test_a_missing_memory_says_how_one_is_made(tmp_path: Path) -> None:
    """And nothing is made by asking."""
    with pytest.raises(UsageError, match="'dqa memory build --world"):
        open_memory(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_what_is_no_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a text, somebody's database, a store in memory, a URL, a place without room."""
    (tmp_path / "text.db").write_text("no database")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
        shop.execute("CREATE TABLE orders (id)")
    for location, create, error, says in (
        (str(tmp_path), False, UsageError, "is a folder"),
        (str(tmp_path / "text.db"), False, DataError, "text.db"),
        (str(tmp_path / "text.db"), True, DataError, "text.db"),
        (str(tmp_path / "shop.db"), False, UsageError, "holds no memory"),
        (str(tmp_path / "shop.db"), True, UsageError, r"tables of its own \(orders\)"),
        ("sqlite://", True, UsageError, "name a file"),
        (str(tmp_path / "no" / "memory.db"), True, UsageError, "folder does not exist"),
        ("duckdb:///x.duckdb", True, UsageError, "SQLAlchemy"),
        ("nonsense://host/x", False, UsageError, "SQLAlchemy"),
        ("/proc/memory.db", True, UsageError, "cannot be|may not"),
    ):
        with pytest.raises(error, match=says):
            open_memory(location, create=create)
    monkeypatch.setitem(sys.modules, "neo4j", None)
    monkeypatch.delitem(sys.modules, "dqa_ldm2.memory.graph", raising=False)
    monkeypatch.delitem(sys.modules, "dqa.databases.neo4j.server", raising=False)
    with pytest.raises(MissingKeyError, match=r"decision-qa\[neo4j\]"):
        open_memory("bolt://host:7687")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingKeyError, match=r"decision-qa\[servers\]") as caught:
        open_memory("postgresql://me:secret@host/x")
    assert "secret" not in str(caught.value)


def test_a_memory_of_another_version_is_refused_by_name(kept: Path) -> None:
    """So is a damaged one; neither is changed."""
    with closing(sqlite3.connect(kept)) as raw:
        raw.execute("UPDATE dqa_memory SET schema_version = 7, written_by = '9.9'")
        raw.commit()
    with pytest.raises(UsageError, match=r"memory of version 7, written by dqa 9\.9"):
        open_memory(kept, create=True)
    with closing(sqlite3.connect(kept)) as raw:
        raw.execute("UPDATE dqa_memory SET schema_version = 2")
        raw.execute("DROP TABLE dqa_memory_repeats")
        raw.commit()
    with pytest.raises(DataError, match="damaged: it has no table dqa_memory_repeats"):
        open_memory(kept)
    kept.write_bytes(kept.read_bytes()[:5000] + b"x" * 5000)
    with pytest.raises(DataError, match="damaged"):
        open_memory(kept)


def test_a_memory_that_may_only_be_read_is_searched(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And adds nothing."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    with open_memory(kept) as memory:
        assert len(memory.find(1, "put", "see", state("a"), 9)) == 2
        with pytest.raises(UsageError, match="may not be written"):
            memory.add([placed("c")], REFINED, batch=1)
        with pytest.raises(UsageError, match="may not be written"):
            memory.undo(1)


def test_an_addition_that_fails_leaves_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction: no version, no types, no tuples."""
    with open_memory(kept) as memory:
        before = (memory.versions(), list(memory.tuples()), memory.goal_types(1))
        with monkeypatch.context() as patched:
            patched.setattr(
                "dqa_ldm2.memory.relational_writing.RelationalWriting.finish",
                lambda *_: 1 / 0,
            )
            with pytest.raises(ZeroDivisionError):
                memory.add([placed("c", kinds=("new", "new"))], REFINED, batch=1)
        assert (memory.versions(), list(memory.tuples()), memory.goal_types(1)) == before


def test_agents_are_not_shown_a_memory_that_lies_in_their_database(kept: Path) -> None:
    """Else a question could be answered from what is excluded for it."""
    from dqa import plugins
    from dqa.core.errors import RefusedStatementError

    with closing(sqlite3.connect(kept)) as raw:
        raw.execute("CREATE TABLE orders (id)")
    opened = plugins.backend_for(str(kept)).open(str(kept), isolation="none")
    assert [table.name for table in opened.schema().tables] == ["orders"]
    with pytest.raises(RefusedStatementError):
        opened.query("SELECT action FROM dqa_memory_tuples")
    opened.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:-1], "holds 1 tuples where its first line says 2"),
        (lambda lines: [*lines[:2], lines[2][:20]], ":3: this is no JSON"),
        (lambda lines: [lines[0].replace("dqa-memory", "else"), *lines[1:]], "format is 'else'"),
        (lambda lines: [], "holds no tuples"),
    ],
)
def test_a_file_that_is_no_export_is_refused(
    kept: Path, tmp_path: Path, change: object, says: str
) -> None:
    """By line, and nothing of it is imported."""
    assert callable(change)
    file = tmp_path / "out.jsonl"
    with open_memory(kept) as memory:
        export_memory(memory, file)
        with pytest.raises(UsageError, match="exists already"):
            export_memory(memory, file)
        file.write_text("\n".join(change(file.read_text().splitlines())))
        with pytest.raises((ParseError, UsageError), match=says):
            import_memory(memory, file)
        with pytest.raises(UsageError, match="does not exist"):
            import_memory(memory, tmp_path / "none.jsonl")
        assert len(memory.versions()) == 1
