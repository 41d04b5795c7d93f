"""Opening and making database files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.database import Limits
from dqa.core.errors import DataError, QueryError, UsageError
from dqa.core.situation import Situation
from dqa.databases.base import Backend
from dqa.databases.ladybug import backend as ladybug
from dqa.databases.sqlite import backend as sqlite
from dqa.loaders.readback import read_situation, sort_rows


def test_a_loaded_file_can_be_opened_again(
    backend: Backend, situation: Situation, tmp_path: Path
) -> None:
    """By path and by URL, with everything in it, and read-only even without the guard."""
    file = tmp_path / "a world.db"
    backend.load(situation, str(file)).close()
    for location in (str(file), f"{backend.name}:///{file}"):
        assert backend.accepts(location)
        database = backend.open(location)
        assert read_situation(database, situation.schema, "again") == sort_rows(situation)
        write = {
            "duckdb": "DELETE FROM flow",
            "ladybug": "MATCH (n) DETACH DELETE n",
            "sqlite": "DELETE FROM flow",
        }
        with pytest.raises(QueryError):
            database._session.run(write[backend.name], Limits())
        database.close()


def test_nothing_is_overwritten(backend: Backend, situation: Situation, tmp_path: Path) -> None:
    """A location where something is, is refused and left as it is."""
    file = tmp_path / "x.db"
    file.write_text("mine")
    with pytest.raises(UsageError, match=r"(?i)nothing is overwritten"):
        backend.load(situation, str(file))
    assert file.read_text() == "mine"


def test_a_missing_folder_is_named(backend: Backend, situation: Situation, tmp_path: Path) -> None:
    """No folder is made on the way."""
    with pytest.raises(UsageError, match="There is no folder"):
        backend.load(situation, str(tmp_path / "missing" / "x.db"))


def test_opening_what_is_not_there_creates_nothing(backend: Backend, tmp_path: Path) -> None:
    """A mistyped path is an error and stays missing."""
    with pytest.raises(UsageError, match="There is no database file"):
        backend.open(str(tmp_path / "x.db"))
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_kind_is_refused(backend: Backend, tmp_path: Path) -> None:
    """A text file, an empty file, a folder and the other engine's file are told apart."""
    text, empty = tmp_path / "text.db", tmp_path / "empty.db"
    text.write_text("no database at all, whatever it is called")
    empty.touch()
    for file in (text, empty):
        with pytest.raises(DataError, match="no database file"):
            backend.open(str(file))
    with pytest.raises(UsageError, match="is no file"):
        backend.open(str(tmp_path))


def test_a_damaged_file_is_a_data_error(backend: Backend, tmp_path: Path) -> None:
    """A file that only begins like a database is reported and not crashed upon."""
    file = tmp_path / "x.db"
    signature = {
        "duckdb": b"checksumDUCK",
        "ladybug": b"LBUG",
        "sqlite": b"SQLite format 3\0",
    }[backend.name]
    file.write_bytes(signature + b"\x07" * 5_000)
    with pytest.raises(DataError, match="cannot be"):
        backend.open(str(file))


def test_each_backend_knows_its_own_files(situation: Situation, tmp_path: Path) -> None:
    """The content of a file decides before its name does."""
    one, other = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    sqlite.BACKEND.load(situation, one).close()
    ladybug.BACKEND.load(situation, other).close()
    assert sqlite.BACKEND.accepts(one)
    assert not sqlite.BACKEND.accepts(other)
    assert ladybug.BACKEND.accepts(other)
    assert not ladybug.BACKEND.accepts(one)
    with pytest.raises(DataError, match="is a ladybug database, where a sqlite"):
        sqlite.BACKEND.open(other)
    assert sqlite.BACKEND.accepts("missing.sqlite")
    assert not sqlite.BACKEND.accepts("mysql://localhost/x")
