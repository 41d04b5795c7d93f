"""Passages as text: blocks of lines under titles, for a terminal or a pipe.

Control characters are escaped, nothing is read as markup, and long text is shortened unless the
caller wants all of it. In a pipe the text depends on the passages only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from dqa.core.text import counted, visible, visible_lines
from dqa.report.passages import Passage
from dqa.report.statements import lay_out

if TYPE_CHECKING:
    from rich.console import Console

_LINES, _PROMPT_LINES, _ROWS = 30, 6, 10
_LINE, _CELL = 1_000, 40
_MARKS = {"kept": " ", "new": "+", "gone": "-"}
_ITEM_STYLES = {"kept": "", "new": "green", "gone": "red"}
_STYLES = {
    "heading": "blue",
    "plan": "magenta",
    "reasoning": "yellow",
    "thought": "yellow",
    "reply": "yellow",
    "called": "cyan",
    "answer": "bright_white",
}
_TONES = {"": "", "good": "green", "bad": "red", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line; one of a table is cut at a terminal's edge where others are wrapped."""

    text: str
    style: str = ""
    table: bool = False


@dataclass(frozen=True, slots=True)
class _Block:
    title: str
    style: str
    lines: Sequence[_Line]
    framed: bool = False


def echo_passages(passages: Sequence[Passage], *, full: bool = False) -> None:
    """Print a decision: in colour on a terminal, as plain text elsewhere.

    Parameters
    ----------
    passages
        The result of `dqa.report.reading.read`.
    full
        Whether to shorten nothing, and to show what a model was told before its task.
    """
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal:
        _paint(console, _Blocks(passages, full=full), full=full)
    else:
        typer.echo(visible_lines(passages_to_text(passages, full=full)))


def passages_to_text(passages: Sequence[Passage], *, full: bool = False) -> str:
    """Return a decision as plain text; see `echo_passages`."""
    return "\n\n".join(
        "\n".join([block.title, *(f"  {line.text}".rstrip() for line in block.lines)])
        for block in _Blocks(passages, full=full)
    )


def _paint(console: Console, blocks: Iterable[_Block], *, full: bool) -> None:
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.rule import Rule
    from rich.text import Text

    for block in blocks:
        # `Text` is never read as markup.
        lines = [Text(line.text, line.style) for line in block.lines]
        title = Text(visible(block.title), f"bold {block.style}")
        if block.framed:
            console.print(Panel(Text("\n").join(lines), title=title, border_style=block.style))
            continue
        console.print(Rule(title, style="blue") if block.style == "blue" else title)
        for line, text in zip(block.lines, lines, strict=True):
            text.no_wrap = line.table and not full
            text.overflow = "fold" if full else "ellipsis"
            console.print(Padding(text, (0, 0, 0, 2)))
        console.print()


class _Blocks:
    """Passages as blocks of lines."""

    def __init__(self, passages: Sequence[Passage], *, full: bool) -> None:
        self._passages, self._full = passages, full
        self._several_roles = len({passage.role for passage in passages} - {""}) > 1

    def __iter__(self) -> Iterator[_Block]:
        for passage in self._passages:
            if self._full or not passage.detail:
                style = _STYLES.get(passage.kind, _TONES[passage.tone])
                framed = passage.kind in {"verdict", "unjudged"}
                yield _Block(self._title(passage), style, self._lines(passage), framed)

    def _title(self, passage: Passage) -> str:
        role = f" ({self._short(passage.role)})" if self._several_roles and passage.role else ""
        title = self._short(passage.title)
        if passage.step is not None:
            return f"Step {passage.step}{role}: {title}"
        return title if passage.kind == "heading" else f"{title[:1].upper()}{title[1:]}{role}"

    def _lines(self, passage: Passage) -> list[_Line]:
        lines: list[_Line] = []
        bad = "red" if passage.kind == "called" and passage.tone == "bad" else ""
        if passage.kind == "called":
            lines += self._split(lay_out(passage.statement.strip()) or "(empty)")
        if passage.translated:
            lines.append(_Line("as it ran:", "dim"))
            lines += self._split(lay_out(passage.translated.strip()))
        if passage.status:
            lines.append(_Line(f"-> {self._short(passage.status)}", bad or "dim"))
        if passage.columns:
            lines += self._table(passage)
        elif passage.text or not (lines or passage.items):
            lines += self._split(passage.text, style=bad, prompt=passage.kind == "prompt")
        lines = self._few([*self._items(passage), *lines]) if passage.items else lines
        return lines + [_Line(self._short(note), "dim") for note in passage.notes]

    def _items(self, passage: Passage) -> Iterator[_Line]:
        """Yield the steps of a plan, numbered; a later plan marks new and dropped ones."""
        revised = passage.title != "plan"
        number = 0
        for change, text in passage.items:
            number += change != "gone"
            mark = f"{_MARKS[change]} " if revised else ""
            place = f"{number}." if change != "gone" else "  "
            yield _Line(f"{mark}{place} {self._short(text)}", _ITEM_STYLES[change])

    def _table(self, passage: Passage) -> list[_Line]:
        from rich.cells import cell_len

        shown = passage.rows if self._full else passage.rows[:_ROWS]
        cells = [[self._cell(cell) for cell in row] for row in (passage.columns, *shown)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        lines: list[_Line] = []
        for row in cells:
            padded = (c + " " * (w - cell_len(c)) for c, w in zip(row, widths, strict=True))
            style = "" if lines else "bold"
            lines.append(_Line("  ".join(padded).rstrip(), style, table=True))
        if hidden := len(passage.rows) - len(shown):
            lines.append(_Line(f"... {counted(hidden, 'more row')}, --full shows all", "dim"))
        return lines

    def _cell(self, cell: object) -> str:
        if isinstance(cell, str):
            text = visible(cell.replace("\n", "\\n"))
        elif isinstance(cell, float) and not self._full:
            text = f"{cell:.6g}"
        else:
            text = visible(json.dumps(cell, ensure_ascii=False))
        return text if self._full or len(text) <= _CELL else f"{text[: _CELL - 3]}..."

    def _split(self, text: str, style: str = "", *, prompt: bool = False) -> list[_Line]:
        lines = text.replace("\r\n", "\n").strip("\n").split("\n")
        most = _PROMPT_LINES if prompt else _LINES
        return self._few([_Line(self._short(line), style) for line in lines], most)

    def _few(self, lines: list[_Line], most: int = _LINES) -> list[_Line]:
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
