"""Escaping of text from models and databases."""

from __future__ import annotations

import json

import pytest

from dqa.core.text import escape_invisible, visible


@pytest.mark.parametrize(
    "character", ["\x1b", "\x9b", "\u200b", "\u202e", "\u2028", "\u2029", "\ud800", "\U000e0041"]
)
def test_what_acts_unseen_is_spelt_out(character: str) -> None:
    """Control characters are escaped on a terminal, on a page and in JSON."""
    assert visible(f"a{character}b") == f"a{ascii(character)[1:-1]}b"
    assert escape_invisible(character, unescaped="\n\t").isascii()
    escaped = escape_invisible(character, spell=lambda one: json.dumps(one)[1:-1])
    assert json.loads(f'"{escaped}"') == character


def test_everything_else_stays() -> None:
    """Letters of any language and the characters in `kept` do not change."""
    assert visible("Zürich\t東京") == "Zürich    東京"
    assert escape_invisible("ä\nb", unescaped="\n") == "ä\nb"
