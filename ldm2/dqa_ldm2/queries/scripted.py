"""A scripted, imperfect analyst: what to ask a database next, by what is remembered.

It knows the plausible statements that a scenario's folder has as heuristics, most of which are
often wrong, and takes one of them by chance where nothing is remembered. Where something is, it
asks what most of the remembered steps asked, with the names of its own question for those of
theirs, and decides for the cell that stands where the remembered decision stood. Where it explores,
it also tries the same statements of fewer rows (`dqa_ldm2.queries.restricting`). It works nothing
out and knows no rules: it shows what a memory adds, not what a language model would.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, product
from typing import Any, Final

from dqa.core.database import Kind
from dqa.core.errors import UsageError
from dqa.core.situation import Cell
from dqa.scenarios.base import Scenario
from dqa.scenarios.recognising import asked_scenario
from dqa.scenarios.statements import cypher_literal, filled, sql_literal
from dqa_ldm2.queries.actions import (
    DECIDE_FORM,
    QUERY_FORM,
    answer_of,
    decide_action,
    language_of,
    query_action,
    statement_of,
)
from dqa_ldm2.queries.restricting import restrict, restrictions_of
from dqa_ldm2.scripted.reading import Asked, Example

_TRUST: Final = 0.75
"""What of its confidence goes to what is remembered; the rest to what is only plausible."""
_EVEN: Final = 0.5
"""The same where it explores."""
_DECIDED: Final = 0.95
"""How confident it is that rows which it asked for decide."""
_FEWER: Final = 2
"""How many statements of fewer rows it explores."""
_QUOTED: Final = re.compile(r'"([^"\n]+)"')


def asks_for_statements(asked: Asked) -> bool:
    """Whether a prompt asks what to do next on the way to a question's decision."""
    return asked.task in {"act", "explore"} and DECIDE_FORM in asked.form


def propose(asked: Asked, script: str, seed: int) -> dict[str, Any]:
    """Return the object that a script replies.

    Parameters
    ----------
    asked
        The prompt.
    script
        ``random`` forgets what it is shown, ``greedy`` imitates the first example alone; others
        imitate most of them.
    seed
        Of what is drawn.
    """
    worth = _worth(asked, script, seed)
    ranked = sorted(worth, key=lambda one: -worth[one])
    if asked.task == "explore":
        kept = ranked[: asked.most]
        total = sum(worth[one] for one in kept)
        said = [{"action": one, "confidence": round(worth[one] / total, 4)} for one in kept]
        return {"actions": said}
    told = "It is what was done before." if asked.remembered else "It is plausible."
    return {"reasoning": told, "action": ranked[0]}


def _worth(asked: Asked, script: str, seed: int) -> dict[str, float]:
    """Return what may be done, each with how confident the script is of it."""
    remembered = asked.remembered if script != "random" else ()
    remembered = remembered[:1] if script == "greedy" else remembered
    rows = _rows(asked.observation)
    if QUERY_FORM not in asked.form:
        return {_decision(asked, rows, remembered): 1.0}
    statements = _statements(asked, remembered, seed)
    if not rows:
        return statements or {decide_action("none"): 1.0}
    go_on = 1.0 - _DECIDED
    if remembered:
        asked_on = sum(_asks_on(one, asked) for one in remembered)
        go_on = max(go_on, _DECIDED * asked_on / len(remembered))
    worth = {one: go_on * value for one, value in statements.items()}
    worth[_decision(asked, rows, remembered)] = 1.0 - go_on
    return worth


def _asks_on(one: Example, asked: Asked) -> bool:
    """Whether a remembered step asked on where as much was asked as here; others are behind."""
    statement = statement_of(one.steps[-1].action)
    before = one.history.count(query_action("")[:-1])
    return statement is not None and before >= len(asked.steps)


def _statements(asked: Asked, remembered: Sequence[Example], seed: int) -> dict[str, float]:
    """Return what may be asked: what was asked before, and what is plausible."""
    done = {step.action for step in asked.steps}
    adapted = Counter(
        query_action(_adapted(statement, one.goal, asked.goal))
        for one in remembered
        if (statement := statement_of(one.steps[-1].action)) is not None
    )
    known = {one: count for one, count in adapted.most_common() if one not in done}
    plausible = [one for one in _plausible(asked, seed) if one not in done]
    if asked.task == "explore":
        known, plausible = _tried(asked, known, plausible, seed)
    trust = (_EVEN if asked.task == "explore" else _TRUST) if known else 0.0
    total = sum(known.values())
    worth = {one: trust * count / total for one, count in known.items()}
    for place, one in enumerate(plausible):
        worth[one] = worth.get(one, 0.0) + (1.0 - trust) * 0.5 ** (place + 1)
    if not worth and not asked.steps:
        raise UsageError(
            "A scripted model asks only what a scenario's heuristics, or a memory, have: name a "
            "language model (--model), or a memory of such questions (--set ldm2.memory=FILE)."
        )
    return worth


