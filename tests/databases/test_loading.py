"""Loading situations into files; see `contract` for what holds on all engines."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dqa.core.errors import DataError, UsageError
from dqa.core.situation import Schema, Situation
from dqa.databases.base import Backend
from tests.databases.conftest import BACKENDS
from tests.databases.engines import read_back, world

SIGNATURES = {"duckdb": b"checksumDUCK", "ladybug": b"LBUG", "sqlite": b"SQLite format 3\0"}


def changed(situation: Situation) -> Situation:
    """Return the same world with one other number."""
    country = situation["country"]
    return situation.replace(country=country.replace(development=country["development"] + 1.0))


@pytest.fixture
def file(tmp_path: Path, backend: Backend) -> Path:
    """Return a path whose name needs escapes; DuckDB takes a backslash for a slash."""
    return tmp_path / f"it's a {'%' if backend.name == 'duckdb' else chr(92)} world.db"


def test_a_graph_needs_every_table_mapped() -> None:
    """A table that the graph would lose is an error."""
    situation = world(2)
    schema = situation.schema
    partial = Schema(schema.scenario, schema.tables, schema.nodes, schema.edges[:1])
    with pytest.raises(DataError, match="supply"):
        BACKENDS["ladybug"].load(Situation(partial, "partial", situation.tables))


def test_a_graph_needs_the_ends_of_its_relationships(situation: Situation) -> None:
    """The error names the relationship's table and the missing node."""
    lost = situation.replace(flow=situation["flow"].replace(source=["nowhere", "kiev"]))
    with pytest.raises(
        DataError, match=r"'small' .* row of table 'flow' refers to the \w+ 'nowhere'"
    ):
        BACKENDS["ladybug"].load(lost)


def test_a_loaded_file_is_opened_by_path_and_by_url(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """With everything in it, and read-only even without the guard."""
    file = file.with_name("it's a world.db")  # DuckDB takes a backslash for a slash
    backend.load(situation, str(file)).close()
    for location in (str(file), f"{backend.name}:///{file}"):
        assert backend.accepts(location)
        with closing(backend.open(location)) as database:
            assert read_back(database, situation) == situation


def test_wrong_files_and_folders_are_refused_and_left_alone(
    backend: Backend, situation: Situation, tmp_path: Path
) -> None:
    """A text, an empty file, a folder, damage, what is missing: each is an error that names it."""
    for name, content in {
        "text.db": b"no database at all, whatever it is called",
        "empty.db": b"",
        "damaged.db": SIGNATURES[backend.name] + b"\x07" * 5_000,
    }.items():
        file = tmp_path / name
        file.write_bytes(content)
        if not content and backend.name == "sqlite":  # a valid empty database
            backend.open(str(file)).close()
            continue
        with pytest.raises(DataError, match=name):
            backend.open(str(file))
        if name == "text.db":
            with pytest.raises(UsageError, match=name):
                backend.load(situation, str(file))
        assert file.read_bytes() == content
    for missing in (tmp_path, tmp_path / "missing.db"):
        with pytest.raises(UsageError, match=missing.name):
            backend.open(str(missing))
    with pytest.raises(UsageError, match="missing"):
        backend.load(situation, str(tmp_path / "missing" / "x.db"))
    assert len(list(tmp_path.iterdir())) == 3


def test_the_content_of_a_file_decides_which_backend_opens_it(
    backend: Backend, situation: Situation, tmp_path: Path
) -> None:
    """Its name does so only before the file exists."""
    others = [other for other in BACKENDS.values() if other is not backend]
    file = str(tmp_path / "a.db")
    backend.load(situation, file).close()
    assert backend.accepts(file)
    assert not any(other.accepts(file) for other in others)
    with pytest.raises(DataError, match=backend.name):
        others[0].open(file)
    assert not backend.accepts("mysql://localhost/x")


def test_a_file_is_recognised_by_its_content(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """Loading again writes nothing, and the tag is in no query and no schema."""
    backend.load(situation, str(file)).close()
    before = file.stat()
    with closing(backend.load(situation, f"{backend.name}:///{file}")) as database:
        assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
        with closing(backend.load(situation)) as in_memory:
            assert database.schema() == in_memory.schema()
        assert "dqa" not in database.schema().to_text()
    (held,) = backend.loaded(str(file))
    assert (held.namespace, held.name, held.rows) == (str(file), "small", 10)
    assert held.content_hash == situation.content_hash
    assert [left.name for left in file.parent.iterdir()] == [file.name]


def test_a_file_is_open_twice_in_one_process(
    backend: Backend, situation: Situation, file: Path
) -> None:
    """Engines share one database within a process, with the settings of the first session."""
    backend.load(situation, str(file)).close()
    with (
        closing(backend.open(str(file), isolation="none")) as one,
        closing(backend.open(str(file), isolation="none")) as two,
        closing(backend.load(situation, str(file), isolation="none")) as three,
    ):
        assert one.schema() == two.schema() == three.schema()
