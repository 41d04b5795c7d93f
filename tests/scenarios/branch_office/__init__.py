"""Another package: the documented scenario, with its own generator."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.resources import files

from dqa import Question, Situation, Truth
from dqa.core.situation import Table
from dqa.core.truth import LabelledQuestion
from dqa.scenarios import Scenario
from dqa.scenarios.generation import Drawn, Request

BRANCHES = files(__name__) / "branches"


class Firms:
    """Draws firms of four branches, and asks each which one to close."""

    size = None
    takes_difficulty = False

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield a firm a question."""
        (schema,) = scenario.schema.tables
        for number in range(request.count):
            draw = random.Random(f"{request.seed}/{number}")  # noqa: S311
            rows = [
                (name, float(draw.randint(50, 99)), 20.0, float(draw.randint(20, 60)))
                for name in ("Leeds", "York", "Hull", "Bath")
            ]
            firm = Situation(
                scenario.schema, f"firm-{number}", {"branch": Table.from_rows(schema, rows)}
            )
            target = {"kept": "Leeds"}
            asked: Question = scenario.question_with(
                firm.name, str(number), target, scenario.candidates(firm, target)
            )
            best = min(rows[1:], key=lambda row: row[1] - row[2] - row[3])
            yield Drawn(firm, [LabelledQuestion(asked, Truth((best[0],)))])

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return nothing: there is one way to count."""
        del situation
        return ()


FIRMS = Firms()
