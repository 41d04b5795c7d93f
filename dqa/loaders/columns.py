"""A table's column as one regular expression group, and its texts as typed values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.situation import Column
from dqa.loaders.assembly import BOOLEANS, Findings, note_quoted
from dqa.loaders.tokens import Language

_PATTERNS = {
    "float": r"([-+.\deE]+)",
    "integer": r"(-?\d+)",
    "boolean": r"(['\"]?(?:[Tt]rue|TRUE|[Ff]alse|FALSE)['\"]?)",
}
_DIGITS = {"float": b"-+.0123456789eE\n", "integer": b"-0123456789\n"}
"""The characters of columns of numbers, of which `float` and `int` would take more."""
_SPELLINGS = {
    quote + spelling + quote: BOOLEANS[spelling.lower()]
    for quote in ("", "'", '"')
    for spelling in ("true", "True", "TRUE", "false", "False", "FALSE")
}


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Reads columns of scripts whose strings all stand in the same kind of quotes."""

    language: Language
    quote: str
    findings: Findings

    def pattern(self, column: Column) -> str:
        """Return a regex with one group that matches a literal of the column's type.

        It may match more than such literals: `convert` refuses what is none.
        """
        if column.stored == "text":
            body = self.language.string_body.replace("{q}", self.quote)
            return f"{self.quote}({body}){self.quote}"
        return _PATTERNS[column.stored]

    def convert_cells(self, cells: Sequence[str], column: Column) -> Sequence[Any] | None:
        """Return whole cells, with the quotes of texts, as values of the column's type.

        They are checked as one text, which costs a fraction of a check a cell.

        Returns
        -------
        None where a cell is not plainly such a value: `convert` may know better.
        """
        joined = "\n".join(cells)
        if column.stored == "text":
            return self._between_quotes(joined, len(cells))
        if column.stored == "boolean":
            plain = _SPELLINGS.keys() >= set(cells) and "'" not in joined and '"' not in joined
            return list(map(_SPELLINGS.__getitem__, cells)) if plain else None
        # Bytes are looked up in a table, characters of a text one by one.
        if joined.encode(errors="replace").translate(None, _DIGITS[column.stored]):
            return None
        try:
            return list(map(float if column.stored == "float" else int, cells))
        except ValueError:
            return None

    def _between_quotes(self, joined: str, count: int) -> list[str] | None:
        """Return what stands between quotes, a line each; None where anything else is there."""
        texts = joined[1:-1].split(f"{self.quote}\n{self.quote}")
        outer = joined.startswith(self.quote) and joined.endswith(self.quote)
        no_other = joined.count(self.quote) == 2 * count and "\\" not in joined
        return texts if outer and no_other and len(texts) == count else None

    def convert(
        self, texts: Sequence[str], column: Column, line_of: Callable[[int], int]
    ) -> Sequence[Any] | None:
        """Return matched texts as values of the column's type; None where one is no such value.

        Parameters
        ----------
        texts
            What the group of `pattern` matched, a row each.
        column
            The column they are of.
        line_of
            Gives the line of a row, by number; asked only where something has to be reported.
        """
        if column.stored == "text":
            if any("\\" in text or self.quote in text for text in texts):
                return [self.language.unescape(text, self.quote) for text in texts]
            return texts
        try:
            if column.stored == "float":
                return list(map(float, texts))
            if column.stored == "integer":
                return list(map(int, texts))
            values = list(map(_SPELLINGS.__getitem__, texts))
        except (ValueError, KeyError):
            return None
        quoted = [row for row, text in enumerate(texts) if text[0] in "'\""]
        if quoted:
            note_quoted(column, line_of(quoted[0]), self.findings, times=len(quoted))
        return values