def _plausible(asked: Asked, seed: int) -> list[str]:
    """Return the statements of the scenario's heuristics, in an order that the question draws."""
    try:
        scenario, target = asked_scenario(asked.goal)
    except UsageError:
        return []
    kind = _kind(asked)
    drawn = sorted(
        (h for h in scenario.heuristics if kind in h.statements),
        key=lambda one: _draw(seed, one.name, asked.goal),
    )
    return [query_action(_filled(scenario, target, kind, h.statements[kind])) for h in drawn]


def _tried(
    asked: Asked, known: dict[str, int], plausible: list[str], seed: int
) -> tuple[dict[str, int], list[str]]:
    """Return what is explored: what is usual, the same of fewer rows, and others by chance."""
    usual = list(known)[:1] or plausible[:1]
    others = sorted({*known, *plausible} - set(usual), key=lambda one: _draw(seed, asked.goal, one))
    fewer = [*islice(dict.fromkeys(_restricted(asked, usual, seed)), _FEWER)]
    chosen = [*fewer, *(one for one in others if one not in fewer)]
    return ({usual[0]: 1} if known else {}), [*([] if known else usual), *chosen]


def _restricted(asked: Asked, actions: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the same statements of fewer rows, in an order that the question draws."""
    try:
        scenario, target = asked_scenario(asked.goal)
    except UsageError:
        return
    if _kind(asked) != "relational":
        return
    pairs = product(actions, restrictions_of(scenario, target))
    for action, rows in sorted(pairs, key=lambda pair: _draw(seed, asked.goal, *pair)):
        changed = restrict(statement_of(action) or "", rows)
        if changed is not None:
            yield query_action(changed)


def _draw(seed: int, *words: str) -> bytes:
    return sha256("\n".join([str(seed), *words]).encode()).digest()


def _filled(scenario: Scenario, target: Mapping[str, str], kind: Kind, template: Any) -> str:  # noqa: ANN401  (a template of the scenario's)
    text = filled(template, kind, scenario.values(target))
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("--", "//")))
    return "\n".join(lines).strip().rstrip(";")


def _kind(asked: Asked) -> Kind:
    return "graph" if asked.observation.startswith(language_of("graph")) else "relational"


def _adapted(statement: str, there: str, here: str) -> str:
    """Return a statement with the names of this goal for those of the one it was asked for."""
    renamed = {a: b for a, b in zip(_names(there), _names(here), strict=False) if a != b}
    literals = {
        literal(old): literal(new)
        for old, new in renamed.items()
        for literal in (sql_literal, cypher_literal)
    }
    if not literals:
        return statement
    longest = sorted(literals, key=lambda one: -len(one))
    found = re.compile("|".join(map(re.escape, longest)))
    return found.sub(lambda one: literals[one.group()], statement)


def _names(goal: str) -> list[str]:
    """Return what a goal is about: the parts of its target, or what it has in quotes."""
    try:
        return list(asked_scenario(goal)[1].values())
    except UsageError:
        return list(dict.fromkeys(_QUOTED.findall(goal)))


def _rows(observation: str) -> list[list[Cell]]:
    """Return the rows of what is seen; none of an error."""
    found: list[list[Cell]] = []
    for line in observation.splitlines()[2:]:
        if not line.startswith("["):
            break
        try:
            found.append(json.loads(line))
        except ValueError:
            break  # the text was cut here
    return found


def _decision(asked: Asked, rows: Sequence[Sequence[Cell]], remembered: Sequence[Example]) -> str:
    """Return the decision for the cell that stands where remembered decisions stood."""
    places: Counter[tuple[int, int]] = Counter()
    for one in remembered:
        answer = answer_of(one.steps[-1].action)
        if answer is not None:
            places.update(_place(answer, _rows(one.steps[-1].observation)))
    for (row, column), _ in places.most_common():
        if row < len(rows) and column < len(rows[row]):
            return decide_action(rows[row][column])
    if rows and rows[0]:
        return decide_action(rows[0][0])
    seen = [row for step in reversed(asked.steps) for row in _rows(step.observation)]
    return decide_action(seen[0][0] if seen and seen[0] else "none")


def _place(answer: str, rows: Sequence[Sequence[Cell]]) -> list[tuple[int, int]]:
    """Return where a decision stands in rows that were seen; empty for nowhere."""
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if str(cell) == answer:
                return [(number, column)]
    return []
