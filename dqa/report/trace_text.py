"""Passages as text: blocks of lines under titles, for a terminal or a pipe.

Invisible characters are escaped, nothing is read as markup, and long text is shortened unless the
caller wants all of it. In a pipe the text depends on the passages only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import typer

from dqa.core.text import counted, visible, visible_lines
from dqa.report.passages import Passage

_LINES, _PROMPT_LINES, _ROWS = 30, 6, 10
_LINE, _CELL = 1_000, 40
_CHANGES = {"kept": (" ", ""), "new": ("+", "green"), "gone": ("-", "red")}
_STYLES = {
    "heading": "blue",
    "plan": "magenta",
    "called": "cyan",
    "answer": "bright_white",
    **dict.fromkeys(("reasoning", "thought", "reply"), "yellow"),
}
_TONES = {"": "", "good": "green", "bad": "red", "warning": "yellow"}


class _Line(NamedTuple):
    """A line; that of a table is cut at a terminal's edge, where others are wrapped."""

    text: str
    style: str = ""
    table: bool = False


def echo_passages(passages: Sequence[Passage], *, full: bool = False) -> None:
    """Print a decision: in colour on a terminal, as plain text elsewhere.

    Parameters
    ----------
    passages
        The result of `dqa.report.reading.read`.
    full
        Whether to shorten nothing, and to show the prompt before the task.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.rule import Rule
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        typer.echo(visible_lines(passages_to_text(passages, full=full)))
        return
    for passage, title, lines in _Writer(passages, full=full).blocks():
        style = _STYLES.get(passage.kind, _TONES[passage.tone])
        texts = [Text(line.text, line.style) for line in lines]  # which is never read as markup
        heading = Text(visible(title), f"bold {style}")
        if passage.kind in {"verdict", "unjudged"}:
            console.print(Panel(Text("\n").join(texts), title=heading, border_style=style))
            continue
        console.print(Rule(heading, style=style) if passage.kind == "heading" else heading)
        for line, text in zip(lines, texts, strict=True):
            text.no_wrap = line.table and not full
            text.overflow = "fold" if full else "ellipsis"
            console.print(Padding(text, (0, 0, 0, 2)))
        console.print()


def passages_to_text(passages: Sequence[Passage], *, full: bool = False) -> str:
    """Return a decision as plain text; see `echo_passages`."""
    return "\n\n".join(
        "\n".join([title, *(f"  {line.text}".rstrip() for line in lines)])
        for _, title, lines in _Writer(passages, full=full).blocks()
    )


class _Writer:
    """Writes passages as titles and lines."""

    def __init__(self, passages: Sequence[Passage], *, full: bool) -> None:
        self._passages, self._full = passages, full
        self._several_roles = len({passage.role for passage in passages} - {""}) > 1

    def blocks(self) -> Iterator[tuple[Passage, str, list[_Line]]]:
        """Yield each passage that is shown, with its title and its lines."""
        for passage in self._passages:
            if self._full or not passage.detail:
                yield passage, self._title(passage), self._lines(passage)

    def _title(self, passage: Passage) -> str:
        role = f" ({self._short(passage.role)})" if self._several_roles and passage.role else ""
        title = self._short(passage.title)
        if passage.step is not None:
            return f"Step {passage.step}{role}: {title}"
        return title if passage.kind == "heading" else f"{title[:1].upper()}{title[1:]}{role}"

    def _lines(self, passage: Passage) -> list[_Line]:
        lines = self._items(passage)
        bad = "red" if passage.kind == "called" and passage.tone == "bad" else ""
        if passage.kind == "called":
            lines += self._split(passage.statement.strip() or "(empty)")
        if passage.translated:
            lines.append(_Line("as it ran:", "dim"))
            lines += self._split(passage.translated.strip())
        if passage.status:
            lines.append(_Line(f"-> {self._short(passage.status)}", bad or "dim"))
        if passage.columns:
            lines += self._table(passage)
        elif passage.text or not lines:
            most = _PROMPT_LINES if passage.kind == "prompt" else _LINES
            lines += self._split(passage.text, bad, most)
        return [*lines, *(_Line(self._short(note), "dim") for note in passage.notes)]

    def _items(self, passage: Passage) -> list[_Line]:
        """Return the steps of a plan, numbered; a later plan marks new and dropped ones."""
        lines: list[_Line] = []
        number = 0
        for change, text in passage.items:
            mark, style = _CHANGES[change]
            number += change != "gone"
            place = f"{number}." if change != "gone" else "  "
            before = "" if passage.title == "plan" else f"{mark} "
            lines.append(_Line(f"{before}{place} {self._short(text)}", style))
        return self._few(lines, _LINES)

    def _table(self, passage: Passage) -> list[_Line]:
        from rich.cells import cell_len

        shown = passage.rows if self._full else passage.rows[:_ROWS]
        cells = [[self._cell(cell) for cell in row] for row in (passage.columns, *shown)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        lines: list[_Line] = []
        for row in cells:
            padded = (c + " " * (w - cell_len(c)) for c, w in zip(row, widths, strict=True))
            lines.append(_Line("  ".join(padded).rstrip(), "" if lines else "bold", table=True))
        if hidden := len(passage.rows) - len(shown):
            lines.append(_Line(f"... {counted(hidden, 'more row')}, --full shows all", "dim"))
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

    def _split(self, text: str, style: str = "", most: int = _LINES) -> list[_Line]:
        lines = text.replace("\r\n", "\n").strip("\n").split("\n")
        return self._few([_Line(self._short(line), style) for line in lines], most)

    def _few(self, lines: list[_Line], most: int) -> list[_Line]:
        hidden = len(lines) - most
        # One more line is as long as the line that reports it.
        if self._full or hidden <= 1:
            return lines
        return [*lines[:most], _Line(f"... {hidden} more lines, --full shows all", "dim")]

    def _short(self, line: str) -> str:
        hidden = len(line) - _LINE
        if self._full or hidden <= 0:
            return visible(line)
        more = counted(hidden, "more character")
        return f"{visible(line[:_LINE])} ... ({more}, --full shows all)"
