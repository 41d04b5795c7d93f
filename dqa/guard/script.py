"""The statements of a script, as the lexers find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """Where a statement of a script stands.

    Attributes
    ----------
    start, end
        From its first word to behind its last.
    problem
        Why it cannot be told where it ends, and then nothing follows; empty where it can be told.
    place
        Where that is.
    """

    start: int
    end: int
    problem: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class ScriptStatement:
    """A statement of a script.

    Attributes
    ----------
    text
        What is written, without the semicolon behind it.
    line
        The line that its first word is in, from 1.
    problem
        Why it cannot be told where it ends, with the line; None where it can be told.
    """

    text: str
    line: int
    problem: str | None = None


def with_lines(script: str, spans: Iterable[Span]) -> Iterator[ScriptStatement]:
    """Yield what stands at each of the spans, which are in order."""
    line, before = 1, 0
    for start, end, problem, place in spans:
        line += script.count("\n", before, start)
        before = start
        at = line + script.count("\n", start, place)
        told = f"line {at}: {problem}" if problem else None
        yield ScriptStatement(script[start:end].rstrip(), line, told)
