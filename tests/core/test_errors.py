"""The tree of errors."""

from __future__ import annotations

import pytest

from dqa.core.errors import CrashError, DqaError, ParseError, UnknownNameError, UsageError


def test_an_unknown_name_lists_what_there_is_and_what_was_meant() -> None:
    """The message mends the mistake."""
    error = UnknownNameError("decider", "plenrag", ["planrag", "iterrag"])
    assert str(error) == (
        "There is no decider 'plenrag'. There are: iterrag, planrag. Did you mean 'planrag'?"
    )


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("x"), 2), (ParseError("f", 3, "p"), 2), (CrashError("x"), 1)]
)
def test_mistakes_exit_with_2_and_failures_with_1(error: DqaError, code: int) -> None:
    """Scripts can tell the two apart."""
    assert error.exit_code == code


def test_a_parse_error_names_file_and_line() -> None:
    """Editors can jump there."""
    assert str(ParseError("q1.sql", 12, "expected VALUES")) == "q1.sql:12: expected VALUES"
