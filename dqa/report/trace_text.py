"""Passages as text for a terminal or a pipe.

Invisible characters are escaped, markup is not interpreted, and long texts are shortened unless
the caller asks for the full text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import typer

from dqa.core.text import counted, visible
from dqa.report.passages import Passage

_LINES, _PROMPT_LINES, _ROWS = 30, 6, 10
_LINE, _CELL = 1_000, 40
_CHANGES = {"kept": (" ", None), "new": ("+", "green"), "gone": ("-", "red")}
_COLOURS = {
    "heading": "blue",
    "plan": "magenta",
    "called": "cyan",
    **dict.fromkeys(("reasoning", "thought", "reply"), "yellow"),
}
_TONES = {"": None, "good": "green", "bad": "red", "warning": "yellow"}


class _Line(NamedTuple):
    text: str
    colour: str | None = None
    dim: bool = False


def echo_passages(passages: Sequence[Passage], *, full: bool = False) -> None:
    """Print a decision, in colour on a terminal and as plain text otherwise.

    Parameters
    ----------
    passages
        The result of `dqa.report.reading.read`.
    full
        Whether to show complete texts, and the prompt before the task.
    """
    for number, (passage, title, lines) in enumerate(_Writer(passages, full=full).blocks()):
        colour = _COLOURS.get(passage.kind, _TONES[passage.tone])
        typer.secho(f"{chr(10) if number else ''}{title}", fg=colour, bold=True)
        for line in lines:
            typer.secho(f"  {line.text}".rstrip(), fg=line.colour, dim=line.dim or None)


def passages_to_text(passages: Sequence[Passage], *, full: bool = False) -> str:
    """Return a decision as plain text. The parameters are those of `echo_passages`."""
    return "\n\n".join(
        "\n".join([title, *(f"  {line.text}".rstrip() for line in lines)])
        for _, title, lines in _Writer(passages, full=full).blocks()
    )


class _Writer:
    """Converts passages into titles and lines."""

    def __init__(self, passages: Sequence[Passage], *, full: bool) -> None:
        self._passages, self._full = passages, full

    def blocks(self) -> Iterator[tuple[Passage, str, list[_Line]]]:
        """Yield the visible passages with their titles and lines."""
        for passage in self._passages:
            if self._full or not passage.detail:
                yield passage, self._title(passage), self._lines(passage)

    def _title(self, passage: Passage) -> str:
        title = self._short(passage.title)
        if passage.step is not None:
            return f"Step {passage.step}: {title}"
        return title if passage.kind == "heading" else f"{title[:1].upper()}{title[1:]}"

    def _lines(self, passage: Passage) -> list[_Line]:
        lines = self._items(passage)
        bad = "red" if passage.kind == "called" and passage.tone == "bad" else None
        if passage.kind == "called":
            lines += self._split(passage.statement.strip() or "(empty)")
        if passage.translated:
            lines.append(_Line("statement that ran:", dim=True))
            lines += self._split(passage.translated.strip())
        if passage.status:
            lines.append(_Line(f"-> {self._short(passage.status)}", bad, dim=bad is None))
        if passage.columns:
            lines += self._table(passage)
        elif passage.text or not lines:
            most = _PROMPT_LINES if passage.kind == "prompt" else _LINES
            lines += self._split(passage.text, bad, most)
        return [*lines, *(_Line(self._short(note), dim=True) for note in passage.notes)]

    def _items(self, passage: Passage) -> list[_Line]:
        """Return the numbered steps of a plan. A later plan marks new and removed steps."""
        lines: list[_Line] = []
        number = 0
        for change, text in passage.items:
            mark, colour = _CHANGES[change]
            number += change != "gone"
            place = f"{number}." if change != "gone" else "  "
            before = "" if passage.title == "plan" else f"{mark} "
            lines.append(_Line(f"{before}{place} {self._short(text)}", colour))
        return self._few(lines, _LINES)

    def _table(self, passage: Passage) -> list[_Line]:
        from rich.cells import cell_len, set_cell_size

        shown = passage.rows if self._full else passage.rows[:_ROWS]
        cells = [[self._cell(cell) for cell in row] for row in (passage.columns, *shown)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        rows = [map(set_cell_size, row, widths) for row in cells]
        lines = [_Line("  ".join(row).rstrip()) for row in rows]
        if hidden := len(passage.rows) - len(shown):
            lines.append(_Line(f"... {counted(hidden, 'more row')}, --full shows all", dim=True))
        return lines

    def _cell(self, cell: object) -> str:
        if isinstance(cell, float) and not self._full:
            return f"{cell:.6g}"
        text = (
            cell.replace("\n", "\\n")
            if isinstance(cell, str)
            else json.dumps(cell, ensure_ascii=False)
        )
        text = visible(text)
        return text if self._full or len(text) <= _CELL else f"{text[: _CELL - 3]}..."

    def _split(self, text: str, colour: str | None = None, most: int = _LINES) -> list[_Line]:
        lines = text.replace("\r\n", "\n").strip("\n").split("\n")
        return self._few([_Line(self._short(line), colour) for line in lines], most)

    def _few(self, lines: list[_Line], most: int) -> list[_Line]:
        hidden = len(lines) - most
        # If only one line is hidden, show it instead of the line "1 more line".
        if self._full or hidden <= 1:
            return lines
        return [*lines[:most], _Line(f"... {hidden} more lines, --full shows all", dim=True)]

    def _short(self, line: str) -> str:
        hidden = len(line) - _LINE
        if self._full or hidden <= 0:
            return visible(line)
        more = counted(hidden, "more character")
        return f"{visible(line[:_LINE])} ... ({more}, --full shows all)"
