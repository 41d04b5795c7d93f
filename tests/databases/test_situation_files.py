"""Files that hold situations: recognised, listed, replaced only by name, deleted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import ladybug
import pytest

from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.base import Backend
from dqa.databases.duckdb import backend as duckdb
from dqa.databases.namespaces import LoadedSituation, namespace_for, tag_from_json, tag_to_json
from dqa.loaders.readback import read_situation, sort_rows
from tests.databases.conftest import BACKENDS

one_situation_each = pytest.mark.parametrize(
    "backend", [BACKENDS["ladybug"], BACKENDS["sqlite"]], ids=["ladybug", "sqlite"]
)


def changed(situation: Situation) -> Situation:
    """Return the same world with one other number."""
    country = situation["country"]
    return situation.replace(country=country.replace(development=country["development"] + 1.0))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a path whose name needs escapes."""
    return tmp_path / "it's a \\ world.db"


@one_situation_each
def test_a_file_is_recognised_by_its_content(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """Loading again writes nothing, and the tag is in no query and no schema."""
    backend.load(situation, str(file)).close()
    before = file.stat()
    with closing(backend.load(situation, f"{backend.name}:///{file}")) as database:
        assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
        assert read_situation(database, situation.schema, situation.name) == sort_rows(situation)
        with closing(backend.load(situation)) as in_memory:
            assert database.schema() == in_memory.schema()
        assert "dqa" not in database.schema().to_text()
    (held,) = backend.loaded(str(file))
    assert (held.namespace, held.name, held.rows) == (str(file), "small", 10)
    assert held.content_hash == situation.content_hash
    assert [left.name for left in file.parent.iterdir()] == [file.name]


@one_situation_each
def test_another_situation_replaces_a_file_only_by_name(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """The error names what is in the way."""
    other = changed(situation)
    backend.load(situation, str(file)).close()
    for replace in (None, str(file.with_name("other.db"))):
        with pytest.raises(UsageError, match=r"'small'"):
            backend.load(other, str(file), replace)
    with closing(backend.load(other, str(file), str(file))) as database:
        assert read_situation(database, other.schema, other.name) == sort_rows(other)


@one_situation_each
def test_a_file_of_another_owner_is_left_alone(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """It holds no situation: nothing is listed, loaded over or deleted."""
    if backend.name == "sqlite":
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE mine (id INTEGER)")
    else:
        with ladybug.Database(str(file)) as made, ladybug.Connection(made) as to:
            to.execute("CREATE NODE TABLE mine (id INT64 PRIMARY KEY)")
    assert backend.loaded(str(file)) == ()
    with pytest.raises(UsageError, match=r"not of this project|nothing is overwritten"):
        backend.load(situation, str(file))
    with pytest.raises(UsageError, match="holds no situation"):
        backend.unload(str(file), str(file))
    with closing(backend.open(str(file))) as database:
        assert "mine" in database.schema().to_text()


@one_situation_each
def test_unload_deletes_only_the_file_it_names(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """And says what was in it."""
    backend.load(situation, str(file)).close()
    with pytest.raises(UsageError):
        backend.unload(str(file), "other")
    assert backend.unload(str(file), str(file)).name == "small"
    assert not list(file.parent.iterdir())


def test_a_file_of_several_is_opened_by_schema(situation: Situation, tmp_path: Path) -> None:
    """One situation needs no name; of two, one must be named."""
    file, other = tmp_path / "x.duckdb", changed(situation)
    duckdb.BACKEND.load(situation, str(file)).close()
    duckdb.BACKEND.open(str(file)).close()
    duckdb.BACKEND.load(other, str(file)).close()
    with pytest.raises(UsageError, match="several schemas"):
        duckdb.BACKEND.open(str(file))
    with closing(duckdb.BACKEND.open(f"duckdb:///{file}?schema={namespace_for(other)}")) as opened:
        assert read_situation(opened, other.schema, other.name) == sort_rows(other)
    assert duckdb.BACKEND.unload(str(file), namespace_for(situation)).name == "small"
    assert len(duckdb.BACKEND.loaded(str(file))) == 1


def test_a_tag_of_an_earlier_form_is_still_read() -> None:
    """What is no tag of ours is none."""
    tag = LoadedSituation("here", "locating", "small", "abc", 10)
    written = tag_to_json(tag).replace("{", '{"place": "there", ', 1)
    assert tag_from_json("here", written) == tag
    for other in (None, "", "a comment", "[]", '{"name": "small"}'):
        assert tag_from_json("here", other) is None
