"""Names are quoted where they have to be, and nothing else is."""

from __future__ import annotations

import pytest

from dqa.loaders.inspection.quoting import taken_for_texts, with_quotes, without_texts

NAMES = {"order": '"order"', "Site Name": '"Site Name"', "group": '"group"'}


@pytest.mark.parametrize(
    ("statement", "stops", "written"),
    [
        ("select * from  order", (), 'select * from  "order"'),
        ("SELECT o.group FROM t o", (), 'SELECT o."group" FROM t o'),
        ("SELECT group FROM t", (), "SELECT group FROM t"),
        ("SELECT group FROM t", ("group",), 'SELECT "group" FROM t'),
        ("SELECT x FROM t order\nby x", ("order",), "SELECT x FROM t order\nby x"),
        ("SELECT Site Name FROM t", (), 'SELECT "Site Name" FROM t'),
        ("SELECT 'from order' -- from order\nFROM /* a */ order", (), None),
        ("SELECT * FROM $order JOIN ${order}", ("order",), "SELECT * FROM $order JOIN ${order}"),
    ],
)
def test_names_get_their_quotes(
    statement: str, stops: tuple[str, ...], written: str | None
) -> None:
    """Whatever stands before them in small or capital letters, and not within texts."""
    wanted = (
        "SELECT 'from order' -- from order\nFROM /* a */ \"order\"" if written is None else written
    )
    assert with_quotes(statement, NAMES, stops, "sqlite") == wanted


def test_each_dialect_has_its_own_quotes_and_comments() -> None:
    """Double quotes are texts in MySQL, and two dashes a relationship in Cypher."""
    backticked = {"Site Name": "`Site Name`", "order": "`order`"}
    found = with_quotes('SELECT "Site Name" # from order\nFROM order', backticked, (), "mysql")
    assert found == "SELECT `Site Name` # from order\nFROM `order`"
    graph = "MATCH (a)--(b) RETURN b.Site Name // b.Site Name"
    wanted = "MATCH (a)--(b) RETURN b.`Site Name` // b.Site Name"
    assert with_quotes(graph, backticked, (), "neo4j") == wanted


def test_texts_and_comments_are_taken_out() -> None:
    """Names are kept, with their quotes."""
    assert without_texts("a.\"b\" = 'c.d' -- e.f", "sqlite") == "a.\"b\" = ''  "
    assert without_texts('n.`b` = "c.d" // e.f', "neo4j") == "n.`b` = ''  "


def test_a_comment_before_a_name_says_nothing_of_it() -> None:
    """Whether it is read or given is told by the words of the statement."""
    known = {"t"}
    assert list(taken_for_texts('SELECT /* AS */ "x" FROM t', known)) == ["x"]
    assert not list(taken_for_texts('SELECT 1 AS /* it\'s */ "x" FROM t', known))
