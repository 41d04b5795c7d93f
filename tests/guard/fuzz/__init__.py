"""Mutated statements: the guard judges them, and real databases run those that it allows."""

from __future__ import annotations

import tempfile
from contextlib import chdir
from time import process_time

from dqa.guard import Policy, check
from tests.guard.fuzz.mutate import Mutator
from tests.guard.fuzz.worlds import WORLDS, World

_LONG = 0.5
"""Seconds of the processor that no verdict takes."""
_SCOPED = Policy(tables=frozenset({"t", "u"}), denied_columns=frozenset({"t.secret", "ssn"}))


def fuzz(dialect: str, seed: int, count: int) -> tuple[int, list[str]]:
    """Check mutants, and run the allowed ones if an embedded engine exists.

    Returns
    -------
    tuple[int, list[str]]
        The number of allowed mutants, and the problems.
    """
    mutator, problems = Mutator(dialect, seed), list[str]()
    statements = [mutator.statement() for _ in range(count)]
    allowed = [one for one in statements if _is_allowed(one, dialect, problems)]
    if dialect in WORLDS:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            world = WORLDS[dialect]()
            before = world.content()
            problems += _run(world, allowed)
            if world.content() != before:
                problems.append(f"one of these changed the content: {allowed!r}")
    return len(allowed), problems


def _is_allowed(statement: str, dialect: str, problems: list[str]) -> bool:
    started = process_time()
    verdict = check(statement, dialect)
    if process_time() - started > _LONG:
        problems.append(f"slow: {statement!r}")
    if check(statement, dialect, _SCOPED).allowed and not verdict.allowed:
        problems.append(f"a policy allows more: {statement!r}")
    return verdict.allowed


def _run(world: World, statements: list[str]) -> list[str]:
    found = [(statement, world.run(statement)) for statement in statements]
    return [f"{effect}: {statement!r}" for statement, effect in found if effect is not None]
