"""Calls of the functions that the guard allows, with unusual arguments."""

from __future__ import annotations

from contextlib import closing

from dqa import guard
from tests.hostile.corpus import read_statements
from tests.hostile.fuzz.calls import CallMaker
from tests.hostile.measuring import Measurer

_SECONDS = 1.0


def fuzz(engine: str, seed: int, count: int, url: str | None = None) -> tuple[int, list[str]]:
    """Run the allowed statements of a seed, after those of earlier findings.

    Returns
    -------
    tuple[int, list[str]]
        The number of allowed statements, and the promises that they break.
    """
    maker = CallMaker(engine, seed)
    statements = [found.text for found in read_statements(engine, ["found"])][:count]
    statements += [maker.statement() for _ in range(count - len(statements))]
    allowed = [one for one in statements if guard.check(one, engine).allowed]
    with closing(Measurer(engine, _SECONDS, url)) as process:
        problems = [
            f"{problem} <- {statement}"
            for statement in allowed
            for problem in process.measure(statement).problems(_SECONDS)
        ]
    return len(allowed), problems
