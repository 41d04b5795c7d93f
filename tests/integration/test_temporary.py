"""Temporary databases on real servers: made, asked, and gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pkgutil import resolve_name

import pytest

import dqa
from dqa.core.errors import DataError, UsageError
from dqa.core.situation import Situation, Table
from dqa.databases.backends import BUILT_IN
from tests.databases.engines import small_situation

TABLES = {
    "Supplier": [
        {"name": "nor'th \\ 100%", "since": date(2020, 1, 2), "price": Decimal("1.5"), "ok": True},
        {"name": "south", "since": None, "price": None, "ok": None},
    ]
}
SCRIPT = "CREATE TABLE a (x INT); INSERT INTO a VALUES (1); INSERT INTO a VALUES (2);"
QUOTES = {"mysql": "`", "postgres": '"'}


@pytest.fixture(params=QUOTES)
def place(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each relational server's name and URL in turn."""
    return request.param, request.getfixturevalue(f"{request.param}_url")


def test_tables_and_scripts_have_a_database_of_their_own(place: tuple[str, str]) -> None:
    """Several at once, none of which sees another, and all are dropped."""
    engine, url = place
    quote = QUOTES[engine]
    with (
        dqa.temporary_database(TABLES, engine, url) as tables,
        dqa.temporary_database(SCRIPT, engine, url) as script,
    ):
        names = f"SELECT name FROM {quote}Supplier{quote} WHERE price > 1"
        assert tables.query(names).rows == (("nor'th \\ 100%",),)
        assert script.query("SELECT count(*) FROM a").rows == ((2,),)
        assert [table.name for table in script.schema().tables] == ["a"]
        with pytest.raises(dqa.QueryError):
            script.query("INSERT INTO a VALUES (3)")
        place_of_it = script.name
    with pytest.raises(dqa.DqaError):
        dqa.open_database(_with_password(place_of_it, url))


def test_a_script_that_fails_midway_leaves_nothing(place: tuple[str, str]) -> None:
    """The statement that failed need not be the first one."""
    engine, url = place
    with (
        pytest.raises(DataError, match=r"rejects the script: .*b"),
        dqa.temporary_database(f"{SCRIPT} INSERT INTO b VALUES (1);", engine, url),
    ):
        pass


def test_a_seed_is_one_script_with_any_characters(place: tuple[str, str]) -> None:
    """Percent signs are not the driver's; a refused statement is an error of the script."""
    engine, url = place
    run_script = resolve_name(BUILT_IN[engine].namespaces).run_script
    run_script(url, "SELECT 'a' LIKE 'a%'; SELECT '100 %s';")
    with pytest.raises(DataError, match="rejects the script"):
        run_script(url, "SELECT 1; SELEC 2")


@pytest.mark.parametrize("name", ["mysql", "postgres", "neo4j"])
def test_a_situation_is_there_twice_and_then_gone(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Whoever loads it has one of their own, so nobody drops another's."""
    url = request.getfixturevalue(f"{name}_url")
    # Other tests of this server load the small situation, too: this one has a number of its own.
    small = small_situation()
    tables = dict(small.tables)
    tables["flow"] = Table.from_rows(tables["flow"].schema, [("kiev", "lubeck", 0.321)])
    situation = Situation(small.schema, "small", tables)

    def held() -> int:
        """Return how often the server has the situation."""
        return sum(each.content_hash == situation.content_hash for each in dqa.loaded(url))

    with dqa.temporary_database(situation, name, url) as one:
        with dqa.temporary_database(situation, name, url) as other:
            assert one.name != other.name
            assert held() == 2
        assert one.schema().tables or one.schema().nodes
    assert held() == 0


def test_situations_are_listed_while_others_go(place: tuple[str, str]) -> None:
    """A list made at the moment of an unloading is no error."""
    engine, url = place
    with dqa.temporary_database(small_situation(), engine, url) as database:
        listing = True

        def load_and_unload() -> None:
            while listing:
                with dqa.temporary_database(small_situation(), engine, url):
                    pass

        with ThreadPoolExecutor(1) as pool:
            unloading = pool.submit(load_and_unload)
            try:
                listed = [dqa.loaded(url) for _ in range(40)]
            finally:
                listing = False
            unloading.result()
        assert all(
            any(one.namespace in database.name for one in situations) for situations in listed
        )


def test_one_database_for_everybody_takes_no_script(neo4j_url: str) -> None:
    """It says what to give instead."""
    with (
        pytest.raises(UsageError, match="for a script: give a situation"),
        dqa.temporary_database("CREATE (:A)", "neo4j", neo4j_url),
    ):
        pass


def _with_password(name: str, url: str) -> str:
    """Return the URL of a database by its name, at the same server."""
    return url.rpartition("/")[0] + "/" + name.rpartition("/")[2]
