"""Whoever opens a database says what of it may be read, on every kind of database alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import RefusedStatementError, StatementError, UsageError
from dqa.core.schema import describe
from dqa.core.situation import Situation
from dqa.databases.base import Backend
from dqa.guard import Policy
from dqa.guard.visible import require_known

TABLES = Policy(
    tables=frozenset({"country", "node_country"}),
    denied_columns=frozenset({"country.development"}),
)
LABELS = Policy(
    labels=frozenset({"Country"}),
    relationship_types=frozenset({"NodeCountry"}),
    denied_properties=frozenset({"Country.development"}),
)
ALLOWED = {
    "relational": "SELECT home_node FROM country ORDER BY home_node",
    "graph": "MATCH (c:Country) RETURN c.home_node ORDER BY c.home_node",
}
REFUSED = {
    "relational": (
        "SELECT flow FROM flow",
        "SELECT development FROM country",
        "SELECT max(c.development) FROM country c",
        "SELECT country_name FROM country ORDER BY development",
    ),
    "graph": (
        "MATCH (t:Trade_node) RETURN t.name",
        "MATCH (:Country)-[r:source]->(:Country) RETURN r.flow",
        "MATCH (c:Country) RETURN c.development",
        "MATCH (c:Country) RETURN c",
    ),
}


@pytest.mark.parametrize("in_file", [False, True])
def test_what_may_not_be_read_is_neither_read_nor_shown(
    backend: Backend, situation: Situation, tmp_path: Path, in_file: bool
) -> None:
    """Loaded into memory or a file, and opened again."""
    policy = TABLES if backend.kind == "relational" else LABELS
    location = str(tmp_path / "x.db") if in_file else None
    database = backend.load(situation, location, policy=policy)
    if location is not None:
        database.close()
        database = backend.open(location, policy=policy)
    assert database.query(ALLOWED[backend.kind]).rows == (("kiev",), ("lubeck",))
    if backend.kind == "graph":  # what names no label finds those that may be read
        assert database.query("MATCH (n) RETURN count(*)").rows == ((2,),)
        with pytest.raises(RefusedStatementError):  # no relationship joins the visible labels
            database.query("MATCH (n)--(m) RETURN count(*)")
    for statement in REFUSED[backend.kind]:
        with pytest.raises((StatementError, RefusedStatementError)):  # a denied column is unknown
            database.query(statement)
    if backend.kind == "relational":
        assert "development" not in database.query("SELECT * FROM country").columns
    schema = database.schema().to_text()
    assert "development" not in schema
    assert "flow" not in schema
    assert "home_node" in schema
    database.close()


MISSPELT: list[tuple[str, dict[str, set[str]], str]] = [
    ("sqlite", {"denied_columns": {"countri.development"}}, "'country.development'"),
    ("sqlite", {"denied_columns": {"developmint"}}, "'development'"),
    ("sqlite", {"tables": {"county"}}, "no such table.* 'country'"),
    ("sqlite", {"columns": {"country.nix"}}, "no such column"),
    ("ladybug", {"labels": {"Contry"}}, "no such label.* 'Country'"),
    ("ladybug", {"relationship_types": {"NodeCounty"}}, "no such relationship type"),
    ("ladybug", {"denied_properties": {"Country.developmint"}}, "'Country.development'"),
]


def test_a_misspelt_name_is_refused_when_a_database_is_opened(
    situation: Situation, tmp_path: Path
) -> None:
    """It would protect nothing without a word."""
    for name in ("sqlite", "ladybug"):
        plugins.backend(name).load(situation, str(tmp_path / name)).close()
    for name, lists, words in MISSPELT:
        policy = Policy(**{field: frozenset(names) for field, names in lists.items()})  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=words):
            plugins.backend(name).open(str(tmp_path / name), policy=policy)


def test_a_policy_for_several_databases_names_what_one_of_them_has(situation: Situation) -> None:
    """An evaluation opens databases of several scenarios with one policy."""
    whole = describe(situation.schema)
    tables, graph = replace(whole, nodes=(), edges=()), replace(whole, tables=())
    both = Policy(denied_columns=frozenset({"development"}), labels=frozenset({"Country"}))
    require_known(both, [tables, graph])
    require_known(both, [tables])  # labels are of the other kind of database
    with pytest.raises(UsageError, match="denied_columns contains 'nix'"):
        require_known(Policy(denied_columns=frozenset({"nix"})), [graph, tables])
    require_known(Policy(labels=frozenset({"COUNTRY"})), [graph], fold=True)
    require_known(Policy(tables=frozenset({"other.t"}), columns=frozenset({"t.a"})), [tables])
