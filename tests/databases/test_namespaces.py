"""Files that hold situations: recognised, listed, replaced only by name, dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.duckdb import backend as duckdb
from dqa.databases.namespaces import (
    LoadedSituation,
    namespace_for,
    tag_from_json,
    tag_to_json,
)
from dqa.databases.sqlite import backend as sqlite
from dqa.loaders.readback import read_situation


def changed(situation: Situation) -> Situation:
    """The same world with one number another."""
    country = situation["country"]
    return situation.replace(country=country.replace(development=country["development"] + 1.0))


def test_a_file_is_recognised_by_what_is_in_it(situation: Situation, tmp_path: Path) -> None:
    """Loading again writes nothing, and the tag is in no schema."""
    file = tmp_path / "x.db"
    sqlite.BACKEND.load(situation, str(file)).close()
    before = file.stat()
    database = sqlite.BACKEND.load(situation, f"sqlite:///{file}")
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert sorted(t.name for t in database.schema().tables) == sorted(situation.tables)
    database.close()
    (held,) = sqlite.BACKEND.loaded(str(file))
    assert (held.namespace, held.content_hash) == (str(file), situation.content_hash)
    assert [each.name for each in tmp_path.iterdir()] == ["x.db"]


def test_another_situation_replaces_a_file_only_by_name(
    situation: Situation, tmp_path: Path
) -> None:
    """What is in the way is named, with what to write."""
    file, other = tmp_path / "x.db", changed(situation)
    sqlite.BACKEND.load(situation, str(file)).close()
    for replace in (None, "y.db"):
        with pytest.raises(UsageError, match=r"situation 'small'.*--replace .*x\.db"):
            sqlite.BACKEND.load(other, str(file), replace)
    database = sqlite.BACKEND.load(other, str(file), str(file))
    assert read_situation(database, other.schema, other.name) == other
    database.close()


def test_unloading_deletes_only_what_is_ours(situation: Situation, tmp_path: Path) -> None:
    """A file without our tag stays."""
    file = tmp_path / "x.db"
    sqlite.BACKEND.load(situation, str(file)).close()
    with pytest.raises(UsageError, match="holds no situation"):
        sqlite.BACKEND.unload(str(file), "another")
    assert sqlite.BACKEND.unload(str(file), str(file)).name == "small"
    assert not file.exists()


def test_a_file_of_several_is_opened_by_schema(situation: Situation, tmp_path: Path) -> None:
    """One situation needs no name; of two, one must be named."""
    file, other = tmp_path / "x.duckdb", changed(situation)
    duckdb.BACKEND.load(situation, str(file)).close()
    duckdb.BACKEND.open(str(file)).close()
    duckdb.BACKEND.load(other, str(file)).close()
    with pytest.raises(UsageError, match="several schemas"):
        duckdb.BACKEND.open(str(file))
    database = duckdb.BACKEND.open(f"duckdb:///{file}?schema={namespace_for(other)}")
    assert read_situation(database, other.schema, other.name) == other
    database.close()
    assert duckdb.BACKEND.unload(str(file), namespace_for(situation)).name == "small"
    assert len(duckdb.BACKEND.loaded(str(file))) == 1


def test_a_tag_of_an_earlier_form_is_still_read() -> None:
    """It repeated where it is kept; what is no tag of ours is none."""
    tag = LoadedSituation("here", "locating", "small", "abc", 10)
    written = '{"place": "there", "scenario": "locating", "name": "small", "content_hash": "abc", "rows": 10}'  # noqa: E501
    assert tag_from_json("here", written) == tag
    assert tag_from_json("here", tag_to_json(tag)) == tag
    for other in (None, "", "a comment", "[]", '{"name": "small"}'):
        assert tag_from_json("here", other) is None
