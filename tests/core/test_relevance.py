"""Which tables a text is about: by names, columns, comments, and what they are joined to."""

from __future__ import annotations

import pytest

from dqa.core.fitting import near_words, score_parts, words_in
from dqa.core.schema import DatabaseSchema, Field, TableInfo


def table(name: str, comment: str = "", *columns: str, to: str | None = None) -> TableInfo:
    """A table with a comment, and a reference where it has one."""
    references = () if to is None else ((f"{to}_id", to, "id"),)
    fields = tuple(Field(column, "INTEGER") for column in ("id", *columns))
    return TableInfo(name, fields, ("id",), references, comment)


def best(tables: list[TableInfo], about: str) -> list[str]:
    """Return the names of the tables that a text is about, the likeliest first."""
    worth = score_parts(DatabaseSchema(tuple(tables)), about)
    order = sorted(range(len(tables)), key=lambda place: (-worth[place], place))
    return [tables[place].name for place in order if worth[place] > 0.0]


def test_a_comment_says_what_a_name_does_not() -> None:
    """Names of many warehouses are numbers."""
    tables = [table("t1", "Bills to customers"), table("t2", "Suppliers"), table("t3")]
    assert best(tables, "Which supplier do we leave?") == ["t2"]


def test_what_refers_to_a_table_gets_some_of_its_worth_and_what_it_refers_to() -> None:
    """Lines are asked for by their order; a join needs what it refers to."""
    tables = [
        table("a1", "Quotations"),
        table("a2", to="a1"),
        table("a3", "Something else"),
        table("a4", to="a3"),
    ]
    assert best(tables, "the best quotation") == ["a1", "a2"]
    lined = [table("b1"), table("b2", "Quotations", to="b1")]
    assert best(lined, "the best quotation") == ["b2", "b1"]


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
    """Each is worth half; what only looks alike is not near."""
    known = {"cust", "customers", "qty", "delivery", "plants", "plate", "ratio", "cat", "x"}
    found = near_words(word, known)
    assert found.pop(word) == 1.0
    assert set(found) == near
    assert set(found.values()) <= {0.5}


def test_words_of_a_name_are_whole() -> None:
    """A letter with an accent ends no word, nor does the hyphen behind a single letter."""
    names = {
        "order_lines": ("order", "line"),
        "OrderLines2": ("order", "line", "2"),
        "GDPPerHead": ("gdp", "per", "head"),
        "GrößeInMeter": ("größe".casefold(), "in", "meter"),
        "ÜbersichtÄnderung": ("übersicht", "änderung"),
        "E-Mail": ("email",),
        "A-1": ("a", "1"),
        "日本_name": ("日本", "name"),
    }
    assert {name: words_in(name) for name in names} == names


@pytest.mark.parametrize("written", ["well-known", "well known", "wellknown"])
@pytest.mark.parametrize("about", ["well-known", "well known", "wellknown"])
def test_every_way_of_writing_it_finds_every_other(written: str, about: str) -> None:
    """With words that are near, as tables are looked for."""
    assert best([table("t1", written), table("t2", "Other")], about) == ["t1"]
