"""Generated SQL statements that try to read hidden data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from tests.guard.case_files import read_cases

CASES = read_cases("hiding")
"""A grammar with a part for each dialect: forms by name. ``{name}`` is any form of a name,
``{name:k}`` one over the table alias ``k``, and ``{alias}`` the alias."""
SHADOWS: list[str] = CASES["shadows"]
"""WITH parts named like a table, which databases resolve in different ways."""
_NAMED = re.compile(r"\{(\w+)(?::(\w+))?\}")


class SqlAttacks:
    """Generates statements of one dialect, determined by the seed."""

    def __init__(self, dialect: str, seed: int) -> None:
        common, own = CASES["grammar"], CASES[dialect]
        names = {*common, *own}
        self._forms = {name: [*common.get(name, ()), *own.get(name, ())] for name in names}
        self._rng = Random(seed)  # noqa: S311  (no secret)

    def statements(self, count: int) -> Iterator[str]:
        """Yield this number of different statements."""
        seen: set[str] = set()
        while len(seen) < count:
            statement = self._expand("statement", "c")
            if statement not in seen:
                seen.add(statement)
                yield statement

    def _expand(self, name: str, alias: str) -> str:
        if name == "alias":
            return alias
        form = self._rng.choice(self._forms[name])
        return _NAMED.sub(lambda match: self._expand(match[1], match[2] or alias), form)
