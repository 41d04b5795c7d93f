"""LadybugDB files: one situation each, recognised by its content, replaced only by name."""

from __future__ import annotations

from pathlib import Path

import ladybug
import pytest

from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.ladybug.backend import BACKEND
from dqa.loaders.readback import read_situation
from tests.databases.test_writers import shuffled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a path whose name needs escapes."""
    return tmp_path / "it's a \\ world.lbug"


def test_loading_twice_writes_nothing(situation: Situation, file: Path) -> None:
    """The file is recognised by its hash, and its tag is in no query and no schema."""
    BACKEND.load(situation, str(file)).close()
    written = file.stat().st_mtime_ns
    database = BACKEND.load(situation, str(file))
    assert file.stat().st_mtime_ns == written
    assert read_situation(database, situation.schema, situation.name) == situation
    assert database.query("MATCH (n) RETURN count(*)").rows == ((5,),)
    assert database.schema() == BACKEND.load(situation).schema()
    assert "dqa" not in database.schema().to_text()
    database.close()
    (held,) = BACKEND.loaded(str(file))
    assert (held.namespace, held.name, held.rows) == (str(file), "small", 10)
    assert held.content_hash == situation.content_hash
    assert [left.name for left in file.parent.iterdir()] == [file.name]


def test_another_situation_is_replaced_only_by_name(situation: Situation, file: Path) -> None:
    """Without its name the file stays as it is."""
    BACKEND.load(situation, str(file)).close()
    other = shuffled(4)
    for replace in (None, str(file.with_name("other.lbug"))):
        with pytest.raises(UsageError, match="'small' of another content, and nothing is"):
            BACKEND.load(other, str(file), replace)
    BACKEND.load(other, str(file), f"ladybug:///{file}").close()
    assert BACKEND.loaded(str(file))[0].name == "shuffled"


def test_a_file_of_somebody_else_is_left_alone(situation: Situation, file: Path) -> None:
    """It holds no situation: nothing is listed, loaded over or deleted."""
    with ladybug.Database(str(file)) as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Mine (id INT64 PRIMARY KEY)")
    assert BACKEND.loaded(str(file)) == ()
    with pytest.raises(UsageError, match="not of this project"):
        BACKEND.load(situation, str(file))
    with pytest.raises(UsageError, match="holds no situation"):
        BACKEND.unload(str(file), str(file))
    database_of_theirs = BACKEND.open(str(file))
    assert database_of_theirs.schema().nodes[0].label == "Mine"
    database_of_theirs.close()


def test_unload_deletes_the_file_it_names(situation: Situation, file: Path) -> None:
    """And no other, and says what was in it."""
    BACKEND.load(situation, str(file)).close()
    with pytest.raises(UsageError, match="'other' in"):
        BACKEND.unload(str(file), "other")
    assert BACKEND.unload(str(file), str(file)).name == "small"
    assert not list(file.parent.iterdir())


def test_an_examination_tells_the_engine_and_whether_the_file_can_be_written(
    situation: Situation, file: Path
) -> None:
    """In memory nothing can be."""
    BACKEND.load(situation, str(file)).close()
    assert BACKEND.examine(str(file)).may_write
    assert BACKEND.examine().version.startswith("LadybugDB ")
    assert not BACKEND.examine().may_write
