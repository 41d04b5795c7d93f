"""The relevance of tables for a text."""

from __future__ import annotations

import pytest

from dqa.core.fitting import near_words, score_parts
from dqa.core.schema import DatabaseSchema, Field, TableInfo


def table(name: str, comment: str = "", *columns: str, to: str | None = None) -> TableInfo:
    """Return a table with a comment and, with `to`, a foreign key."""
    references = () if to is None else ((f"{to}_id", to, "id"),)
    fields = tuple(Field(column, "INTEGER") for column in ("id", *columns))
    return TableInfo(name, fields, ("id",), references, comment)


def best(tables: list[TableInfo], about: str) -> list[str]:
    """Return the names of the matching tables, the most relevant first."""
    worth = score_parts(DatabaseSchema(tuple(tables)), about)
    order = sorted(range(len(tables)), key=lambda place: (-worth[place], place))
    return [tables[place].name for place in order if worth[place] > 0.0]


def test_comments_are_searched() -> None:
    """A comment is searched, too, because the names in many warehouses are numbers."""
    tables = [table("t1", "Bills to customers"), table("t2", "Suppliers"), table("t3")]
    assert best(tables, "Which supplier do we leave?") == ["t2"]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("customer", {"cust", "customers"}),
        ("quantity", {"qty"}),
        ("delivered", {"delivery"}),
        ("plan", {"plants"}),
        ("rate", set()),
    ],
)
def test_abbreviations_and_forms_of_a_word_are_near(word: str, near: set[str]) -> None:
    """A similar word has half the weight."""
    known = {"cust", "customers", "qty", "delivery", "plants", "plate", "ratio", "cat", "x"}
    found = near_words(word, known)
    assert found.pop(word) == 1.0
    assert set(found) == near
    assert set(found.values()) <= {0.5}
