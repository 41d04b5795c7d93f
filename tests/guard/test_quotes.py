"""One reader of quotes and comments, for all dialects."""

from __future__ import annotations

import pytest

from dqa.guard.quotes import around, may_only_be_name, split


@pytest.mark.parametrize(
    ("dialect", "statement", "parts"),
    [
        ("sqlite", "a 'b''c' \"d\" [e] `f`", ["'b''c'", '"d"', "[e]", "`f`"]),
        ("mysql", "'a\\'b' -- 'c'\n# \"d\"\n\"e\"", ["'a\\'b'", "-- 'c'", '# "d"', '"e"']),
        ("mysql", "a--1 'b'", ["'b'"]),
        ("postgres", "E'a\\'b' /* 'c' /* d */ */ $x$ 'e' $x$", None),
        ("duckdb", "'a\\' \"b\"", ["'a\\'", '"b"']),
        ("neo4j", "(a)--(b) // 'c'\n'd\\'' \"e\" `f`", ["// 'c'", "'d\\''", '"e"', "`f`"]),
        ("ladybug", "/* 'a' */ 'b", ["/* 'a' */", "'b"]),
        ("ansi", "a \"b' c", ["\"b' c"]),
    ],
)
def test_a_statement_is_split_as_its_server_reads_it(
    dialect: str, statement: str, parts: list[str] | None
) -> None:
    """Nothing is lost, and what nothing closes goes on to the end."""
    found = split(statement, dialect)
    assert "".join(part.text for part in found) == statement
    wanted = ["'a\\'b'", "/* 'c' /* d */ */", "$x$ 'e' $x$"] if parts is None else parts
    assert [part.text for part in found if part.kind != "code"] == wanted


def test_what_stands_around_a_part_is_code_alone() -> None:
    """A comment is a blank there, and what is quoted ends it."""
    parts = split("SELECT 'x' AS /* FROM */ \"a\" -- b\n.c FROM t", "sqlite")
    at = [part.text for part in parts].index('"a"')
    assert around(parts, at) == (" AS   ", "  \n.c FROM t")


@pytest.mark.parametrize(
    ("before", "behind", "is_name"),
    [
        ("select 1 from ", "", True),
        ("t left Join\n", "", True),
        ("t.", "", True),
        ("SELECT ", ".x", True),
        ("SELECT ", " .x", True),
        ("SELECT ", "", False),
        ("a_from ", "", False),
        ("FROM t, ", "", False),
    ],
)
def test_where_only_a_name_can_stand(before: str, behind: str, is_name: bool) -> None:
    """Elsewhere it may be a text as well, or a word of the language."""
    assert may_only_be_name(before, behind) is is_name
