"""Passages as text for a terminal or a pipe.

Invisible characters are escaped, markup is not interpreted, and long texts are shortened unless
the caller asks for the full text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from dqa.core.text import counted, visible
from dqa.report.reading import Passage

_LINES, _PROMPT_LINES, _ROWS = 30, 6, 10
_LINE, _CELL = 1_000, 40
_OPTION = "--full (pytest: -vv)"
_CHANGES = {"kept": (" ", ""), "new": ("+", "green"), "gone": ("-", "red")}
_COLOURS = {
    "heading": "blue",
    "plan": "magenta",
    "called": "cyan",
    **dict.fromkeys(("reasoning", "thought", "reply"), "yellow"),
}
_TONES = {"": "", "good": "green", "bad": "red", "warning": "yellow"}


def passages_to_text(passages: Sequence[Passage], *, full: bool = False) -> Text:
    """Return a decision as text, in colour for a terminal.

    Parameters
    ----------
    passages
        The result of `dqa.report.reading.read`.
    full
        Whether to show complete texts, and the part of the prompt that precedes the task.
    """
    writer = _Writer(full)
    shown = (passage for passage in passages if full or not passage.detail)
    return Text("\n\n").join(map(writer.block, shown))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Converts passages into text. `full` is the parameter of `passages_to_text`."""

    full: bool

    def block(self, passage: Passage) -> Text:
        """Return a passage with its title."""
        title = self._short(passage.title)
        if passage.step is not None:
            title = f"Step {passage.step}: {title}"
        elif passage.kind != "heading":
            title = f"{title[:1].upper()}{title[1:]}"
        block = Text()
        block.append(title, f"bold {_COLOURS.get(passage.kind, _TONES[passage.tone])}".strip())
        for line in self._lines(passage):
            line.rstrip()
            block.append("\n  " if line else "\n").append_text(line)
        return block

    def _lines(self, passage: Passage) -> list[Text]:
        bad = "red" if passage.kind == "called" and passage.tone == "bad" else ""
        lines = self._few([*self._steps(passage)], _LINES)
        if passage.kind == "called":
            lines += self._split(passage.statement.strip() or "(empty)")
        if passage.translated:
            lines.append(Text("statement that ran:", "dim"))
            lines += self._split(passage.translated.strip())
        if passage.status:
            lines.append(Text(f"-> {self._short(passage.status)}", bad or "dim"))
        if passage.columns:
            lines += self._table(passage)
        elif passage.text or not lines:
            most = _PROMPT_LINES if passage.kind == "prompt" else _LINES
            lines += self._split(passage.text, bad, most)
        return [*lines, *(Text(self._short(note), "dim") for note in passage.notes)]

    def _steps(self, passage: Passage) -> Iterator[Text]:
        """Yield the numbered steps of a plan. In later plans, new and removed steps are marked."""
        number = 0
        for change, text in passage.items:
            mark, colour = _CHANGES[change]
            number += change != "gone"
            before = "" if passage.title == "plan" else f"{mark} "
            before += "  " if change == "gone" else f"{number}."
            yield Text(f"{before} {self._short(text)}", colour)

    def _table(self, passage: Passage) -> Iterator[Text]:
        rows = passage.rows if self.full else passage.rows[:_ROWS]
        cells = [[self._cell(cell) for cell in row] for row in (passage.columns, *rows)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        yield from (Text("  ".join(map(set_cell_size, row, widths))) for row in cells)
        if hidden := len(passage.rows) - len(rows):
            yield Text(f"... {counted(hidden, 'more row')}, {_OPTION} shows all", "dim")

    def _cell(self, cell: object) -> str:
        text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
        text = visible(text.replace("\n", "\\n"))
        return text if self.full or len(text) <= _CELL else f"{text[: _CELL - 3]}..."

    def _split(self, text: str, style: str = "", most: int = _LINES) -> list[Text]:
        lines = text.replace("\r\n", "\n").strip("\n").split("\n")
        return self._few([Text(self._short(line), style) for line in lines], most)

    def _few(self, lines: list[Text], most: int) -> list[Text]:
        hidden = len(lines) - most
        # If only one line is hidden, show it instead of the line "1 more line".
        if self.full or hidden <= 1:
            return lines
        return [*lines[:most], Text(f"... {hidden} more lines, {_OPTION} shows all", "dim")]

    def _short(self, line: str) -> str:
        hidden = len(line) - _LINE
        if self.full or hidden <= 0:
            return visible(line)
        more = counted(hidden, "more character")
        return f"{visible(line[:_LINE])} ... ({more}, {_OPTION} shows all)"
