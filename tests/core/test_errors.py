"""The tree of errors."""

from __future__ import annotations

from dqa.core.errors import ParseError, UnknownNameError


def test_an_unknown_name_lists_what_there_is_and_what_was_meant() -> None:
    """The message suggests the most similar name."""
    error = UnknownNameError("decider", "plenrag", ["planrag", "iterrag"])
    assert str(error) == (
        "There is no decider 'plenrag'. There are: iterrag, planrag. Did you mean 'planrag'?"
    )


def test_a_parse_error_names_file_and_line() -> None:
    """Editors can open the line."""
    assert str(ParseError("q1.sql", 12, "expected VALUES")) == "q1.sql:12: expected VALUES"
