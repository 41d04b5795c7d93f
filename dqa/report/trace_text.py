"""The passages of a run as text: blocks of lines under titles, for a terminal or a pipe.

What others wrote is shown with its control characters spelt out, is never read as markup, and is
shortened unless everything is asked for. In a pipe the text depends on the passages only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from dqa.core.evidence import COMPARE, QUERY, SIMULATE
from dqa.core.text import counted, visible, visible_lines
from dqa.report.passages import (
    Called,
    Crash,
    FinalAnswer,
    Heading,
    Judgement,
    ModelFault,
    Noted,
    Other,
    Passage,
    Plan,
    Prompt,
    RefusedReply,
    Section,
    Spent,
    Thought,
    Unjudged,
    WholeReply,
)
from dqa.report.statements import lay_out
from dqa.report.tables import model_line
from dqa.report.trace_verdict import verdict_lines

if TYPE_CHECKING:
    from rich.console import Console

_LINES, _TASK_LINES, _ROWS = 30, 6, 10
_LINE, _CELL = 1_000, 40
_MARKS = {"kept": " ", "new": "+", "gone": "-"}
_STYLES = {"new": "green", "gone": "red", "kept": ""}
_TITLES = {QUERY: "statement", SIMULATE: "simulation", COMPARE: "comparison"}


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
    """Print a run: in colour on a terminal, as plain text elsewhere.

    Parameters
    ----------
    passages
        Made by `dqa.report.reading.read`.
    full
        Whether to shorten nothing, and to show what a model was told before its task.
    """
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal:
        _paint(console, _Showing(passages, full=full).blocks(passages), full=full)
    else:
        typer.echo(visible_lines(passages_to_text(passages, full=full)))


def passages_to_text(passages: Sequence[Passage], *, full: bool = False) -> str:
    """Return a run as plain text; see `echo_passages`."""
    blocks = _Showing(passages, full=full).blocks(passages)
    return "\n\n".join(
        "\n".join([block.title, *(f"  {line.text}".rstrip() for line in block.lines)])
        for block in blocks
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
            text.no_wrap, text.overflow = (
                line.table and not full,
                "ellipsis" if not full else "fold",
            )
            console.print(Padding(text, (0, 0, 0, 2)))
        console.print()


class _Showing:
    """Turns passages into blocks."""

    def __init__(self, passages: Sequence[Passage], *, full: bool) -> None:
        self._full = full
        roles = {p.role for p in passages if isinstance(p, Plan | Prompt | WholeReply | Thought)}
        self._two_models = len(roles - {""}) > 1

    def blocks(self, passages: Iterable[Passage]) -> Iterator[_Block]:
        for passage in passages:
            show: Callable[[Any], Iterable[_Block]] = getattr(self, f"_{passage.kind}")
            yield from show(passage)

    def _heading(self, heading: Heading) -> Iterator[_Block]:
        repeat = () if heading.epoch is None else (f"epoch {heading.epoch}",)
        parts = (heading.question, heading.database, heading.decider, *repeat)
        title = self._short(" | ".join(parts))
        yield _Block(title, "blue", [_Line(self._short(model_line(heading.model)))])

    def _prompt(self, prompt: Prompt) -> Iterator[_Block]:
        whose = f" ({self._short(prompt.role)})" if self._two_models else ""
        if self._full:
            for section in prompt.before:
                yield self._section(section, f"Prompt, {self._short(section.title)}{whose}")
        for section in prompt.task:
            yield self._section(section, self._short(section.title or "Task") + whose)

    def _section(self, section: Section, title: str) -> _Block:
        return _Block(title, "", self._lines(section.text, _TASK_LINES))

    def _plan(self, plan: Plan) -> Iterator[_Block]:
        title = self._title(plan.step, plan.role, "plan")
        lines, place = [], 0
        if plan.number > 1:
            title = self._title(plan.step, plan.role, f"plan {plan.number} (+ new, - gone)")
        for step in plan.steps:
            place += step.change != "gone"
            number = f"{place}." if step.change != "gone" else "  "
            mark = f"{_MARKS[step.change]} " if plan.number > 1 else ""
            text = f"{mark}{number} {self._short(step.text)}"
            lines.append(_Line(text, _STYLES[step.change]))
        lines += [_Line(self._short(line), "dim") for line in plan.beside]
        yield _Block(title, "magenta", self._few(lines, _LINES))

    def _thought(self, thought: Thought) -> Iterator[_Block]:
        title = self._title(thought.step, thought.role, "thought")
        yield _Block(title, "yellow", self._lines(thought.text))

    def _reply(self, reply: WholeReply) -> Iterator[_Block]:
        title = self._title(reply.step, reply.role, "reply")
        yield _Block(title, "yellow", self._lines(reply.text or "(empty)"))

    def _called(self, called: Called) -> Iterator[_Block]:
        named = _TITLES.get(called.tool, called.tool)
        lines = self._lines(lay_out(called.asked.strip()) or "(empty)")
        if called.translated is not None:
            ran = lay_out(called.translated.strip())
            lines += [_Line("as it ran:", "dim"), *self._lines(ran)]
        if not called.done:
            lines.append(_Line("-> nothing came back: the run ended here", "red"))
        elif called.error is not None:
            lines.append(_Line(f"-> {self._short(called.error)}", "red"))
            lines += self._lines(called.text, style="red")
        else:
            lines.append(_Line(f"-> {counted(called.row_count, 'row')}{self._cut(called)}", "dim"))
            lines += self._table(called) if called.columns else self._lines(called.text)
        yield _Block(self._title(called.step, "", self._short(named)), "cyan", lines)

    def _table(self, called: Called) -> list[_Line]:
        from rich.cells import cell_len

        shown = called.rows if self._full else called.rows[:_ROWS]
        cells = [[self._cell(cell) for cell in row] for row in (called.columns, *shown)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = (c + " " * (w - cell_len(c)) for c, w in zip(row, widths, strict=True))
            lines.append(_Line("  ".join(padded).rstrip(), table=True))
        lines[0] = _Line(lines[0].text, "bold", table=True)
        if hidden := len(called.rows) - len(shown):
            lines.append(_Line(f"... {counted(hidden, 'more row')}, --full shows all", "dim"))
        # The note on how many there are has been said.
        notes = [note for note in called.notes if called.tool != QUERY and note][1:]
        return lines + [_Line(self._short(note), "dim") for note in notes]

    def _cut(self, called: Called) -> str:
        return "" if called.cut is None else f", cut by the limit on {self._short(called.cut)}"

    def _cell(self, cell: object) -> str:
        if isinstance(cell, str):
            text = visible(cell.replace("\n", "\\n"))
        elif isinstance(cell, float) and not self._full:
            text = f"{cell:.6g}"
        else:
            text = visible(json.dumps(cell, ensure_ascii=False))
        return text if self._full or len(text) <= _CELL else f"{text[: _CELL - 3]}..."

    def _fault(self, fault: ModelFault) -> Iterator[_Block]:
        title = f"Step {fault.step}: fault of the model's provider"
        if fault.fault == "after_stop":
            after, colour = "mended and used", "yellow"
        elif fault.fault == "unsupported":
            after, colour = "asked again without it", "yellow"
        elif fault.wait is None:
            after, colour = "asked no more", "red"
        else:
            after, colour = f"asked again after {fault.wait:.3g} s", "red"
        said = f"attempt {fault.attempt}: {fault.fault} ({fault.error}), {after}"
        yield _Block(title, colour, [_Line(self._short(said)), *self._lines(fault.message)])

    def _failure(self, failure: RefusedReply) -> Iterator[_Block]:
        title = self._title(failure.step, failure.role, "this reply could not be used")
        yield _Block(title, "red", self._lines(failure.problem))

    def _crash(self, crash: Crash) -> Iterator[_Block]:
        lines = crash.traceback or crash.problem
        yield _Block(self._title(None, "", "a bug ended the run"), "red", self._lines(lines))

    def _noted(self, noted: Noted) -> Iterator[_Block]:
        lines = [_Line(self._short(line)) for line in noted.lines]
        yield _Block(self._title(noted.step, "", noted.title), "", self._few(lines, _LINES))

    def _other(self, other: Other) -> Iterator[_Block]:
        text = json.dumps(other.data, ensure_ascii=False, default=str)
        title = self._title(other.step, "", self._short(other.event))
        yield _Block(title, "", self._lines(text))

    def _answer(self, answer: FinalAnswer) -> Iterator[_Block]:
        lines = self._lines(answer.text)
        if answer.choice is not None or answer.compared:
            named = "no candidate" if answer.choice is None else self._short(str(answer.choice))
            lines = [*lines, _Line(f"-> matched to {named}", "dim")]
        yield _Block("Answer", "bright_white", lines)

    def _spent(self, spent: Spent) -> Iterator[_Block]:
        counts = [
            counted(spent.steps, "reply", "replies"),
            counted(spent.called, "call of a tool", "calls of tools"),
            counted(spent.plans, "plan"),
            f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out",
            f"{spent.seconds:.3g} s",
        ]
        yield _Block("Spent", "", [_Line(", ".join(counts))])

    def _judgement(self, judgement: Judgement) -> Iterator[_Block]:
        style = "green" if judgement.outcome == "correct" else "red"
        lines = [_Line(self._short(line)) for line in verdict_lines(judgement)]
        yield _Block("Verdict", style, lines, framed=True)

    def _unjudged(self, unjudged: Unjudged) -> Iterator[_Block]:
        lines = [_Line(self._short(line)) for line in verdict_lines(unjudged)]
        yield _Block("Not judged", "yellow", lines, framed=True)

    def _title(self, step: int | None, role: str, what: str) -> str:
        whose = f" ({self._short(role)})" if self._two_models and role else ""
        return what.capitalize() if step is None else f"Step {step}{whose}: {what}"

    def _lines(self, text: str, most: int = _LINES, style: str = "") -> list[_Line]:
        lines = text.replace("\r\n", "\n").strip("\n").split("\n")
        return self._few([_Line(self._short(line), style) for line in lines], most)

    def _few(self, lines: list[_Line], most: int) -> list[_Line]:
        hidden = len(lines) - most
        # One line more is no longer than the line that says so.
        if self._full or hidden <= 1:
            return lines
        return [*lines[:most], _Line(f"... {hidden} more lines, --full shows all", "dim")]

    def _short(self, line: str) -> str:
        hidden = len(line) - _LINE
        if self._full or hidden <= 0:
            return visible(line)
        return (
            f"{visible(line[:_LINE])} ... ({counted(hidden, 'more character')}, --full shows all)"
        )
