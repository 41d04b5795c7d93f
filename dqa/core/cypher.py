"""How names and texts are spelled in Cypher."""

from __future__ import annotations

from dqa.core.schema import quoted


def quote_name(name: str) -> str:
    """Return a label, type or property between backticks."""
    return quoted(name, "`")


def quote_text(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
