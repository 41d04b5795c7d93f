"""No decider can see an answer or an outcome: one that looks everywhere finds none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest

import dqa
from dqa.core.decider import Decider, UpperBound
from dqa.core.simulator import Outcomes
from dqa.core.truth import LabelledQuestion, Truth
from dqa.deciders.base import Settings
from dqa.evaluation.games import GameSetup
from dqa.evaluation.prepare import PreparedRun

FORBIDDEN = (Truth, LabelledQuestion, Outcomes)
MOST = 400_000
"""Objects that are looked at for one decision, at most; a run of these holds far fewer."""

_PASSED_BY = (ModuleType, FrameType, type, str, bytes, int, float, bool, type(None))


def reachable(*roots: object) -> Iterator[object]:
    """Yield everything that can be reached from some objects: attributes, items, closures, cells.

    Modules, classes and frames are passed by: through the interpreter's own tables everything
    reaches everything, whatever it was handed.
    """
    seen: dict[int, object] = {}
    todo = list(roots)
    while todo and len(seen) < MOST:
        found = todo.pop()
        if id(found) in seen or isinstance(found, _PASSED_BY):
            continue
        seen[id(found)] = found
        yield found
        if isinstance(found, FunctionType):
            # Its own closure and defaults, not its module.
            closure = [cell.cell_contents for cell in found.__closure__ or () if _is_filled(cell)]
            todo += [*closure, *(found.__defaults__ or ()), *(found.__kwdefaults__ or {}).values()]
            continue
        todo += gc.get_referents(found)
    assert len(seen) < MOST


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


class Spy(Decider):
    """Looks through all that it was given, and remembers what it should not have found."""

    name = "spy"

    def __init__(self, *given: object) -> None:
        self._given = given
        self.found: list[object] = []
        self.looked_at = 0

    def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
        for thing in reachable(question, database, self._given):
            self.looked_at += 1
            if isinstance(thing, FORBIDDEN):
                self.found.append(thing)
        return dqa.Decision(dqa.Ending.ANSWERED, "none")

    def check(self, question: dqa.Question) -> None:
        self.found += [thing for thing in reachable(question) if isinstance(thing, FORBIDDEN)]


SPIES: list[Spy] = []


def _spying(model: object, settings: Settings) -> Spy:
    SPIES.append(Spy(model, settings))
    return SPIES[-1]


@pytest.mark.parametrize(
    ("scenario", "database"),
    [("locating", "sqlite"), ("building", "ladybug"), ("agriculture", "duckdb")],
)
def test_a_decider_reaches_no_truth(scenario: str, database: str) -> None:
    """Not from its question, its database, its model or its settings, on any kind of database."""
    SPIES.clear()
    questions = dqa.generate((scenario,), 2)
    assert any(questions.truth_of(question).answers for question in questions.questions)
    factory = dqa.DeciderFactory("spy", "looks everywhere", _spying)
    dqa.evaluate(questions, [factory], databases=[database])
    (spy,) = SPIES
    assert spy.looked_at > 20
    assert spy.found == []


def test_the_spy_finds_a_truth_that_is_there() -> None:
    """However deep it lies; else finding none would say nothing."""
    truth = Truth(("a",))

    def closure() -> Truth:
        return truth

    for hidden in ({"x": [truth]}, closure, Spy((truth,))):
        assert any(isinstance(thing, Truth) for thing in reachable(hidden))


def test_only_a_bound_is_told_what_is_right() -> None:
    """And it says by its class that it is one."""
    told: list[bool] = []

    class Mine(dqa.Watcher):
        def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
            del done
            for decider in setup.deciders[0].values():
                truths = [t for t in reachable(decider) if isinstance(t, Truth)]
                told.append(bool(truths) is isinstance(decider, UpperBound))

    questions = dqa.generate(("agriculture",), 1)
    dqa.evaluate(questions, ["oracle", "first", "random"], databases=["sqlite"], watcher=Mine())
    assert told == [True, True, True]
